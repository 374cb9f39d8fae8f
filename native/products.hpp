// Inner products of rows and queries in float32, for a selection.
#pragma once

#include <cstdint>
#include <memory>

#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// Numbers that are packed at most: of more than these, 64 MB, there is no copy.
constexpr std::int64_t most_packed = std::int64_t{1} << 24;

// The queries of a product, as the kernels read them: packed if they are many, and as they are, borrowed, if not.
class Operand {
 public:
    // Throws Cancelled.
    Operand(Team& team, const float* queries, std::int64_t count, std::int64_t width);

    std::int64_t count() const { return count_; }
    std::int64_t width() const { return width_; }
    // How often a term of a product is rounded at most, to float32.
    std::int64_t roundings() const;

    // Fills scores [arm][query] with the products of some arms, of any type but float64, and the queries, which have as
    // many columns as the matrix; and squares with the squared norm of each arm. Throws Cancelled.
    void multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;

 private:
    struct Free {
        void operator()(float* numbers) const;
    };
    void multiply_packed(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;
    void multiply_as_they_are(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;

    const float* queries_;
    std::int64_t count_, width_;
    std::unique_ptr<float[], Free> strips_;  // those of the first columns, then those of the next, and so on; or null
};

}  // namespace sureshot
