// What a round has come to: the arms that seem best, and which of the others are beaten.
#pragma once

#include <cstdint>

#include "ledger.hpp"
#include "survey.hpp"
#include "team.hpp"

namespace sureshot {

// What verdicts are made by.
struct Terms {
    std::int64_t k;
    double caution;    // standard errors, as in a survey
    double threshold;  // the k-th largest exact score, minus infinity if fewer are known
    double epsilon;    // that may be lost
    double log_level;  // the natural logarithm of the level
};

// Surveys the arms, suspends the active ones that are beaten at the guess, or drops them if the guess is the
// threshold. The arms that seem best stay to be evaluated: with epsilon > 0 even they are beaten. Of the survey that
// is returned, the guess is at least the threshold, and what it says of the others is what is left of them. Throws
// Cancelled.
Survey take_stock(Ledger& ledger, Team& team, const Terms& terms);

}  // namespace sureshot
