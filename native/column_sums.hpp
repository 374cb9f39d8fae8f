// Sums over some columns of coordinate-major data, wherever these lie.
#pragma once

#include "matrix.hpp"
#include "query_values.hpp"
#include "team.hpp"

namespace sureshot {

// sums[arm]: the rewards of the arm in the columns of the given blocks, added one after the other. Throws Cancelled, and
// std::bad_alloc before anything is read.
void column_sums(Team& team, const Matrix& matrix, Metric metric, const QueryValues& query, Arms arms, Blocks blocks,
                 double* sums);

}  // namespace sureshot
