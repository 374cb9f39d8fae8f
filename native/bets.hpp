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
    std::uint32_t terms[steps_per_group];  // the stake above, the room below, both bfloat16
};

// The groups of all arms, in slabs; those of one arm form a chain.
struct Chains {
    static constexpr int slab_bits = 14;
    Group* const* slabs;
    const std::uint32_t* next;
};

// What a step is, the same for all arms.
struct Step {
    double centre;
    double weight;
    double left;    // weight not yet drawn before the step
    double rest;    // the centres of the blocks not yet drawn, added up
    double guess;   // of the final threshold, a score, made before the step; 0 if there was none
    double stakes;  // 1, or 0 where no stake is allowed
};

// The running sums of the arms that are bet against together; everything in them comes from earlier
// steps.
struct Tile {
    static constexpr std::int64_t arms = 32;
    std::int64_t steps;        // read before, the same for all
    double sum[arms];          // of y
    double sum_squares[arms];  // of y^2
    double high[arms];         // high + low: of block sums, in twice the precision of double
    double low[arms];
    double seen[arms];         // of squared data values
    double inverse_scale[arms];
    double unit[arms];         // of y in what is kept: a power of two that keeps short numbers in their range
    double limit[arms];        // of y for range bets, of |row|^2 for norm bets
    double worst[arms];        // the largest |y|, or y if only that is limited; NaN if one was
};

struct Terms {
    double floor;      // stakes are at least this over the standard deviation
    bool norms;        // norm bets, else range bets
    bool two_sided;    // whether |y| is limited, or only y
    bool both_signs;   // bets on the negated rewards as well
};

// Where placed bets go before they are put into groups: [sign][step of a group][arm].
struct Placed {
    float gap[2][steps_per_group][Tile::arms];
    std::uint32_t terms[2][steps_per_group][Tile::arms];
};

// The wealth of the bets on some first steps, a multiple of 2^-400 to the power of `below`: it may lose
// hundreds of orders of magnitude and win them back.
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
    double level;               // of the wealth
};

}  // namespace sureshot
