// A query in float32, for a screen, and what it loses by that.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "matrix.hpp"
#include "team.hpp"

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

// The norm of a query of floats whose largest value is so near to 1 that it need not be divided; else nothing.
std::optional<double> norm_if_usual(const float* query, std::int64_t count);

// Queries for a matrix product: of each its values times a power of two, such that the largest is between 1/2 and
// 1, rounded; that power; the norm of the query times it, and of what rounding has lost.
template <class Value>
struct RoundedTable {
    Value* values;  // [query][coordinate]
    double* units;
    double* norms;
    double* lost;
};

// Returns false, and leaves the table as it is or half done, if the largest value of a query that is not all zeros
// is not between 1 / most and most. Throws Cancelled.
template <class Query, class Value>
bool round_queries(Team& team, const Query* queries, std::int64_t n_queries, std::int64_t width, double most,
                   const RoundedTable<Value>& out);

// The largest absolute value of each query, and its norm, which is off where squares overflow or underflow. Throws
// Cancelled.
template <class Query>
void measure_queries(Team& team, const Query* queries, std::int64_t n_queries, std::int64_t width, double* sizes,
                     double* norms);

}  // namespace sureshot
