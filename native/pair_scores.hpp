// Exact scores of some pairs of a query and a row.
#pragma once

#include <cstdint>

#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// Queries of float or double. Those of query q are of the arms starts[q], ..., starts[q + 1] - 1. Each score is the one
// that row_scores finds, to the last bit. Throws Cancelled.
template <class Query>
void pair_scores(Team& team, const Matrix& matrix, Metric metric, const Query* queries, std::int64_t n_queries,
                 const std::int64_t* starts, const std::int64_t* arms, double* scores);

}  // namespace sureshot
