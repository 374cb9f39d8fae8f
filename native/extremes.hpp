// The smallest and the largest of some values.
#pragma once

#include <cstdint>

namespace sureshot {

struct Extremes {
    double smallest;
    double largest;

    // Of at least one value. Both are NaN if a value is.
    static Extremes of(const double* values, std::int64_t count);
};

// Whether no value is infinite or NaN.
bool all_finite(const float* values, std::int64_t count);
bool all_finite(const double* values, std::int64_t count);

// Whether these values, of float or double, are the same numbers as the others.
template <class Value>
bool all_equal(const Value* values, const double* others, std::int64_t count);

}  // namespace sureshot
