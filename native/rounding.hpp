// A query in float32, for a screen, and what it loses by that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix.hpp"

namespace sureshot {

struct RoundedQuery {
    std::vector<float> values;
    double norm;      // of the query, for inner products
    double rounding;  // the norm of what it loses; for l1 the sum of it
    double unit;      // what it was divided by
};

// Nothing if a distance asks for values that float32 does not have, or if a query for inner products is zero: all
// products with it are equal. Such a query is divided by a power of two first, so that its largest value is
// about 1.
std::optional<RoundedQuery> rounded(Metric metric, const double* query, std::int64_t count);

}  // namespace sureshot
