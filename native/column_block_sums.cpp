#include "column_block_sums.hpp"

#include "elements.hpp"
#include "layout.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

constexpr std::int64_t columns_ahead = 16;  // more would evict what is being read from the cache
// Fewer than of rows: a few arms of each column are read as fast as they come, and what comes too early is dropped.
constexpr std::int64_t column_lines_ahead = 32;

// Arms whose lanes, 32 KB with the squares, stay in the caches.
constexpr std::int64_t arms_per_block_tile = 256;

// Values that are collected before they are multiplied, and arms of which they are, at most.
constexpr std::int64_t numbers_collected = 4096;
constexpr std::int64_t most_collected = 1024;

// A block of one column: the sum is the reward. 0.0 + x: as if it had been added to a lane.
template <class Reward, bool with_squares, class Value>
SURESHOT_ALONE void single_column(const Value* column, double query_value, std::int64_t count,
                                  double* __restrict sums, double* __restrict squares) {
    for (std::int64_t at = 0; at < count; ++at) {
        const double value = number(column[at]);
        sums[at] = 0.0 + Reward::reward(value, query_value);
        if constexpr (with_squares) squares[at] = value * value;
    }
}

// Some columns of a block that have the same lane, in ascending order: all that the lane gets of a block of
// at most two cache lines, which then need not be there before.
template <class Value, class Reward, bool with_squares, std::int64_t n_columns, bool first>
SURESHOT_ALONE void add_to_lane(const Value* const* columns, const double* query_values, std::int64_t count,
                                double* __restrict rewards, double* __restrict squares) {
    const Value* own[n_columns];
    double query_value[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) own[c] = columns[c], query_value[c] = query_values[c * lanes];
    for (std::int64_t at = 0; at < count; ++at) {
        double reward = first ? 0.0 : rewards[at];
        double square = first || !with_squares ? 0.0 : squares[at];
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            const double value = static_cast<double>(own[c][at]);
            reward += Reward::reward(value, query_value[c]);
            if constexpr (with_squares) square += value * value;
        }
        rewards[at] = reward;
        if constexpr (with_squares) squares[at] = square;
    }
}

// The values of some arms in one column, as numbers in place of their own type.
template <class F>
inline void with_widened_column(const Matrix& matrix, std::int64_t column, const Places& places,
                                std::int64_t begin, std::int64_t count, const F& f) {
    widened_as(matrix.element, [&]<class Number>() {
        Number numbers[arms_per_block_tile];
        widen_column(matrix, column, places, begin, count, numbers);
        f(static_cast<const Number*>(numbers));
    });
}

template <class Reward, bool with_squares>
void one_column(const Matrix& matrix, double query_value, std::int64_t j, const Places& places, double* sums,
                double* squares) {
    const auto sum = [&](const auto* values, std::int64_t begin, std::int64_t count) {
        single_column<Reward, with_squares>(values, query_value, count, sums + begin,
                                            with_squares ? squares + begin : nullptr);
    };
    const std::int64_t step = places.ids == nullptr ? matrix.row_stride : 0;
    const void* first = places.ids == nullptr ? address_of(matrix, places.first, j) : nullptr;
    if (read_any_as_is(matrix.element, step, first, [&](const auto* values) { sum(values, 0, places.count); })) return;
    for (std::int64_t begin = 0; begin < places.count; begin += arms_per_block_tile) {
        const std::int64_t count = smaller(arms_per_block_tile, places.count - begin);
        with_widened_column(matrix, j, places, begin, count, [&](const auto* values) { sum(values, begin, count); });
    }
}

template <class Reward, bool with_squares>
void some_columns(const Matrix& matrix, const double* query, Range range, const Places& places,
                  std::int64_t begin, std::int64_t count, double* sums, double* squares) {
    double rewards[lanes * arms_per_block_tile];
    double squared[with_squares ? lanes * arms_per_block_tile : 1];
    const std::int64_t step = places.ids == nullptr ? matrix.row_stride : 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        double* const its_rewards = rewards + lane * arms_per_block_tile;
        double* const its_squares = with_squares ? squared + lane * arms_per_block_tile : nullptr;
        const auto add = [&]<std::int64_t n_columns, bool first, class Value>(const Value* const* columns,
                                                                              std::int64_t j) {
            add_to_lane<Value, Reward, with_squares, n_columns, first>(columns, query + (j - range.begin), count,
                                                                       its_rewards, its_squares);
        };
        std::int64_t j = range.begin + lane;
        if (j >= range.end) {  // a short block
            for (std::int64_t at = 0; at < count; ++at) its_rewards[at] = 0.0;
            for (std::int64_t at = 0; with_squares && at < count; ++at) its_squares[at] = 0.0;
            continue;
        }
        for (bool first = true; j < range.end; first = false) {
            const bool two = j + lanes < range.end;
            const auto take = [&]<class Value>(const Value* const* columns) {
                if (two) {
                    first ? add.template operator()<2, true>(columns, j) : add.template operator()<2, false>(columns, j);
                } else {
                    first ? add.template operator()<1, true>(columns, j) : add.template operator()<1, false>(columns, j);
                }
            };
            const auto address = [&](std::int64_t column) { return address_of(matrix, places.first + begin, column); };
            const void* here = places.ids == nullptr ? address(j) : nullptr;
            if (!read_as_is(matrix.element, step, here, [&]<class Value>(const Value* values) {
                    const Value* columns[] = {values, reinterpret_cast<const Value*>(address(two ? j + lanes : j))};
                    take(columns);
                })) {
                widened_as(matrix.element, [&]<class Number>() {
                    Number numbers[2][arms_per_block_tile];
                    for (std::int64_t c = 0; c < (two ? 2 : 1); ++c) {
                        widen_column(matrix, j + c * lanes, places, begin, count, numbers[c]);
                    }
                    const Number* columns[] = {numbers[0], numbers[1]};
                    take(columns);
                });
            }
            j += two ? 2 * lanes : lanes;
        }
    }
    add_lanes(rewards, arms_per_block_tile, count, sums + begin);
    if constexpr (with_squares) add_lanes(squared, arms_per_block_tile, count, squares + begin);
}

// How to find the given arms in a column.
Places places_of(const Matrix& matrix, Arms arms) {
    bool neighbours = matrix.row_stride == 1;
    for (std::int64_t at = 1; at < arms.count && neighbours; ++at) {
        neighbours = arms.ids[at] == arms.ids[at - 1] + 1;
    }
    return {neighbours ? nullptr : arms.ids, arms.ids[0], arms.count};
}

// Single columns of arms that are no neighbours: the values of some columns are collected before they are multiplied.
template <class Reward, bool with_squares>
void sum_collected(const Matrix& matrix, const double* query, Arms arms, Blocks blocks, double* sums,
                   std::int64_t stride, double* squares) {
    widened_as(matrix.element, [&]<class Number>() {
        Number numbers[numbers_collected];
        const std::int64_t together = numbers_collected / arms.count;
        for (std::int64_t start = 0; start < blocks.count; start += together) {
            const std::int64_t count = smaller(together, blocks.count - start);
            gather_columns(matrix, arms, {blocks.ids + start, count, blocks.count - start}, numbers);
            for (std::int64_t b = 0; b < count; ++b) {
                const std::int64_t to = (start + b) * stride;
                single_column<Reward, with_squares>(numbers + b * arms.count, query[start + b], arms.count, sums + to,
                                                    with_squares ? squares + to : nullptr);
            }
        }
    });
}

template <class Reward, bool with_squares>
void sum_by_column(const Matrix& matrix, const double* query, Arms arms, Blocks blocks, double* sums,
                   std::int64_t stride, double* squares) {
    const Places places = places_of(matrix, arms);
    if (blocks.size == 1 && places.ids != nullptr && arms.count <= most_collected) {
        return sum_collected<Reward, with_squares>(matrix, query, arms, blocks, sums, stride, squares);
    }
    const auto fetch = [&](std::int64_t b) {
        const Range next = coordinates_of(matrix, blocks, b);
        const std::int64_t end = smaller(next.end, next.begin + columns_ahead);
        for (std::int64_t j = next.begin; j < end; ++j) fetch_column(matrix, j, places, 0, arms.count);
    };
    const std::int64_t blocks_ahead = 1 + column_lines_ahead / (arms.count * smaller(blocks.size, columns_ahead));
    for (std::int64_t b = 0; b < smaller(blocks_ahead, blocks.count); ++b) fetch(b);
    for (std::int64_t b = 0; b < blocks.count; ++b) {
        const Range range = coordinates_of(matrix, blocks, b);
        if (b + blocks_ahead < blocks.count) fetch(b + blocks_ahead);
        double* out = sums + b * stride;
        double* squares_out = with_squares ? squares + b * stride : nullptr;
        if (blocks.size == 1) {
            one_column<Reward, with_squares>(matrix, query[b], range.begin, places, out, squares_out);
            continue;
        }
        for (std::int64_t begin = 0; begin < arms.count; begin += arms_per_block_tile) {
            some_columns<Reward, with_squares>(matrix, query + b * blocks.size, range, places, begin,
                                               smaller(arms_per_block_tile, arms.count - begin), out, squares_out);
        }
    }
}

}  // namespace

void column_block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks, double* sums,
                       std::int64_t stride, double* squares) noexcept {
    with_rewards(metric, sums, squares, [&]<class Reward, bool with_squares>(double* rewards, double* squared) {
        sum_by_column<Reward, with_squares>(matrix, query, arms, blocks, rewards, stride, squared);
    });
}

}  // namespace sureshot::SURESHOT_ISA
