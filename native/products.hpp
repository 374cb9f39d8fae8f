// Inner products of rows and queries in float32, for a selection.
#pragma once

#include <cstdint>
#include <optional>

#include "matrix.hpp"
#include "strips.hpp"
#include "team.hpp"

namespace sureshot {

// How many of so many queries an operand takes that is multiplied with so many rows: packed queries take memory.
std::int64_t queries_together(std::int64_t count, std::int64_t width, std::int64_t n_rows);

// The queries of a product, which are borrowed: as the kernels read them, packed if they are many.
class Operand {
 public:
    // For products with so many rows. Throws Cancelled.
    Operand(Team& team, const float* queries, std::int64_t count, std::int64_t width, std::int64_t n_rows);

    std::int64_t count() const { return count_; }
    std::int64_t width() const { return width_; }
    // How often a term of a product is rounded at most, to float32.
    std::int64_t roundings() const;

    // Fills scores [arm][query] with the products of some arms, of any type but float64, and the queries, which have as
    // many columns as the matrix; and squares with the squared norm of each arm. Throws Cancelled.
    void multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;

 private:
    void multiply_as_they_are(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;

    const float* queries_;
    std::int64_t count_, width_;
    std::optional<Strips> strips_;  // if they are packed once
    bool by_panel_ = false;         // whether they are packed for some rows at a time
};

}  // namespace sureshot
