// Predictions of how far arms must be read until the bets against them win. They decide what is read next:
// the guarantee holds for any prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "ledger.hpp"
#include "team.hpp"

namespace sureshot {

// Of all undecided arms together, in steps.
struct RemainingSteps {
    double needed = 0.0;  // until the bets against them win, on average, at most what is unread
    double unread = 0.0;
};

// All of them test at the threshold theta and the level whose natural logarithm is given; `length` is how many
// steps an arm has.
RemainingSteps remaining_steps(const Ledger& ledger, Team& team, std::int64_t length, double theta,
                               double log_level);

// The steps that each of the arms needs until the bets against it win. The estimate of an arm that seems to lie
// at the threshold is taken to be a standard error off.
std::vector<double> needed_steps(const Ledger& ledger, const std::int64_t* positions, std::int64_t count,
                                 std::int64_t length, double theta, double log_level);

// The step at which the bets have won against that share of the active arms, if their wealth goes on to grow
// as it did of late; 0 if too little is known.
double predicted_front(const Ledger& ledger, double share, double log_level);

// The k-th largest of the exact scores and of the estimates, each of which is moved towards their mean by the
// share of its spread that is error.
double likely_threshold(const Ledger& ledger, std::int64_t k);

}  // namespace sureshot
