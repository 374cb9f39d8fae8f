#include "block_sums.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "threads.hpp"

namespace sureshot {
namespace {

// Arms that one pass over coordinate-major data handles together: their sums stay in cache.
constexpr std::int64_t arms_per_tile = 1024;

bool coordinate_major(const Matrix& matrix) {
    return std::abs(matrix.row_stride) < std::abs(matrix.column_stride);
}

struct Range {
    std::int64_t begin;
    std::int64_t end;
};

Range coordinates_of(const Matrix& matrix, const Blocks& blocks, std::int64_t position) {
    const std::int64_t begin = blocks.ids[position] * blocks.size;
    return {begin, std::min(begin + blocks.size, matrix.n_columns)};
}

template <class Value>
const Value* row_of(const Matrix& matrix, std::int64_t row) {
    return static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
}

struct BlockSum {
    double rewards = 0.0;
    double squares = 0.0;
};

template <class Value, class Reward, bool with_squares>
BlockSum sum_of_block(const Matrix& matrix, const Value* row, const double* query, Range range) {
    BlockSum sum;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        const double value = static_cast<double>(row[j * matrix.column_stride]);
        sum.rewards += Reward::reward(value, query[j]);
        if constexpr (with_squares) sum.squares += value * value;
    }
    return sum;
}

// One block of the arms [begin, end), column by column.
template <class Value, class Reward, bool with_squares>
void sum_columns(const Matrix& matrix, const double* query, Arms arms, Range range,
                 std::int64_t begin, std::int64_t end, double* sums, double* squares) {
    const bool neighbours = contiguous(matrix, arms.ids + begin, end - begin);
    std::fill(sums, sums + (end - begin), 0.0);
    if constexpr (with_squares) std::fill(squares, squares + (end - begin), 0.0);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        const Value* column = static_cast<const Value*>(matrix.data) + j * matrix.column_stride;
        const double query_value = query[j];
        if (neighbours) {
            const Value* values = column + arms.ids[begin];
            for (std::int64_t at = 0; at < end - begin; ++at) {
                const double value = static_cast<double>(values[at]);
                sums[at] += Reward::reward(value, query_value);
                if constexpr (with_squares) squares[at] += value * value;
            }
            continue;
        }
        for (std::int64_t arm = begin; arm < end; ++arm) {
            const double value = static_cast<double>(column[arms.ids[arm] * matrix.row_stride]);
            sums[arm - begin] += Reward::reward(value, query_value);
            if constexpr (with_squares) squares[arm - begin] += value * value;
        }
    }
}

// Adds one number to an unevaluated sum of two doubles (Knuth's exact addition).
void add_exactly(double& high, double& low, double term) {
    const double sum = high + term;
    const double part = sum - high;
    low += (high - (sum - part)) + (term - part);
    high = sum;
}

// std::max would lose a NaN.
void keep_larger(double& largest, double value) {
    if (!(value <= largest)) largest = value;
}

template <class Value, class Reward, bool with_squares>
void sums_of_arms(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                  std::int64_t begin, std::int64_t end, double* sums, double* squares) {
    if (coordinate_major(matrix)) {
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            const std::int64_t at = b * arms.count + begin;
            sum_columns<Value, Reward, with_squares>(matrix, query, arms,
                                                     coordinates_of(matrix, blocks, b), begin, end,
                                                     sums + at, with_squares ? squares + at : nullptr);
        }
        return;
    }
    for (std::int64_t arm = begin; arm < end; ++arm) {
        const Value* row = row_of<Value>(matrix, arms.ids[arm]);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            const BlockSum sum = sum_of_block<Value, Reward, with_squares>(
                matrix, row, query, coordinates_of(matrix, blocks, b));
            sums[b * arms.count + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * arms.count + arm] = sum.squares;
        }
    }
}

template <class Value, class Reward, bool with_squares>
void totals_by_row(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                   const double* centre, const double* weight, std::int64_t begin,
                   std::int64_t end, Totals out) {
    for (std::int64_t arm = begin; arm < end; ++arm) {
        const Value* row = row_of<Value>(matrix, arms.ids[arm]);
        double high = 0.0, low = 0.0, largest = 0.0, squares = 0.0;
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            const BlockSum sum = sum_of_block<Value, Reward, with_squares>(
                matrix, row, query, coordinates_of(matrix, blocks, b));
            add_exactly(high, low, sum.rewards);
            keep_larger(largest, std::fabs(sum.rewards - centre[b]) / weight[b]);
            squares += sum.squares;
        }
        out.high[arm] = high;
        out.low[arm] = low;
        out.largest[arm] = largest;
        if constexpr (with_squares) out.squares[arm] = squares;
    }
}

template <class Value, class Reward, bool with_squares>
void totals_by_column(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                      const double* centre, const double* weight, std::int64_t begin,
                      std::int64_t end, Totals out) {
    std::vector<double> sums(arms_per_tile);
    std::vector<double> squares(arms_per_tile);
    for (std::int64_t tile = begin; tile < end; tile += arms_per_tile) {
        const std::int64_t tile_end = std::min(tile + arms_per_tile, end);
        std::fill(out.high + tile, out.high + tile_end, 0.0);
        std::fill(out.low + tile, out.low + tile_end, 0.0);
        std::fill(out.largest + tile, out.largest + tile_end, 0.0);
        if constexpr (with_squares) std::fill(out.squares + tile, out.squares + tile_end, 0.0);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            sum_columns<Value, Reward, with_squares>(matrix, query, arms,
                                                     coordinates_of(matrix, blocks, b), tile,
                                                     tile_end, sums.data(), squares.data());
            const double unit = 1.0 / weight[b];
            for (std::int64_t arm = tile; arm < tile_end; ++arm) {
                add_exactly(out.high[arm], out.low[arm], sums[arm - tile]);
                keep_larger(out.largest[arm], std::fabs(sums[arm - tile] - centre[b]) * unit);
                if constexpr (with_squares) out.squares[arm] += squares[arm - tile];
            }
        }
    }
}

// Calls f.template operator()<true or false>() by whether squares are wanted.
template <class F>
void with_or_without(bool squares, F&& f) {
    if (squares) return f.template operator()<true>();
    return f.template operator()<false>();
}

}  // namespace

void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                int threads, double* sums, double* squares) {
    const std::int64_t cost = blocks.count * blocks.size;
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        with_or_without(squares != nullptr, [&]<bool with_squares>() {
            parallel_for(arms.count, cost, threads, [&](std::int64_t begin, std::int64_t end) {
                sums_of_arms<Value, Reward, with_squares>(matrix, query, arms, blocks, begin, end,
                                                          sums, squares);
            });
        });
    });
}

void totals(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, int threads, Totals out) {
    const std::int64_t cost = blocks.count * blocks.size;
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        with_or_without(out.squares != nullptr, [&]<bool with_squares>() {
            parallel_for(arms.count, cost, threads, [&](std::int64_t begin, std::int64_t end) {
                if (coordinate_major(matrix)) {
                    totals_by_column<Value, Reward, with_squares>(
                        matrix, query, arms, blocks, centre, weight, begin, end, out);
                } else {
                    totals_by_row<Value, Reward, with_squares>(matrix, query, arms, blocks, centre,
                                                               weight, begin, end, out);
                }
            });
        });
    });
}

void column_sums(const double* table, std::int64_t rows, std::int64_t columns, double* high,
                 double* low) {
    std::fill(high, high + columns, 0.0);
    std::fill(low, low + columns, 0.0);
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            add_exactly(high[column], low[column], table[row * columns + column]);
        }
    }
}

}  // namespace sureshot
