// Inner products of rows and queries in float32, for a selection.
#pragma once

#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// How many queries of this width can be packed at a time; 0 if that takes too much memory for a number that pays.
std::int64_t packed_together(std::int64_t width);

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
    void multiply_packed(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;
    void multiply_as_they_are(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;

    const float* queries_;
    std::int64_t count_, width_;
    std::int64_t panel_;  // columns that are added up before they are added to a score
    Arena room_;
    // The strips of some queries and the columns of one panel, for each panel and in it for each few queries. Empty
    // unless the queries are packed.
    std::vector<float*> strips_;
};

}  // namespace sureshot
