// Scores in double of several queries from one pass over rows.
#pragma once

#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// scores: [query][arm], the same bits as one query at a time; squares, unless null: the squared norms,
// from the same pass. Throws Cancelled.
template <class Query>
void shared_scores(Team& team, const Matrix& matrix, Metric metric, const Query* queries, std::int64_t n_queries, Arms arms,
                   double* scores, double* squares);

}  // namespace sureshot
