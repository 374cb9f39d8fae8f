// Bets against arms: placed once, when a step is read, and replayed at any threshold later.
//
// The formulas are those of theory/wealth.py. A placed bet is kept as three numbers that do not depend
// on the threshold: with m the mean that the unread part would need to reach the step's guess,
//     gap = m - payoff, room = cap - m, stake,
// its factor at the threshold theta is 1 + min(stake, C / (room - d)) (gap + d), where
// d = (theta - guess) / left. Kept numbers are short, and rounded so that no factor grows by it: the
// gap down, and the room, which only makes a bet smaller, up. A rounded stake is as good as any.
#pragma once

#include <cstdint>

namespace sureshot {

constexpr std::int64_t steps_per_group = 16;

// Bets of one arm on consecutive steps: two cache lines.
struct alignas(64) Group {
    float gap[steps_per_group];
    std::uint32_t terms[steps_per_group];  // upper half: the stake, lower half: the room, both bfloat16
};
constexpr std::int64_t bytes_of_bet = sizeof(Group) / steps_per_group;

// Where the groups of all arms lie: in slabs, each group with the number of the next one of its arm.
struct Chains {
    static constexpr int slab_bits = 14;
    Group* const* slabs;
    const std::uint32_t* next;
};

// What all arms have in common at a step.
struct Step {
    double centre;  // of the block that is drawn
    double weight;
    double left;    // weight not yet drawn before the step
    double rest;    // the centres of the blocks not yet drawn, added up
    double guess;   // of the final threshold, a score, made before the step; 0 if there was none
    double stakes;  // 1, or 0 where no stake is allowed
};

// The sums of some arms over the steps before the one that is bet on: bets use nothing later.
struct RunningSums {
    static constexpr std::int64_t arms = 32;
    std::int64_t steps;        // read before, the same for all arms
    double sum[arms];          // of y
    double sum_squares[arms];  // of y^2
    double high[arms];         // high + low: of block sums, in twice the precision of double
    double low[arms];
    double seen[arms];         // of squared data values
    double sum_u[arms];        // of u, for norm bets; this and the next two in the unit of the arm
    double sum_u_squares[arms];
    double sum_u_y[arms];      // of u y
    double inverse_scale[arms];
    double inverse_unit[arms];  // of y in what is kept: a power of two that keeps numbers in their range
    double limit[arms];        // of y for range bets, of |row|^2 for norm bets
    double worst[arms];        // the largest |y|, or y if only that is limited; NaN if any was NaN
};

// How bets are placed, the same for all arms and steps.
struct BetRules {
    double largest_loss;  // C of theory/wealth.py: the largest share of the wealth that a bet may lose
    double softening;     // SOFTENING of theory/wealth.py: of the mean square, added to the scatter
    double floor;         // stakes are at least this over the standard deviation
    bool norms;           // norm bets, else range bets
    bool two_sided;       // whether |y| is limited, or only y
    bool both_signs;      // bets on the negated rewards as well
};

// Where placed bets go before they are put into groups: [sign][step of a group][arm].
struct Placed {
    float gap[2][steps_per_group][RunningSums::arms];
    std::uint32_t terms[2][steps_per_group][RunningSums::arms];
};

// The wealth of the bets on some first steps: value * 2^(-400 below). It may lose hundreds of orders of
// magnitude and win them back.
struct Wealth {
    double value = 1.0;
    int below = 0;
};

// One arm in a replay, in its own unit: d = offset * inverse_scale - inverse_left * guard for each step.
struct Replay {
    const float* offset;        // (theta - guess) / left, rounded down
    const float* inverse_left;  // rounded up
    float inverse_scale;
    float guard;
    float largest_loss;         // as in BetRules
    double level;               // of the wealth
};

}  // namespace sureshot
