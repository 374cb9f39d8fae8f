// The k best of each of several lists of scores.
#pragma once

#include <cstdint>

#include "team.hpp"

namespace sureshot {

// List l is scores[starts[l]] to scores[starts[l + 1]], of the arms at the same places, at least k of them; without
// arms, of 0, 1, ... Writes the k best, best first and ties by the smaller arm, to row l of best_arms and best_scores.
void best_of_each(Team& team, const double* scores, const std::int64_t* arms, const std::int64_t* starts,
                  std::int64_t n_lists, std::int64_t k, std::int64_t* best_arms, double* best_scores);

}  // namespace sureshot
