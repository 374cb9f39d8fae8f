// The k best of a list of scores, or of each of several lists.
#pragma once

#include <cstdint>

#include "team.hpp"

namespace sureshot {

// Writes the k best of at least k arms, best first and ties by the smaller arm.
void best(const double* scores, const std::int64_t* arms, std::int64_t count, std::int64_t k, std::int64_t* best_arms,
          double* best_scores);

// The same for several lists: list l is scores[starts[l]] to scores[starts[l + 1]], of the arms at the same
// places, or of 0, 1, ... without arms. Its k best are row l of best_arms and best_scores.
void best_of_each(Team& team, const double* scores, const std::int64_t* arms, const std::int64_t* starts,
                  std::int64_t n_lists, std::int64_t k, std::int64_t* best_arms, double* best_scores);

}  // namespace sureshot
