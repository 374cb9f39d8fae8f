// Block sums: the pulls. Rewards and sums are computed in double whatever the element type, so a
// block sum of float32 or integer data is exact but for the rounding of double.
#pragma once

#include "matrix.hpp"
#include "rewards.hpp"

namespace sureshot {

// sums[block][arm], contiguous in arms: the sum of the rewards of each arm over each block.
// squares, unless null, gets the sum of the squared data values in the same shape.
void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                int threads, double* sums, double* squares);

// What checked_totals fills, one entry per arm. high + low is the total in twice the precision of
// double: it does not depend on the order or the grouping of the blocks, so equal rows have equal
// totals. squares may be null.
struct Totals {
    double* high;
    double* low;
    double* largest;  // the largest |sum - centre| / weight over the blocks; NaN where one was NaN
    double* squares;  // the sum of the squared data values
};

// Sums each arm over all the given blocks; centre and weight have one entry per given block.
void totals(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, int threads, Totals out);

// high + low of each column of a table [row][column], in the same precision.
void column_sums(const double* table, std::int64_t rows, std::int64_t columns, double* high,
                 double* low);

}  // namespace sureshot
