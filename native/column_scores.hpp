// Scores of arms of coordinate-major data.
#pragma once

#include "scoring.hpp"
#include "team.hpp"

namespace sureshot {

// The scores of arms that are far apart: each of their values comes in a cache line of its own.
void score_few(Team& team, const Matrix& matrix, const Scoring<double>& scoring, Arms arms);

// The scores of other arms, whose columns are read together.
void score_by_column(Team& team, const Matrix& matrix, const Scoring<double>& scoring, Arms arms);

}  // namespace sureshot
