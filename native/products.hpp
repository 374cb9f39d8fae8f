// Inner products of rows and queries in float32, for a selection.
#pragma once

#include <cstdint>

#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// Fills scores [arm][query] with the products of some arms, of any type but float64, and queries, of as many columns as
// the matrix has; and squares with the squared norm of each arm. Terms are rounded to float32 at most as often as
// product_roundings says, plus once for each product_columns. Throws Cancelled.
void multiply(Team& team, const Matrix& matrix, Arms arms, const float* queries, std::int64_t n_queries, float* scores,
              double* squares);

}  // namespace sureshot
