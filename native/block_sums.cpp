#include <cmath>

#include "kernels.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Arms that one pass over coordinate-major data handles together: their sums stay in cache.
constexpr std::int64_t arms_per_tile = 1024;

bool coordinate_major(const Matrix& matrix) {
    const std::int64_t rows = matrix.row_stride, columns = matrix.column_stride;
    return (rows < 0 ? -rows : rows) < (columns < 0 ? -columns : columns);
}

struct Range {
    std::int64_t begin;
    std::int64_t end;
};

Range coordinates_of(const Matrix& matrix, const Blocks& blocks, std::int64_t position) {
    const std::int64_t begin = blocks.ids[position] * blocks.size - blocks.shift;
    return {begin > 0 ? begin : 0, smaller(begin + blocks.size, matrix.n_columns)};
}

template <class Value>
const Value* row_of(const Matrix& matrix, std::int64_t row) {
    return static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
}

void fill(double* values, std::int64_t count, double value) {
    for (std::int64_t at = 0; at < count; ++at) values[at] = value;
}

struct BlockSum {
    double rewards = 0.0;
    double squares = 0.0;
};

template <class Value, class Reward, bool with_squares>
BlockSum sum_of_block(const Matrix& matrix, const Value* row, const double* query, Range range) {
    BlockSum sum;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        const double value = number(row[j * matrix.column_stride]);
        sum.rewards += Reward::reward(value, query[j]);
        if constexpr (with_squares) sum.squares += value * value;
    }
    return sum;
}

// One block of the arms, column by column.
template <class Value, class Reward, bool with_squares>
void sum_columns(const Matrix& matrix, const double* query, Arms arms, Range range, double* sums,
                 double* squares) {
    const bool neighbours = contiguous(matrix, arms);
    fill(sums, arms.count, 0.0);
    if constexpr (with_squares) fill(squares, arms.count, 0.0);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        const Value* column = static_cast<const Value*>(matrix.data) + j * matrix.column_stride;
        const double query_value = query[j];
        if (neighbours) {
            const Value* values = column + arms.ids[0];
            for (std::int64_t at = 0; at < arms.count; ++at) {
                const double value = number(values[at]);
                sums[at] += Reward::reward(value, query_value);
                if constexpr (with_squares) squares[at] += value * value;
            }
            continue;
        }
        for (std::int64_t at = 0; at < arms.count; ++at) {
            const double value = number(column[arms.ids[at] * matrix.row_stride]);
            sums[at] += Reward::reward(value, query_value);
            if constexpr (with_squares) squares[at] += value * value;
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
void sums_of_arms(const Matrix& matrix, const double* query, Arms arms, Blocks blocks, double* sums,
                  std::int64_t stride, double* squares) {
    if (coordinate_major(matrix)) {
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            sum_columns<Value, Reward, with_squares>(
                matrix, query, arms, coordinates_of(matrix, blocks, b), sums + b * stride,
                with_squares ? squares + b * stride : nullptr);
        }
        return;
    }
    for (std::int64_t arm = 0; arm < arms.count; ++arm) {
        const Value* row = row_of<Value>(matrix, arms.ids[arm]);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            const BlockSum sum = sum_of_block<Value, Reward, with_squares>(
                matrix, row, query, coordinates_of(matrix, blocks, b));
            sums[b * stride + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * stride + arm] = sum.squares;
        }
    }
}

template <class Value, class Reward, bool with_squares>
void totals_by_row(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                   const double* centre, const double* weight, Totals out) {
    for (std::int64_t arm = 0; arm < arms.count; ++arm) {
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
                      const double* centre, const double* weight, Totals out) {
    double sums[arms_per_tile];
    double squares[arms_per_tile];
    for (std::int64_t tile = 0; tile < arms.count; tile += arms_per_tile) {
        const std::int64_t count = smaller(arms_per_tile, arms.count - tile);
        fill(out.high + tile, count, 0.0);
        fill(out.low + tile, count, 0.0);
        fill(out.largest + tile, count, 0.0);
        if constexpr (with_squares) fill(out.squares + tile, count, 0.0);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            sum_columns<Value, Reward, with_squares>(matrix, query, {arms.ids + tile, count},
                                                     coordinates_of(matrix, blocks, b), sums, squares);
            const double unit = 1.0 / weight[b];
            for (std::int64_t at = 0; at < count; ++at) {
                const std::int64_t arm = tile + at;
                add_exactly(out.high[arm], out.low[arm], sums[at]);
                keep_larger(out.largest[arm], std::fabs(sums[at] - centre[b]) * unit);
                if constexpr (with_squares) out.squares[arm] += squares[at];
            }
        }
    }
}

}  // namespace

void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                double* sums, std::int64_t stride, double* squares) noexcept {
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        if (squares != nullptr) {
            sums_of_arms<Value, Reward, true>(matrix, query, arms, blocks, sums, stride, squares);
        } else {
            sums_of_arms<Value, Reward, false>(matrix, query, arms, blocks, sums, stride, nullptr);
        }
    });
}

void totals(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, Totals out) noexcept {
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        const auto found = [&]<bool with_squares>() {
            if (coordinate_major(matrix)) {
                totals_by_column<Value, Reward, with_squares>(matrix, query, arms, blocks, centre,
                                                              weight, out);
            } else {
                totals_by_row<Value, Reward, with_squares>(matrix, query, arms, blocks, centre, weight,
                                                           out);
            }
        };
        if (out.squares != nullptr) {
            found.template operator()<true>();
        } else {
            found.template operator()<false>();
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
