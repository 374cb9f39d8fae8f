#include "column_block_sums.hpp"
#include "elements.hpp"
#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Prefetches the blocks of one arm after the other, some blocks before they are summed.
class Prefetcher {
public:
    Prefetcher(const Matrix& matrix, Arms arms, Blocks blocks)
        : matrix_(matrix),
          distance_(matrix.column_stride * size_of(matrix.element)),
          per_line_(64 / size_of(matrix.element)),
          arms_(arms),
          blocks_(blocks) {
        const std::int64_t lines = (blocks.size + per_line_ - 1) / per_line_;
        for (std::int64_t start = 1 + lines_ahead / lines; start > 0; --start) advance();
    }

    void advance() {
        if (arm_ == arms_.count) return;
        const char* row = address_of(matrix_, arms_.ids[arm_], 0);
        Range range = coordinates_of(matrix_, blocks_, block_);
        range.end = smaller(range.end, range.begin + lines_ahead * per_line_);
        for (std::int64_t j = range.begin; j < range.end; j += per_line_) fetch_ahead(row + j * distance_);
        // A block that does not begin with a cache line ends in one more.
        fetch_ahead(row + (range.end - 1) * distance_);
        if (++block_ == blocks_.count) ++arm_, block_ = 0;
    }

private:
    const Matrix& matrix_;
    std::int64_t distance_;  // between two coordinates, in bytes
    std::int64_t per_line_;
    Arms arms_;
    Blocks blocks_;
    std::int64_t arm_ = 0;
    std::int64_t block_ = 0;
};

struct BlockSum {
    double rewards;
    double squares;
};

struct BlockLanes {
    double rewards[lanes] = {};
    double squares[lanes] = {};
};

// Adds `count` values, of which the first belongs to the first lane.
template <class Value, class Reward, bool with_squares>
inline void add_values(const Value* values, const double* query, std::int64_t count, BlockLanes& sums) {
    std::int64_t j = 0;
    for (; j + lanes <= count; j += lanes) {
        SURESHOT_ONE_VECTOR
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const double value = static_cast<double>(values[j + lane]);
            sums.rewards[lane] += Reward::reward(value, query[j + lane]);
            if constexpr (with_squares) sums.squares[lane] += value * value;
        }
    }
    for (std::int64_t lane = 0; j < count; ++lane, ++j) {
        const double value = static_cast<double>(values[j]);
        sums.rewards[lane] += Reward::reward(value, query[j]);
        if constexpr (with_squares) sums.squares[lane] += value * value;
    }
}

template <bool with_squares>
inline BlockSum sum_of(const BlockLanes& sums) {
    return {sum_of_lanes(sums.rewards), with_squares ? sum_of_lanes(sums.squares) : 0.0};
}

template <class Value, class Reward, bool with_squares>
SURESHOT_ALONE BlockSum sum_as_is(const Value* values, const double* query, std::int64_t count) {
    BlockLanes sums;
    add_values<Value, Reward, with_squares>(values, query, count, sums);
    return sum_of<with_squares>(sums);
}

template <class Number, class Reward, bool with_squares>
SURESHOT_ALONE BlockSum sum_widened_block(const Matrix& matrix, std::int64_t arm, const double* query,
                                          Range range) {
    BlockLanes sums;
    Number numbers[columns_in_a_part];
    for (std::int64_t j = range.begin; j < range.end; j += columns_in_a_part) {
        const std::int64_t count = smaller(columns_in_a_part, range.end - j);
        widen(matrix.element, address_of(matrix, arm, j), matrix.column_stride, count, numbers);
        add_values<Number, Reward, with_squares>(numbers, query + (j - range.begin), count, sums);
    }
    return sum_of<with_squares>(sums);
}

// Any block of a row; `query` has its values in the block.
template <class Reward, bool with_squares>
SURESHOT_ALONE BlockSum sum_block(const Matrix& matrix, std::int64_t arm, const double* query, Range range) {
    const void* first = address_of(matrix, arm, range.begin);
    BlockSum sum;
    const bool as_is = read_as_is(matrix.element, matrix.column_stride, first, [&]<class Value>(const Value* values) {
        sum = sum_as_is<Value, Reward, with_squares>(values, query, range.end - range.begin);
    });
    if (as_is) return sum;
    widened_as(matrix.element, [&]<class Number>() {
        sum = sum_widened_block<Number, Reward, with_squares>(matrix, arm, query, range);
    });
    return sum;
}

// A block of a known size of contiguous values.
template <class Value, class Reward, bool with_squares, std::int64_t size>
inline BlockSum sum_values(const Value* values, const double* query) {
    Lanes rewards{}, squares{};
    SURESHOT_UNROLLED
    for (std::int64_t j = 0; j < size; j += lanes) {
        const auto value = lanes_of(values + j);
        rewards += Reward::reward(value, lanes_of(query + j));
        if constexpr (with_squares) squares += value * value;
    }
    const TwoSums sums = sums_of_lanes(rewards, squares);
    return {sums.first, sums.second};
}

// The values of a cache line.
template <class Value>
constexpr std::int64_t line = 64 / sizeof(Value);

template <class Value>
SURESHOT_ALONE void widen_line(const Value* values, float* numbers) {
    for (std::int64_t j = 0; j < line<Value>; ++j) numbers[j] = number<float>(values[j]);
}

// For all types that have as many values in a line.
template <class Reward, bool with_squares, std::int64_t size>
SURESHOT_ALONE BlockSum sum_widened(const float* numbers, const double* query) {
    return sum_values<float, Reward, with_squares, size>(numbers, query);
}

template <class Value, class Reward, bool with_squares>
inline BlockSum sum_line(const Value* values, const double* query) {
    if constexpr (sizeof(Value) > 2) {
        return sum_values<Value, Reward, with_squares, line<Value>>(values, query);
    } else {
        float numbers[line<Value>];
        widen_line(values, numbers);
        return sum_widened<Reward, with_squares, line<Value>>(numbers, query);
    }
}

// Blocks of as many contiguous values as a cache line has: by far the most common ones. All that the loop
// needs is in local variables, since anything read through a reference would be read again after each
// store, and the function is not merged with others, which would push them out of the registers: the
// fewer instructions between two lines, the more lines are on their way.
template <class Value, class Reward, bool with_squares>
SURESHOT_ALONE void sum_lines(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                              double* __restrict sums, std::int64_t stride, double* __restrict squares) {
    constexpr std::int64_t size = line<Value>;
    const Value* const data = static_cast<const Value*>(matrix.data);
    const std::int64_t row_stride = matrix.row_stride, n_columns = matrix.n_columns;
    const std::int64_t shift = blocks.shift, n_blocks = blocks.count, n_arms = arms.count;
    const std::int64_t* const ids = blocks.ids;
    const std::int64_t* const rows = arms.ids;
    // What is prefetched next, in the same order.
    std::int64_t next_arm = 0, next_block = 0;
    const auto fetch_next = [&] {
        if (next_arm == n_arms) return;
        const Value* values = data + rows[next_arm] * row_stride + (ids[next_block] * size - shift);
        fetch_ahead(values);
        if (reinterpret_cast<std::uintptr_t>(values) % 64 != 0) fetch_ahead(values + size - 1);
        if (++next_block == n_blocks) ++next_arm, next_block = 0;
    };
    for (std::int64_t start = 0; start < lines_ahead; ++start) fetch_next();
    for (std::int64_t arm = 0; arm < n_arms; ++arm) {
        const Value* row = data + rows[arm] * row_stride;
        for (std::int64_t b = 0; b < n_blocks; ++b) {
            fetch_next();
            const std::int64_t begin = ids[b] * size - shift;
            if (begin < 0 || begin + size > n_columns) continue;
            const BlockSum sum = sum_line<Value, Reward, with_squares>(row + begin, query + b * size);
            sums[b * stride + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * stride + arm] = sum.squares;
        }
    }
    // The first and the last block of a row may be short. Not in the loop above, where a call would cost
    // registers.
    for (std::int64_t b = 0; b < n_blocks; ++b) {
        const Range range = coordinates_of(matrix, blocks, b);
        for (std::int64_t arm = 0; range.end - range.begin < size && arm < n_arms; ++arm) {
            const BlockSum sum = sum_block<Reward, with_squares>(matrix, rows[arm], query + b * size, range);
            sums[b * stride + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * stride + arm] = sum.squares;
        }
    }
}

// Blocks of one coordinate: the sum is the reward. 0.0 + x: as if it had been added to a lane.
template <class Reward, bool with_squares>
void single_coordinates(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                        double* __restrict sums, std::int64_t stride, double* __restrict squares) {
    constexpr std::int64_t most = 256;
    const std::int64_t n_blocks = blocks.count, n_arms = arms.count;
    const std::int64_t* const ids = blocks.ids;
    const std::int64_t distance = matrix.column_stride * size_of(matrix.element);
    // Arms whose coordinates are on their way while those of one arm are read.
    const std::int64_t arms_ahead = 1 + lines_ahead / n_blocks;
    const auto fetch = [&](std::int64_t arm) {
        const char* row = address_of(matrix, arms.ids[arm], 0);
        for (std::int64_t b = 0; b < n_blocks; ++b) fetch_ahead(row + ids[b] * distance);
    };
    for (std::int64_t arm = 0; arm < smaller(arms_ahead, n_arms); ++arm) fetch(arm);
    for (std::int64_t arm = 0; arm < n_arms; ++arm) {
        if (arm + arms_ahead < n_arms) fetch(arm + arms_ahead);
        const char* row = address_of(matrix, arms.ids[arm], 0);
        for (std::int64_t start = 0; start < n_blocks; start += most) {
            double numbers[most];
            const std::int64_t count = smaller(most, n_blocks - start);
            gather(matrix.element, row, ids + start, matrix.column_stride, count, numbers);
            for (std::int64_t b = 0; b < count; ++b) {
                const std::int64_t to = (start + b) * stride + arm;
                sums[to] = 0.0 + Reward::reward(numbers[b], query[start + b]);
                if constexpr (with_squares) squares[to] = numbers[b] * numbers[b];
            }
        }
    }
}

template <class Reward, bool with_squares>
void sum_by_row(const Matrix& matrix, const double* query, Arms arms, Blocks blocks, double* sums,
                std::int64_t stride, double* squares) {
    if (blocks.count == 0) return;
    if (blocks.size == 1) {
        return single_coordinates<Reward, with_squares>(matrix, query, arms, blocks, sums, stride, squares);
    }
    if (matrix.column_stride == 1 && blocks.size * size_of(matrix.element) == 64) {
        return with_values(matrix.element, [&]<class Value>() {
            sum_lines<Value, Reward, with_squares>(matrix, query, arms, blocks, sums, stride, squares);
        });
    }
    Prefetcher ahead(matrix, arms, blocks);
    for (std::int64_t arm = 0; arm < arms.count; ++arm) {
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            ahead.advance();
            const BlockSum sum = sum_block<Reward, with_squares>(matrix, arms.ids[arm], query + b * blocks.size,
                                                                 coordinates_of(matrix, blocks, b));
            sums[b * stride + arm] = sum.rewards;
            if constexpr (with_squares) squares[b * stride + arm] = sum.squares;
        }
    }
}

}  // namespace

void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                double* sums, std::int64_t stride, double* squares) noexcept {
    if (arms.count == 0) return;
    if (coordinate_major(matrix)) {
        return column_block_sums(matrix, metric, query, arms, blocks, sums, stride, squares);
    }
    with_rewards(metric, sums, squares, [&]<class Reward, bool with_squares>(double* rewards, double* squared) {
        sum_by_row<Reward, with_squares>(matrix, query, arms, blocks, rewards, stride, squared);
    });
}

}  // namespace sureshot::SURESHOT_ISA
