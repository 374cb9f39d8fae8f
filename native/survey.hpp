// The arms that seem best, and how many others there are.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger.hpp"

namespace sureshot {

struct Survey {
    double guess = -infinite;              // the k-th largest of exact scores and cautious estimates
    std::vector<std::int64_t> candidates;  // active arms among the k largest scores and estimates, ascending
    std::int64_t others = 0;               // active arms that are not
    std::int64_t runner_up = -1;           // the one of them with the largest estimate, or -1
    double waste = 0.0;                    // candidates that are predicted not to be among the k best, if there is one
};

// The guess and the candidates; `arms` are the active ones. A cautious estimate is `caution` standard errors below the
// estimate.
Survey seeming_best(const Ledger& ledger, const std::vector<std::int64_t>& arms, std::int64_t k, double caution);

// The active arms that are no candidates, ascending.
std::vector<std::int64_t> other_arms(const Ledger& ledger, const Survey& survey);

// Looks at the other active arms.
void count_others(const Ledger& ledger, Survey& survey);

}  // namespace sureshot
