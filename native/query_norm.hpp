// The norm of a query, by which cosines are divided.
#pragma once

#include <cstdint>

#include "team.hpp"

namespace sureshot {

// No square overflows or underflows: values are divided by the largest of them first. 0 if all are zeros. The same
// bits with every instruction set.
double query_norm(const float* query, std::int64_t count);
double query_norm(const double* query, std::int64_t count);

// Those of several queries. Throws Cancelled.
template <class Query>
void query_norms(Team& team, const Query* queries, std::int64_t n_queries, std::int64_t width, double* norms);

}  // namespace sureshot
