// What kernels read. The data matrix is borrowed from the caller, has any strides, and is never copied.
#pragma once

#include <cstdint>

namespace sureshot {

enum class Element { float16, bfloat16, float32, float64, int8, uint8, int16, boolean };

enum class Metric { inner_product, squared_euclidean, l1 };

struct Matrix {
    const void* data;
    Element element;
    std::int64_t n_rows;
    std::int64_t n_columns;
    std::int64_t row_stride;     // in elements, may be negative
    std::int64_t column_stride;  // in elements, may be negative
};

// Bytes of a value. Static, as everything here that is a function: each file has a copy of its own, made for
// its instruction set.
static inline std::int64_t size_of(Element element) {
    constexpr std::int64_t sizes[] = {2, 2, 4, 8, 1, 1, 2, 1};  // in the order of Element
    return sizes[static_cast<int>(element)];
}

// The blocks of a row: block b holds the coordinates from b * size - shift on, as many as `size` and as
// the row has. The first one is short by the shift, so that the others can begin with a cache line.
struct Blocks {
    const std::int64_t* ids;
    std::int64_t count;
    std::int64_t size;
    std::int64_t shift;
};

struct Arms {
    const std::int64_t* ids;
    std::int64_t count;
};

// Where the values of some arms lie in a column of coordinate-major data: those of `ids`, or without them
// neighbours in memory from the row `first` on, which are read as vectors.
struct Places {
    const std::int64_t* ids;
    std::int64_t first;
    std::int64_t count;
};

static inline bool coordinate_major(const Matrix& matrix) {
    const std::int64_t rows = matrix.row_stride, columns = matrix.column_stride;
    return (rows < 0 ? -rows : rows) < (columns < 0 ? -columns : columns);
}

// A sum over a whole row is made in this many interleaved partial sums: coordinate j in lane j % lanes.
constexpr std::int64_t lanes = 8;

// What totals fill, one entry per arm. high + low is the total in twice the precision of double: it
// does not depend on the order or the grouping of the blocks, so equal rows have equal totals.
struct Totals {
    double* high;
    double* low;
    double* largest;  // the largest |sum - centre| / weight over the blocks, if high is finite
};

}  // namespace sureshot
