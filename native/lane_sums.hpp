// Sums of rows whose columns come some at a time, as they do from a file.
#pragma once

#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// Adds the rewards of each row of a matrix to its sums, [query][row][lane]: that of column j to the lane j % lanes. The
// sums that all columns of a row have in the end, joined, are the score that row_scores finds. Throws Cancelled, and
// std::bad_alloc before anything is added.
void add_scores(Team& team, const Matrix& matrix, Metric metric, const double* queries, std::int64_t n_queries,
                double* sums);

}  // namespace sureshot
