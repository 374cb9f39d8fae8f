#include <type_traits>

#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

constexpr std::int64_t columns_ahead = 16;  // more of a block would drive out what is being read

// Coordinate-major data: arms whose lanes, 32 KB with the squares, stay in the caches.
constexpr std::int64_t arms_per_block_tile = 256;

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

// Runs ahead of the sums through the blocks of one arm after the other.
template <class Value, class Step>
class Scout {
public:
    Scout(const Matrix& matrix, Step step, Arms arms, Blocks blocks)
        : matrix_(matrix), step_(step), arms_(arms), blocks_(blocks) {
        const std::int64_t lines = (blocks.size + per_line - 1) / per_line;
        for (std::int64_t start = 1 + lines_ahead / lines; start > 0; --start) advance();
    }

    void advance() {
        if (arm_ == arms_.count) return;
        const Value* row = row_of<Value>(matrix_, arms_.ids[arm_]);
        Range range = coordinates_of(matrix_, blocks_, block_);
        range.end = smaller(range.end, range.begin + lines_ahead * per_line);
        for (std::int64_t j = range.begin; j < range.end; j += per_line) fetch_ahead(row + j * step_);
        // A block that does not begin with a cache line ends in one more.
        fetch_ahead(row + (range.end - 1) * step_);
        if (++block_ == blocks_.count) ++arm_, block_ = 0;
    }

private:
    static constexpr std::int64_t per_line = 64 / sizeof(Value);
    const Matrix& matrix_;
    Step step_;
    Arms arms_;
    Blocks blocks_;
    std::int64_t arm_ = 0;
    std::int64_t block_ = 0;
};

struct BlockSum {
    double rewards;
    double squares;
};

template <class Value, class Reward, bool with_squares, class Step>
BlockSum sum_block(const Value* row, Step step, const double* query, Range range) {
    double rewards[lanes] = {};
    double squares[lanes] = {};
    std::int64_t j = range.begin;
    for (; j + lanes <= range.end; j += lanes) {
        SURESHOT_ONE_VECTOR
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const double value = number(row[(j + lane) * step]);
            rewards[lane] += Reward::reward(value, query[j + lane]);
            if constexpr (with_squares) squares[lane] += value * value;
        }
    }
    for (std::int64_t lane = 0; j < range.end; ++lane, ++j) {
        const double value = number(row[j * step]);
        rewards[lane] += Reward::reward(value, query[j]);
        if constexpr (with_squares) squares[lane] += value * value;
    }
    return {sum_of_lanes(rewards), with_squares ? sum_of_lanes(squares) : 0.0};
}

// A block of a known size of contiguous values: the same operations, written for GCC to keep them in
// vectors to the end.
template <class Value, class Reward, bool with_squares, std::int64_t size>
inline BlockSum sum_line(const Value* values, const double* query) {
    double rewards[lanes], squares[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        double reward = 0.0, square = 0.0;
        SURESHOT_UNROLLED
        for (std::int64_t j = lane; j < size; j += lanes) {
            const double value = number(values[j]);
            reward += Reward::reward(value, query[j]);
            if constexpr (with_squares) square += value * value;
        }
        rewards[lane] = reward;
        squares[lane] = square;
    }
    for (std::int64_t half = lanes / 2; half > 0; half /= 2) {
        for (std::int64_t lane = 0; lane < half; ++lane) {
            rewards[lane] += rewards[lane + half];
            if constexpr (with_squares) squares[lane] += squares[lane + half];
        }
    }
    return {rewards[0], with_squares ? squares[0] : 0.0};
}

// Blocks of as many contiguous values as a cache line has: by far the most common ones. All that the loop
// needs is in local variables, since anything read through a reference would be read again after each
// store, and the function is not merged with others, which would push them out of the registers: the
// fewer instructions between two lines, the more lines are on their way.
template <class Value, class Reward, bool with_squares>
SURESHOT_ALONE void sum_lines(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
               double* __restrict sums, std::int64_t stride, double* __restrict squares) {
    constexpr std::int64_t line = 64 / sizeof(Value);
    const Value* const data = static_cast<const Value*>(matrix.data);
    const std::int64_t row_stride = matrix.row_stride, n_columns = matrix.n_columns;
    const std::int64_t shift = blocks.shift, n_blocks = blocks.count, n_arms = arms.count;
    const std::int64_t* const ids = blocks.ids;
    const std::int64_t* const rows = arms.ids;
    // Where the scout is, which runs ahead through the blocks of one arm after the other.
    std::int64_t scout_arm = 0, scout_block = 0;
    const auto fetch_next = [&] {
        if (scout_arm == n_arms) return;
        const Value* values = data + rows[scout_arm] * row_stride + (ids[scout_block] * line - shift);
        fetch_ahead(values);
        if (reinterpret_cast<std::uintptr_t>(values) % 64 != 0) fetch_ahead(values + line - 1);
        if (++scout_block == n_blocks) ++scout_arm, scout_block = 0;
    };
    for (std::int64_t start = 0; start < lines_ahead; ++start) fetch_next();
    for (std::int64_t arm = 0; arm < n_arms; ++arm) {
        const Value* row = data + rows[arm] * row_stride;
        for (std::int64_t b = 0; b < n_blocks; ++b) {
            fetch_next();
            const std::int64_t begin = ids[b] * line - shift;
            BlockSum sum;
            if (begin >= 0 && begin + line <= n_columns) {
                sum = sum_line<Value, Reward, with_squares, line>(row + begin, query + begin);
            } else {
                sum = sum_block<Value, Reward, with_squares>(row, One{}, query,
                                                             coordinates_of(matrix, blocks, b));
            }
            sums[b * stride + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * stride + arm] = sum.squares;
        }
    }
}

// Blocks of one coordinate: the sum is the reward. 0.0 + x: as if it had been added to a lane.
template <class Value, class Reward, bool with_squares, class Step>
SURESHOT_ALONE void single_coordinates(const Matrix& matrix, Step step, const double* query,
                                       Arms arms, Blocks blocks, double* __restrict sums,
                                       std::int64_t stride, double* __restrict squares) {
    const Value* const data = static_cast<const Value*>(matrix.data);
    const std::int64_t row_stride = matrix.row_stride;
    const std::int64_t n_blocks = blocks.count, n_arms = arms.count;
    const std::int64_t* const ids = blocks.ids;
    const std::int64_t* const rows = arms.ids;
    // Arms whose coordinates are on their way while those of one arm are read.
    const std::int64_t arms_ahead = 1 + lines_ahead / n_blocks;
    const auto fetch = [&](std::int64_t arm) {
        const Value* row = data + rows[arm] * row_stride;
        for (std::int64_t b = 0; b < n_blocks; ++b) fetch_ahead(row + ids[b] * step);
    };
    for (std::int64_t arm = 0; arm < smaller(arms_ahead, n_arms); ++arm) fetch(arm);
    for (std::int64_t arm = 0; arm < n_arms; ++arm) {
        if (arm + arms_ahead < n_arms) fetch(arm + arms_ahead);
        const Value* row = data + rows[arm] * row_stride;
        for (std::int64_t b = 0; b < n_blocks; ++b) {
            const double value = number(row[ids[b] * step]);
            sums[b * stride + arm] = 0.0 + Reward::reward(value, query[ids[b]]);
            if constexpr (with_squares) squares[b * stride + arm] = value * value;
        }
    }
}

template <class Value, class Reward, bool with_squares, class Step>
void sum_by_row(const Matrix& matrix, Step step, const double* query, Arms arms, Blocks blocks,
                double* sums, std::int64_t stride, double* squares) {
    if (blocks.count == 0) return;
    if (blocks.size == 1) {
        return single_coordinates<Value, Reward, with_squares>(matrix, step, query, arms, blocks, sums,
                                                               stride, squares);
    }
    if constexpr (std::is_same_v<Step, One>) {
        if (blocks.size * static_cast<std::int64_t>(sizeof(Value)) == 64) {
            return sum_lines<Value, Reward, with_squares>(matrix, query, arms, blocks, sums, stride,
                                                          squares);
        }
    }
    Scout<Value, Step> scout(matrix, step, arms, blocks);
    for (std::int64_t arm = 0; arm < arms.count; ++arm) {
        const Value* row = row_of<Value>(matrix, arms.ids[arm]);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            scout.advance();
            const BlockSum sum = sum_block<Value, Reward, with_squares>(
                row, step, query, coordinates_of(matrix, blocks, b));
            sums[b * stride + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * stride + arm] = sum.squares;
        }
    }
}

// A block of one column: the sum is the reward. 0.0 + x: as if it had been added to a lane.
template <class Value, class Reward, bool with_squares, class Where>
void single_column(const Value* column, double query_value, Where where, std::int64_t count,
                   double* __restrict sums, double* __restrict squares) {
    for (std::int64_t at = 0; at < count; ++at) {
        const double value = number(column[where(at)]);
        sums[at] = 0.0 + Reward::reward(value, query_value);
        if constexpr (with_squares) squares[at] = value * value;
    }
}

template <class Value, class Reward, bool with_squares, class Where>
void some_columns(const Matrix& matrix, const double* query, Range range, Where where,
                  std::int64_t begin, std::int64_t count, double* sums, double* squares) {
    double rewards[lanes][arms_per_block_tile] = {};
    double squared[lanes][arms_per_block_tile] = {};
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        const Value* column = column_of<Value>(matrix, j);
        const double query_value = query[j];
        const std::int64_t lane = (j - range.begin) % lanes;
        for (std::int64_t at = 0; at < count; ++at) {
            const double value = number(column[where(begin + at)]);
            rewards[lane][at] += Reward::reward(value, query_value);
            if constexpr (with_squares) squared[lane][at] += value * value;
        }
    }
    add_lanes(rewards, count, sums + begin);
    if constexpr (with_squares) add_lanes(squared, count, squares + begin);
}

template <class Value, class Reward, bool with_squares, class Where>
void sum_by_column(const Matrix& matrix, const double* query, Where where, std::int64_t count,
                   Blocks blocks, double* sums, std::int64_t stride, double* squares) {
    const std::int64_t blocks_ahead = 1 + lines_ahead / count;
    for (std::int64_t b = 0; b < blocks.count; ++b) {
        const Range range = coordinates_of(matrix, blocks, b);
        if (b + blocks_ahead < blocks.count) {
            const Range next = coordinates_of(matrix, blocks, b + blocks_ahead);
            const std::int64_t end = smaller(next.end, next.begin + columns_ahead);
            for (std::int64_t j = next.begin; j < end; ++j) {
                fetch_column(column_of<Value>(matrix, j), where, count);
            }
        }
        double* out = sums + b * stride;
        double* squares_out = with_squares ? squares + b * stride : nullptr;
        if (blocks.size == 1) {
            single_column<Value, Reward, with_squares>(column_of<Value>(matrix, range.begin),
                                                       query[range.begin], where, count, out,
                                                       squares_out);
            continue;
        }
        for (std::int64_t begin = 0; begin < count; begin += arms_per_block_tile) {
            some_columns<Value, Reward, with_squares>(matrix, query, range, where, begin,
                                                      smaller(arms_per_block_tile, count - begin), out,
                                                      squares_out);
        }
    }
}

template <class Value, class Reward, bool with_squares>
void sum_arms(const Matrix& matrix, const double* query, Arms arms, Blocks blocks, double* sums,
              std::int64_t stride, double* squares) {
    if (coordinate_major(matrix)) {
        return with_places(matrix, arms, [&](auto where) {
            sum_by_column<Value, Reward, with_squares>(matrix, query, where, arms.count, blocks, sums,
                                                       stride, squares);
        });
    }
    return with_step(matrix, [&](auto step) {
        sum_by_row<Value, Reward, with_squares>(matrix, step, query, arms, blocks, sums, stride, squares);
    });
}

}  // namespace

void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                double* sums, std::int64_t stride, double* squares) noexcept {
    if (arms.count == 0) return;
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        if (squares != nullptr) {
            sum_arms<Value, Reward, true>(matrix, query, arms, blocks, sums, stride, squares);
        } else {
            sum_arms<Value, Reward, false>(matrix, query, arms, blocks, sums, stride, nullptr);
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
