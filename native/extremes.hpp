// The smallest and the largest of some values.
#pragma once

#include <cmath>
#include <cstdint>

namespace sureshot {

struct Extremes {
    double smallest;
    double largest;

    bool finite() const { return std::isfinite(smallest) && std::isfinite(largest); }

    // Of at least one value. Both are NaN if a value is.
    static Extremes of(const double* values, std::int64_t count);
};

// Whether no value is infinite or NaN.
bool all_finite(const float* values, std::int64_t count);

}  // namespace sureshot
