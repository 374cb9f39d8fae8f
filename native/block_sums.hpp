// Block sums: the pulls. Rewards and sums are computed in double whatever the element type, so a
// block sum of float32 or integer data is exact but for the rounding of double.
#pragma once

#include "matrix.hpp"
#include "rewards.hpp"

namespace sureshot {

// sums[block][arm], contiguous in arms: the sum of the rewards of each arm over each block.
void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                int threads, double* sums);

// A block sum outside its interval: positions in the given lists of arms and blocks.
struct Offender {
    std::int64_t arm = -1;
    std::int64_t block = -1;
    double sum = 0.0;
};

// totals[arm]: the sum over all given blocks. Each block sum must lie in [low[block], high[block]]
// (one entry per given block); the first that does not, or is NaN, is reported.
Offender checked_totals(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                        Blocks blocks, const double* low, const double* high, int threads,
                        double* totals);

}  // namespace sureshot
