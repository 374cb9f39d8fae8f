// Whole rows: exact scores and squared norms, read once, in address order, summed in double.
#pragma once

#include "matrix.hpp"
#include "rewards.hpp"

namespace sureshot {

// scores[arm]: the sum of all rewards of each arm.
void row_scores(const Matrix& matrix, Metric metric, const double* query, Arms arms, int threads,
                double* scores);

}  // namespace sureshot
