// The pass of a screen, as those of passes.hpp.
#pragma once

#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// scores: [query][arm], computed in float32; squares, unless null: the squared norm, from the same pass.
void screen(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
            Arms arms, double* scores, double* squares);

}  // namespace sureshot
