// The data matrix as the kernels see it: somebody else's memory, any strides, never copied.
#pragma once

#include <cstdint>

namespace sureshot {

enum class Element { float32, float64, int8, uint8, int16, boolean };

struct Matrix {
    const void* data;
    Element element;
    std::int64_t n_rows;
    std::int64_t n_columns;
    std::int64_t row_stride;     // in elements, may be negative
    std::int64_t column_stride;  // in elements, may be negative
};

// The blocks of a row: block b holds the coordinates [b * size, min((b + 1) * size, n_columns)).
struct Blocks {
    const std::int64_t* ids;
    std::int64_t count;
    std::int64_t size;
};

struct Arms {
    const std::int64_t* ids;
    std::int64_t count;
};

// Whether the given arms are neighbours in memory at every coordinate: then a loop over them is one
// over contiguous values, which the compiler turns into vectors.
inline bool contiguous(const Matrix& matrix, const std::int64_t* arms, std::int64_t count) {
    if (matrix.row_stride != 1) return false;
    for (std::int64_t at = 1; at < count; ++at) {
        if (arms[at] != arms[at - 1] + 1) return false;
    }
    return count > 0;
}

}  // namespace sureshot
