// Scores of one query in float32, for a screen.
#pragma once

#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

// Adds to the sums, and to the squares unless null, of rows that are screened in place.
void screen_alone(const Matrix& matrix, Metric metric, const float* query, Arms arms, std::int64_t begin,
                  std::int64_t end, double* sums, double* squares) noexcept;

}  // namespace sureshot::SURESHOT_ISA
