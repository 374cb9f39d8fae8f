// How the matrix lies in memory, and how coordinate-major data is read: a tile of arms at a time, a few
// columns at once. For kernels: one copy for each instruction set.
#pragma once

#include "elements.hpp"

namespace sureshot::SURESHOT_ISA {

// The halves of the lanes are added: l += l + 4, l += l + 2, l += l + 1. So a row-major row is read in
// vectors without reassociating, and the same sum, to the last bit, can be made column by column.
inline double sum_of_lanes(const double* lane) {
    const double first = lane[0] + lane[4], second = lane[1] + lane[5];
    const double third = lane[2] + lane[6], fourth = lane[3] + lane[7];
    return (first + third) + (second + fourth);
}

// The same for many arms at once: lane[l][arm].
template <std::int64_t n_arms>
inline void add_lanes(const double (*lane)[n_arms], std::int64_t count, double* sums) {
    for (std::int64_t at = 0; at < count; ++at) {
        const double first = lane[0][at] + lane[4][at], second = lane[1][at] + lane[5][at];
        const double third = lane[2][at] + lane[6][at], fourth = lane[3][at] + lane[7][at];
        sums[at] = (first + third) + (second + fourth);
    }
}

// Row-major data: rows read side by side share each query value, which in double would else cost more
// cache bandwidth than the data; and each lane is loaded and stored once for some of its columns.
constexpr std::int64_t rows_together = 4;
constexpr std::int64_t columns_together = 8 * lanes;

// Coordinate-major data: columns of one lane that are added to the sums of a tile of arms at once; and
// enough arms for a piece of a column to be worth fetching, few enough for their lanes, 64 KB, to stay
// in the second-level cache and on the smallest stacks.
constexpr std::int64_t columns_per_lane = 16;
constexpr std::int64_t arms_per_tile = 5120;

inline bool coordinate_major(const Matrix& matrix) {
    const std::int64_t rows = matrix.row_stride, columns = matrix.column_stride;
    return (rows < 0 ? -rows : rows) < (columns < 0 ? -columns : columns);
}

template <class Value>
inline const Value* column_of(const Matrix& matrix, std::int64_t j) {
    return static_cast<const Value*>(matrix.data) + j * matrix.column_stride;
}

inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// Calls f(step) with the distance between the coordinates of a row: contiguous ones are a case of their
// own, which the compiler turns into vectors.
struct One {
    constexpr operator std::int64_t() const { return 1; }
};
template <class F>
inline void with_step(const Matrix& matrix, F&& f) {
    if (matrix.column_stride == 1) return f(One{});
    return f(matrix.column_stride);
}

// Where the value of an arm lies in a column: arms that are neighbours in memory are read as vectors.
struct Neighbours {
    std::int64_t first;
    std::int64_t operator()(std::int64_t at) const { return first + at; }
    static constexpr bool scattered = false;
};
struct Scattered {
    const std::int64_t* ids;
    std::int64_t stride;
    std::int64_t operator()(std::int64_t at) const { return ids[at] * stride; }
    static constexpr bool scattered = true;
};

// Calls f(where) with the way to find the given arms in a column.
template <class F>
inline void with_places(const Matrix& matrix, Arms arms, F&& f) {
    bool neighbours = matrix.row_stride == 1;
    for (std::int64_t at = 1; at < arms.count && neighbours; ++at) {
        neighbours = arms.ids[at] == arms.ids[at - 1] + 1;
    }
    if (neighbours) return f(Neighbours{arms.ids[0]});
    return f(Scattered{arms.ids, matrix.row_stride});
}

// Before a short loop of a fixed length. Left rolled up it becomes one vector operation, while copies of
// its body, which GCC makes first if it may, stay copies. Inside a loop that is to become vectors it must
// be unrolled, which GCC does not do by itself if its body is long.
#if defined(__GNUC__) && !defined(__clang__)
#define SURESHOT_ONE_VECTOR _Pragma("GCC unroll 1")
#define SURESHOT_UNROLLED _Pragma("GCC unroll 16")
#define SURESHOT_ALONE __attribute__((noinline))
#else
#define SURESHOT_ONE_VECTOR
#define SURESHOT_UNROLLED
#define SURESHOT_ALONE
#endif

// Numbers of a row that are added to the lanes at once. Narrow types are widened in a loop of their own:
// a vector of them is longer than the lanes.
template <class Value, class Step, bool narrow = (sizeof(Value) <= 2)>
struct Piece {
    const Value* values;
    Step step;
    double operator[](std::int64_t at) const { return number(values[at * step]); }
};
template <class Value, class Step>
struct Piece<Value, Step, true> {
    double numbers[columns_together];
    Piece(const Value* values, Step step) {
        for (std::int64_t at = 0; at < columns_together; ++at) numbers[at] = number(values[at * step]);
    }
    double operator[](std::int64_t at) const { return numbers[at]; }
};

// Scattered cache lines are asked for this far ahead.
constexpr std::int64_t lines_ahead = 96;

// Into the second-level cache: it has more lines on their way at a time than the first, which doubles
// the speed at which scattered lines arrive.
inline void fetch_ahead(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address, 0, 2);
#else
    (void)address;
#endif
}

// Asks for the values of some arms in one column.
template <class Value, class Where>
inline void fetch_column(const Value* column, Where where, std::int64_t count) {
    constexpr std::int64_t per_line = Where::scattered ? 1 : 64 / sizeof(Value);
    for (std::int64_t at = 0; at < count; at += per_line) fetch_ahead(column + where(at));
}

// Calls add.template operator()<count>(j, lane) for the columns j, j + lanes, ..., `count` of them, all
// of that lane, until every column had its turn; in each lane the columns come in ascending order.
template <class Add>
inline void lane_by_lane(std::int64_t n_columns, Add&& add) {
    constexpr std::int64_t group = lanes * columns_per_lane;
    const std::int64_t whole = n_columns - n_columns % group;
    for (std::int64_t start = 0; start < whole; start += group) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            add.template operator()<columns_per_lane>(start + lane, lane);
        }
    }
    for (std::int64_t j = whole; j < n_columns; ++j) add.template operator()<1>(j, j % lanes);
}

// Asks for the columns that lane_by_lane comes to after j, as far as the matrix goes. Only scattered
// arms need it: the processor itself sees what comes next to neighbours.
template <class Value, class Where>
inline void fetch_next(const Matrix& matrix, std::int64_t j, Where where, std::int64_t count) {
    if constexpr (!Where::scattered) return;
    const bool last_lane = j % lanes == lanes - 1;
    std::int64_t next = j + 1 + (last_lane ? lanes * (columns_per_lane - 1) : 0);
    for (std::int64_t c = 0; c < columns_per_lane && next < matrix.n_columns; ++c, next += lanes) {
        fetch_column(column_of<Value>(matrix, next), where, count);
    }
}

}  // namespace sureshot::SURESHOT_ISA
