// Testing arms at a threshold: the bets against them are replayed, and win if their wealth reaches a level.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger.hpp"
#include "team.hpp"

namespace sureshot {

// Gives the status `beaten` to those of the arms whose bets win at the threshold theta; returns how many.
// `log_level` is the natural logarithm of the level. With arms to be spared, for the end of a round, these, which
// ascend, are left out, and so are the arms whose bets are not yet predicted to come near the level. Without a limit
// of y no bet wins. Throws Cancelled.
std::int64_t judge(Ledger& ledger, Team& team, const std::int64_t* positions, std::int64_t count, double theta,
                   double log_level, std::int8_t beaten, const std::vector<std::int64_t>* spared = nullptr);

// A score, at least `low`, that none of the arms exceeds unless the event of the level's probability happens:
// infinite if nothing limits them. Throws Cancelled.
double ceiling(const Ledger& ledger, Team& team, const std::int64_t* positions, std::int64_t count,
               double log_level, double low);

}  // namespace sureshot
