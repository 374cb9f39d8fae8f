// The block sums of coordinate-major data. For kernels: one copy for each instruction set.
#pragma once

#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

// See BlockSums.
void column_block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks, double* sums,
                       std::int64_t stride, double* squares) noexcept;

}  // namespace sureshot::SURESHOT_ISA
