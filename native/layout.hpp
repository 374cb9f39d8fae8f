// How the matrix lies in memory and is read: rows some at a time, and coordinate-major data a few columns at
// once. For kernels: one copy for each instruction set.
#pragma once

#include "compiler.hpp"
#include "kernels.hpp"
#include "widen.hpp"

namespace sureshot::SURESHOT_ISA {

// The halves of the lanes are added: l += l + 4, l += l + 2, l += l + 1. So a row-major row is read in
// vectors without reassociating, and the same sum, to the last bit, can be made column by column.
inline double sum_of_lanes(const double* lane) {
    const double first = lane[0] + lane[4], second = lane[1] + lane[5];
    const double third = lane[2] + lane[6], fourth = lane[3] + lane[7];
    return (first + third) + (second + fourth);
}

// The same for many arms at once: lane[l * stride + arm].
inline void add_lanes(const double* lane, std::int64_t stride, std::int64_t count, double* __restrict sums) {
    for (std::int64_t at = 0; at < count; ++at) {
        const double* own = lane + at;
        const double first = own[0] + own[4 * stride], second = own[stride] + own[5 * stride];
        const double third = own[2 * stride] + own[6 * stride], fourth = own[3 * stride] + own[7 * stride];
        sums[at] = (first + third) + (second + fourth);
    }
}

// Row-major data: rows read side by side share each query value, which in double would else cost more
// cache bandwidth than the data; and each lane is loaded and stored once for some of its columns.
constexpr std::int64_t rows_together = 4;
constexpr std::int64_t columns_together = 8 * lanes;

// Coordinate-major data: columns of one lane that are added to the sums of the arms at once.
constexpr std::int64_t columns_per_lane = 16;

// Arms whose values in so many columns are widened before they are summed: they stay in the first-level cache,
// as do those of the columns_in_a_part that some rows have.
constexpr std::int64_t arms_widened = 128;

inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
inline std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

// The coordinates of a block.
struct Range {
    std::int64_t begin;
    std::int64_t end;
};

inline Range coordinates_of(const Matrix& matrix, const Blocks& blocks, std::int64_t position) {
    const std::int64_t begin = blocks.ids[position] * blocks.size - blocks.shift;
    return {begin > 0 ? begin : 0, smaller(begin + blocks.size, matrix.n_columns)};
}

// Scattered cache lines are prefetched this far ahead: 32 were too few where others use the memory, too, and a round took a
// quarter longer.
constexpr std::int64_t lines_ahead = 128;

// Prefetches the values of some arms in one column, from the arm `begin` on.
inline void fetch_column(const Matrix& matrix, std::int64_t column, const Places& places, std::int64_t begin,
                         std::int64_t count) {
    const std::int64_t size = size_of(matrix.element);
    if (places.ids == nullptr) {
        const char* values = address_of(matrix, places.first + begin, column);
        for (std::int64_t byte = 0; byte < count * size; byte += 64) fetch_ahead(values + byte);
        return;
    }
    const char* values = address_of(matrix, 0, column);
    for (std::int64_t at = begin; at < begin + count; ++at) {
        fetch_ahead(values + places.ids[at] * matrix.row_stride * size);
    }
}

template <bool any, class F>
inline bool as_they_are(Element element, std::int64_t step, const void* values, const F& f) {
    if constexpr (any) {
        return read_any_as_is(element, step, values, f);
    } else {
        return read_as_is(element, step, values, f);
    }
}

// Numbers of a row that are added to the lanes at once. Narrow types are widened in a loop of their own:
// a vector of them is longer than the lanes.
template <class Value, bool narrow = (sizeof(Value) <= 2)>
struct Few {
    const Value* values;
    double operator[](std::int64_t at) const { return number(values[at]); }
};
template <class Value>
struct Few<Value, true> {
    double numbers[columns_together];
    explicit Few(const Value* values) {
        for (std::int64_t at = 0; at < columns_together; ++at) {
            numbers[at] = number(values[at]);
        }
    }
    double operator[](std::int64_t at) const { return numbers[at]; }
};

// Calls f.template operator()<Value>(rows, j, count) with the values of some rows from the column j on, as they
// are or widened, for all columns of [begin, end).
template <std::int64_t n_rows, bool any = (n_rows >= rows_together), class F>
inline void with_row_values(const Matrix& matrix, const std::int64_t* ids, std::int64_t begin, std::int64_t end,
                            F&& f) {
    const auto take = [&]<class Value>(const Value* data) {
        const Value* rows[n_rows];
        for (std::int64_t r = 0; r < n_rows; ++r) rows[r] = data + ids[r] * matrix.row_stride + begin;
        f.template operator()<Value>(rows, begin, end - begin);
    };
    if (as_they_are<any>(matrix.element, matrix.column_stride, matrix.data, take)) return;
    widened_as(matrix.element, [&]<class Number>() {
        constexpr std::int64_t most = columns_in_a_part;
        Number numbers[n_rows][most];
        const Number* rows[n_rows];
        for (std::int64_t r = 0; r < n_rows; ++r) rows[r] = numbers[r];
        for (std::int64_t j = begin; j < end; j += most) {
            const std::int64_t count = smaller(most, end - j);
            for (std::int64_t r = 0; r < n_rows; ++r) {
                widen(matrix.element, address_of(matrix, ids[r], j), matrix.column_stride, count, numbers[r]);
            }
            f.template operator()<Number>(rows, j, count);
        }
    });
}

// Calls f.template operator()<Value, n_columns>(columns, arm, count) with the values of some arms in the columns
// column_of(0), ..., column_of(n_columns - 1), as they are or widened, for all arms. fetch_next(c) is called after the
// column c of scattered arms has been read.
template <std::int64_t n_columns, class Column, class Fetch, class F>
inline void with_column_values(const Matrix& matrix, const Places& places, const Column& column_of,
                               const Fetch& fetch_next, F&& f) {
    const void* first = places.ids == nullptr ? address_of(matrix, places.first, 0) : nullptr;
    const std::int64_t step = places.ids == nullptr ? matrix.row_stride : 0;
    const auto take = [&]<class Value>(const Value* values) {
        const Value* columns[n_columns];
        for (std::int64_t c = 0; c < n_columns; ++c) columns[c] = values + column_of(c) * matrix.column_stride;
        f.template operator()<Value, n_columns>(columns, 0, places.count);
    };
    if (as_they_are<n_columns == columns_per_lane>(matrix.element, step, first, take)) return;
    widened_as(matrix.element, [&]<class Number>() {
        constexpr std::int64_t most = arms_widened;
        Number numbers[n_columns][most];
        const Number* columns[n_columns];
        for (std::int64_t c = 0; c < n_columns; ++c) columns[c] = numbers[c];
        for (std::int64_t arm = 0; arm < places.count; arm += most) {
            const std::int64_t count = smaller(most, places.count - arm);
            for (std::int64_t c = 0; c < n_columns; ++c) {
                // Scattered arms are prefetched; neighbours the processor prefetches by itself.
                if (places.ids != nullptr && arm + most < places.count) {
                    fetch_column(matrix, column_of(c), places, arm + most, smaller(most, places.count - arm - most));
                }
                widen_column(matrix, column_of(c), places, arm, count, numbers[c]);
                if (places.ids != nullptr && arm + most >= places.count) fetch_next(c);
            }
            f.template operator()<Number, n_columns>(columns, arm, count);
        }
    });
}

// Calls f.template operator()<Value, n_columns>(columns, j, arm, count) with the values in the columns j, j + lanes, ...,
// for all columns of [begin, end); in each lane the columns come in ascending order.
template <class F>
inline void lane_by_lane(const Matrix& matrix, const Places& places, LaneSpan span, std::int64_t begin, std::int64_t end,
                         F&& f) {
    constexpr std::int64_t group = lanes * columns_per_lane;
    const auto wanted = [span](std::int64_t j) { return span.first <= j % lanes && j % lanes < span.end; };
    const std::int64_t whole = end - (end - begin) % group;
    const auto call = [&]<std::int64_t n_columns>(std::int64_t j) {
        with_column_values<n_columns>(
            matrix, places, [j](std::int64_t c) { return j + c * lanes; }, [](std::int64_t) {},
            [&]<class Value, std::int64_t>(const Value* const* columns, std::int64_t arm, std::int64_t count) {
                f.template operator()<Value, n_columns>(columns, j, arm, count);
            });
    };
    for (std::int64_t start = begin; start < whole; start += group) {
        for (std::int64_t j = start; j < start + lanes; ++j) {
            if (wanted(j)) call.template operator()<columns_per_lane>(j);
        }
    }
    for (std::int64_t j = whole; j < end; ++j) {
        if (wanted(j)) call.template operator()<1>(j);
    }
}

// Calls f.template operator()<Value, n_columns>(columns, at, arm, count) with the values in the columns
// chosen[at], chosen[at + 1], ..., for all of them, one after the other. Those of scattered arms are prefetched.
template <class F>
inline void each_chosen_column(const Matrix& matrix, const Places& places, const std::int64_t* chosen,
                               std::int64_t n_chosen, F&& f) {
    const auto call = [&]<std::int64_t n_columns>(std::int64_t at) {
        with_column_values<n_columns>(
            matrix, places, [chosen, at](std::int64_t c) { return chosen[at + c]; },
            [&](std::int64_t c) {
                const std::int64_t next = at + n_columns + c;
                if (next < n_chosen) fetch_column(matrix, chosen[next], places, 0, smaller(arms_widened, places.count));
            },
            [&]<class Value, std::int64_t>(const Value* const* columns, std::int64_t arm, std::int64_t count) {
                f.template operator()<Value, n_columns>(columns, at, arm, count);
            });
    };
    std::int64_t at = 0;
    for (; at + columns_per_lane <= n_chosen; at += columns_per_lane) call.template operator()<columns_per_lane>(at);
    for (; at < n_chosen; ++at) call.template operator()<1>(at);
}

}  // namespace sureshot::SURESHOT_ISA
