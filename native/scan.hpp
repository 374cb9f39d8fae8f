// One pass over whole rows for what bounds a row: its largest scaled distance from the middle, and
// its squared norm. Computed in double.
#pragma once

#include "matrix.hpp"

namespace sureshot {

// reach[row] = max_j |value - middle[j]| * unit[j], NaN if a value is; squares[row] = sum of squares.
void scan_rows(const Matrix& matrix, const double* middle, const double* unit, int threads,
               double* reach, double* squares);

}  // namespace sureshot
