// The wealth of the bets against each arm, replayed from the first step: the same formulas as
// theory/wealth.py, which is the reference the tests compare with.
#pragma once

#include <cstdint>

#include "team.hpp"

namespace sureshot {

// What the bets are made of. Step arrays have one entry per step, arm arrays one per arm.
struct Bets {
    std::int64_t steps;
    std::int64_t arms;
    const double* sums;          // [step][arm], contiguous in arms
    const double* squares;       // [step][arm], or null for range bets
    const double* centre;        // [step]
    const double* weight;        // [step]
    const double* left;          // [step]
    const double* guess;         // [step], a score
    const double* scale;         // [arm], score per sum of rewards
    const double* limit;         // [arm], of y for range bets, of |row|^2 for norm bets
    double base;                 // what is known of every arm before the first step
    double sign;                 // 1, or -1 to bet on the negated rewards
    double floor;                // stakes are at least this over the standard deviation
    std::int64_t first_bet;      // no stakes before this step
};

// peaks[arm]: the largest wealth ever reached if the sum of rewards were theta[arm], at least 1;
// infinite if the sum is certainly below. Wealth is capped at 1e250, which is enough for any delta.
void peak_wealth(const Bets& bets, const double* theta, Team& team, double* peaks);

}  // namespace sureshot
