// The state of a search by betting: what has been read of each arm, the bets against it, and its status.
//
// Arms are named by their position among the searched ones. reading.hpp reads and bets, judging.hpp replays
// the bets, survey.hpp and forecasting.hpp only look. Every arm is handled whole by one thread, so nothing
// depends on the number of threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "bets.hpp"
#include "compiler.hpp"
#include "drawn_steps.hpp"
#include "kept_bets.hpp"
#include "order.hpp"
#include "statuses.hpp"

namespace sureshot {

// The constants of the mathematics; theory/wealth.py has their values and says what they are.
struct BetConstants {
    double largest_loss;
    double softening;
    std::int64_t first_stake;
    std::int64_t halvings;
};

// The constants of predictions, which decide what is read and never what is right; search/race/policy.py has
// their values and says what they are.
struct PredictionRules {
    double eagerness;
    double longest_wait;
    double least_wealth;
    std::int64_t trend_steps;
    double trend_start;
    double trend_renewal;
    double least_growth;
    std::int64_t sampled_arms;
};

// What is known of the arms before anything is read. Arrays have one entry per arm.
struct Setting {
    std::int64_t n_arms;
    const double* scale;         // score per sum of rewards
    const double* limit;         // of y
    const double* square_limit;  // of |row|^2, or null for range bets
    double centres;              // sum of the centres of all blocks
    double magnitude;            // sum of the absolute centres of all coordinates
    double weights;
    double rounding;   // share of the largest possible score that rounding errors stay below
    double floor;      // of the stakes, over the standard deviation
    bool estimated;    // the limit of y is not known, and raised as larger ones are met
    bool two_sided;    // whether |y| is limited, or only y
    bool both_signs;   // the score is the absolute value of the sum
    BetConstants constants;
    PredictionRules rules;
};

// The bets of a stream, replayed to the end of its last full group without reaching the level: a replay at
// the same threshold and at no lower level continues from there.
struct Past {
    double theta = 0.0;
    double log_level = 0.0;
    std::int64_t groups = 0;
    std::uint32_t last = 0;  // of the groups
    Wealth wealth;
    double log = 0.0;  // of the wealth, to the base 2
    std::int64_t earlier = 0;
    double earlier_log = 0.0;

    bool serves(double other_theta, double level) const { return theta == other_theta && log_level <= level; }
};

// What the last replay of each arm found. The wealth is a logarithm to the base 2, the smaller one of both
// signs.
struct Replays {
    Replays(std::size_t n_arms, std::size_t streams, Arena& arena)
        : steps(n_arms, 0, &arena), wealth(n_arms, 0.0, &arena), earlier_steps(n_arms, 0, &arena),
          earlier_wealth(n_arms, 0.0, &arena), pasts(streams, Past{}, &arena) {}

    PerArm<std::int64_t> steps;  // read of the arm then
    PerArm<double> wealth;
    PerArm<std::int64_t> earlier_steps;  // fewer, for the growth since
    PerArm<double> earlier_wealth;       // after those
    PerArm<Past> pasts;                  // of each stream
};

struct Ledger {
    explicit Ledger(const Setting& setting);
    Ledger(const Ledger&) = delete;
    Ledger& operator=(const Ledger&) = delete;

    std::size_t n_arms() const { return status.size(); }
    // Where the bets against an arm are kept: sign 0, and where both signs are bet on, sign 1.
    std::size_t stream(std::size_t arm, std::size_t sign) const { return arm * signs + sign; }
    // Of the y of an arm in what is kept of its bets.
    double unit_of(std::size_t arm) const { return unit * unit_of_scale[arm]; }
    // Whether there is a limit of y to bet with: an estimated one is 0 until a reward is met.
    bool limited() const { return !estimated || limit.front() > 0.0; }
    // The largest that the sum of the rewards of an arm can be, in absolute value.
    double reach(std::size_t arm) const {
        return bet_rules.norms ? std::sqrt(weights * limit[arm]) : weights * std::fabs(limit[arm]);
    }
    // What is known of the sum of an arm: what was read, and the centres of the rest.
    double known_sum(std::size_t arm) const { return drawn.rest(steps[arm]) + (high[arm] + low[arm]); }

    // Fixes what the steps [start, stop) are before they are read; `stakes` says whether to bet on them.
    void record(const Order& order, const double* centre, std::int64_t start, std::int64_t stop, double guess,
                bool stakes);
    // A new limit of y for all arms, larger than the last one.
    void raise_limit(double new_limit);
    // Frees the memory of the bets; no arm can be read or judged after that.
    void forget_bets();
    // The positions of the arms with a status, ascending.
    std::vector<std::int64_t> arms_with(std::int8_t wanted) const {
        return arms_where(status, [wanted](std::int8_t own) { return own == wanted; });
    }
    // How many arms are read round by round, and how many are neither dropped nor known.
    std::int64_t n_active() const {
        return count_where(status, [](std::int8_t own) { return own == active; });
    }
    std::int64_t n_undecided() const {
        return count_where(status, [](std::int8_t own) { return own <= suspended; });
    }
    // Takes the exact scores of some arms, which are known from now on.
    void learn(const std::int64_t* positions, std::int64_t count, const double* exact);
    // The k-th largest exact score, or minus infinity if fewer are known.
    double kth_score(std::int64_t k) const;

    // What is given, and the same for all arms.
    const std::size_t signs;
    const BetRules bet_rules;
    const BetConstants constants;
    const PredictionRules rules;
    const double magnitude, weights, rounding;
    const bool estimated;

    Arena arena;  // of all that follows

    // What is given of each arm.
    PerArm<double> scale, inverse_scale;
    PerArm<double> limit;  // of y for range bets, of |row|^2 for norm bets

    // What has become of each arm.
    Statuses status;
    PerArm<std::int64_t> steps;  // read
    PerArm<double> scores;       // exact, of the known arms
    PerArm<double> estimates;    // of the scores, from what was read
    PerArm<double> errors;       // their standard errors

    // What was read of each arm, added up.
    PerArm<double> high, low;         // high + low: block sums
    PerArm<double> sum, sum_squares;  // y and y^2
    PerArm<double> seen;              // squared data values
    PerArm<double> sum_u, sum_u_squares, sum_u_y;  // for norm bets, in the unit of the arm

    DrawnSteps drawn;
    KeptBets bets;
    Replays replays;

    // Powers of two. The y of an arm are kept in a unit of its own: thresholds for it are in proportion to
    // its inverse scale, and mostly its y are, too. The common factor is chosen when the first y are read.
    double unit = 1.0;
    bool unit_chosen = false;
    PerArm<double> unit_of_scale;

    // Memory that reading reuses: the block sums that each thread reads before it bets on them.
    std::vector<double> tables;
};

}  // namespace sureshot
