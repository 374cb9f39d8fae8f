// Some columns of some rows, copied so that each row lies together: for rows of coordinate-major data that are read more
// than once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "isa.hpp"

namespace sureshot {

// Room for the copy, in floats or, of float64, in doubles. Taken before a job begins, by each thread for itself.
class CopiedRows {
 public:
    // No room if rows are to be read where they are.
    CopiedRows(const Matrix& matrix, bool copied, std::int64_t rows, std::int64_t columns)
        : stride_(columns + line_numbers), wide_(matrix.element == Element::float64) {
        if (!copied) return;
        (wide_ ? doubles_.resize(size(rows)) : floats_.resize(size(rows)));
        ids_.resize(static_cast<std::size_t>(rows));
        std::iota(ids_.begin(), ids_.end(), 0);
    }

    // Copies the columns [begin, end) of some rows, and returns them as a matrix.
    Matrix copy(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end) {
        if (wide_) {
            kernels().widen_rows_to_doubles(matrix, arms, begin, end, doubles_.data(), stride_);
            return {doubles_.data(), Element::float64, arms.count, end - begin, stride_, 1};
        }
        kernels().widen_rows(matrix, arms, begin, end, floats_.data(), stride_);
        return {floats_.data(), Element::float32, arms.count, end - begin, stride_, 1};
    }

    // The first rows of a copy.
    Arms first(std::int64_t count) const { return {ids_.data(), count}; }

 private:
    // Rows lie so much farther apart than they are long: no power of two, so that they do not share lines of the caches.
    static constexpr std::int64_t line_numbers = 16;

    std::size_t size(std::int64_t rows) const { return static_cast<std::size_t>(rows * stride_); }

    std::int64_t stride_;
    bool wide_;
    std::vector<float> floats_;
    std::vector<double> doubles_;
    std::vector<std::int64_t> ids_;
};

}  // namespace sureshot
