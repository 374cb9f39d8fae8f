// Passes over a query, before anything of the data is read.
#pragma once

#include "kernels.hpp"
#include "team.hpp"

namespace sureshot {

// Fills in the sum of each block, and returns that of the absolute values of all terms. Throws Cancelled and
// std::bad_alloc.
double query_sums(Team& team, const QueryTerms& terms, std::int64_t blocks, double* sums);

}  // namespace sureshot
