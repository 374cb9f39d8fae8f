// Compiled once for each instruction set. Arms, or the steps of a group, do not depend on each other:
// the loops over them are written for the compiler to turn into vectors. No operation is fused or
// reordered, so every instruction set gives the same bits.
#include "bets.hpp"

#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

constexpr double tiny = 0x1p-1022;
constexpr double smallest_float = 0x1p-126;
constexpr double half_digit = 0x1p-23;   // at least twice the rounding error of float

inline double larger(double a, double b) { return a > b ? a : b; }

// Not above and not below the value.
inline float rounded_down(double value) {
    return static_cast<float>(value - magnitude_of(value) * half_digit - smallest_float);
}
inline float rounded_up(double value) {
    return static_cast<float>(value + magnitude_of(value) * half_digit + smallest_float);
}

// The stake, to the nearest bfloat16, and the room, up to the next one, in one word.
inline std::uint32_t packed(float stake, float room) {
    const auto stake_bits = __builtin_bit_cast(std::uint32_t, stake);
    const auto room_bits = __builtin_bit_cast(std::uint32_t, room);
    const std::uint32_t positive = ~room_bits >> 31;
    return ((stake_bits + 0x8000u) & 0xffff0000u) | ((room_bits + 0xffffu * positive) >> 16);
}
inline float stake_of(std::uint32_t terms) {
    return __builtin_bit_cast(float, terms & 0xffff0000u);
}
inline float room_of(std::uint32_t terms) { return __builtin_bit_cast(float, terms << 16); }

constexpr std::uint32_t no_bet = 0x7f80u;  // a stake of nothing, infinite room

using Numbers = double[RunningSums::arms];

struct Raw {  // bets before they are made short
    Numbers gap, stake, room;
};

struct Now {  // a step and the rules, prepared once for all arms
    double centre, inverse_weight, inverse_left, guess, stakes, count, inverse_count, inverse_rest;
    double rest, largest_loss, softening, floor;
};

// What the arms have at a step, and what they had before it, for the rewards times a sign: in the units of the
// arms, as everything below. Each step is done in several short loops over the arms, since in a long one most of
// the time would be spent waiting for divisions and roots.
struct Rewards {
    Numbers y, u;
};
struct Past {
    Numbers needed, mean, variance, distance;  // of y: the mean that the guess needs, and how far it is above
};
struct Mass {
    Numbers unseen, drift, spread, common;  // m, m - the mean of u, the variance of u, its covariance with y
};

template <bool norms, bool with_floor>
inline void look_back(const Now& now, const RunningSums& running, double sign, Past& past) {
    SURESHOT_INDEPENDENT
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        const double inverse_unit = running.inverse_unit[at];
        const double mean = sign * running.sum[at] * now.inverse_count * inverse_unit;
        const double second = running.sum_squares[at] * now.inverse_count * inverse_unit * inverse_unit;
        const double scatter = larger(second - mean * mean, 0.0) * now.count + now.softening * second;
        const double known = sign * (now.rest + (running.high[at] + running.low[at]));
        const double needed =
            (now.guess * running.inverse_scale[at] - known) * now.inverse_left * inverse_unit;
        const double variance = scatter * now.inverse_rest + tiny;
        double distance = larger(needed - mean, 0.0);
        if constexpr (norms && with_floor) distance = larger(distance, now.floor * square_root(variance));
        past.needed[at] = needed;
        past.mean[at] = mean;
        past.variance[at] = variance;
        past.distance[at] = distance;
    }
}

inline void weigh(const Now& now, const RunningSums& running, double sign, const Past& past, Mass& mass) {
    const double unbiased = now.count * now.inverse_rest;
    SURESHOT_INDEPENDENT
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        const double inverse_unit = running.inverse_unit[at];
        const double mean = running.sum_u[at] * now.inverse_count;
        const double unseen = larger(running.limit[at] - running.seen[at], 0.0) * now.inverse_left *
                              inverse_unit * inverse_unit;
        const double second = running.sum_u_squares[at] * now.inverse_count;
        const double product = sign * running.sum_u_y[at] * now.inverse_count;
        mass.unseen[at] = unseen;
        mass.drift[at] = unseen - mean;
        mass.spread[at] = larger(second - mean * mean, 0.0) * unbiased;
        mass.common[at] = (product - mean * past.mean[at]) * unbiased;
    }
}

// As `chosen_rho` of theory/wealth.py, and the cap that comes with it. Without stakes, and against arms above the
// guess, rho is the root of m, whose cap allows a certain drop; half_inverse, 1 / 2 rho, is 0 where m is 0.
inline void choose_rho(const Now& now, const Past& past, const Mass& mass, Numbers& half_inverse, Numbers& cap) {
    const bool stakes = now.stakes > 0.0;
    Numbers middle, least;
    SURESHOT_INDEPENDENT
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        const double distance = past.distance[at], square = past.variance[at] + distance * distance;
        const double inverse = 0.5 / (distance * square);  // for two divisions
        const double quiet = mass.spread[at] * distance * inverse * 0.5;
        middle[at] = (mass.drift[at] + now.largest_loss * square) * square * inverse;
        least[at] = (stakes & (quiet > mass.unseen[at]) & (quiet < infinite)) ? quiet : mass.unseen[at];
    }
    SURESHOT_INDEPENDENT
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        const double under_root = middle[at] * (middle[at] - 2.0 * past.needed[at]) + mass.unseen[at];
        const double clipped = middle[at] + square_root(larger(under_root, 0.0));
        const double root = square_root(least[at]);
        const double rho = (stakes & (clipped > root) & (clipped < infinite)) ? clipped : root;
        const double half = rho > 0.0 ? 0.5 / rho : 0.0;
        half_inverse[at] = half;
        cap[at] = 0.5 * rho + mass.unseen[at] * half;
    }
}

// The bets of all arms on one step, for the rewards times `sign`.
template <bool norms, bool with_floor>
inline void place(const Now& now, const RunningSums& running, double sign, const Rewards& rewards, Raw& raw) {
    Past past;
    look_back<norms, with_floor>(now, running, sign, past);
    Numbers half_inverse, gain, square;
    Mass mass;
    if constexpr (norms) {
        weigh(now, running, sign, past, mass);
        Numbers cap;
        choose_rho(now, past, mass, half_inverse, cap);
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
            const double distance = past.distance[at], variance = past.variance[at], half = half_inverse[at];
            const double less = larger(distance - mass.drift[at] * half, 0.0);
            const double risk = larger(variance - half * (2.0 * mass.common[at] - half * mass.spread[at]), 0.0);
            const double first = variance + distance * distance, second = risk + less * less;
            const bool better = less * first > distance * second;
            gain[at] = better ? less : distance;
            square[at] = better ? second : first;
            raw.gap[at] = past.needed[at] - (sign * rewards.y[at] - (rewards.u[at] - mass.unseen[at]) * half);
            raw.room[at] = cap[at] - past.needed[at];
        }
    } else {
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
            gain[at] = past.distance[at];
            square[at] = past.variance[at] + past.distance[at] * past.distance[at];
            raw.gap[at] = past.needed[at] - sign * rewards.y[at];
            raw.room[at] = running.limit[at] * running.inverse_unit[at] - past.needed[at];
        }
    }
    SURESHOT_INDEPENDENT
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        double stake = gain[at] / square[at];
        if constexpr (with_floor) stake = larger(stake, now.floor / square_root(past.variance[at]));
        if constexpr (norms) stake = ((past.distance[at] > 0.0) & (half_inverse[at] > 0.0)) ? stake : 0.0;
        raw.stake[at] = stake * now.stakes;
    }
}

// One type at a time: loops that mix them do not become vectors.
inline void shorten(const Raw& raw, float* gap, std::uint32_t* terms) {
    float stake[RunningSums::arms], room[RunningSums::arms];
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) gap[at] = rounded_down(raw.gap[at]);
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) stake[at] = static_cast<float>(raw.stake[at]);
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) room[at] = rounded_up(raw.room[at]);
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) terms[at] = packed(stake[at], room[at]);
}

template <bool norms, bool with_floor, bool both_signs, bool two_sided>
void place_steps(const Step* steps, const BetRules& rules, const double* const* sums,
                 const double* const* squares, std::int64_t count, std::int64_t slot, RunningSums& running,
                 Placed& placed) {
    for (std::int64_t s = 0; s < count; ++s) {
        const Step& step = steps[s];
        const auto before = static_cast<double>(running.steps + s);
        const Now now{step.centre,
                      1.0 / step.weight,
                      1.0 / step.left,
                      step.guess,
                      step.stakes,
                      before,
                      1.0 / (before > 1.0 ? before : 1.0),
                      1.0 / (before > 2.0 ? before - 1.0 : 1.0),
                      step.rest,
                      rules.largest_loss,
                      rules.softening,
                      rules.floor};
        const double* row = sums[s];
        const double* square_row = norms ? squares[s] : sums[s];
        Rewards rewards;
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
            const double inverse_unit = running.inverse_unit[at];
            rewards.y[at] = (row[at] - now.centre) * now.inverse_weight * inverse_unit;
            if constexpr (norms) rewards.u[at] = square_row[at] * now.inverse_weight * inverse_unit * inverse_unit;
        }
        Raw raw, other;
        place<norms, with_floor>(now, running, 1.0, rewards, raw);
        if constexpr (both_signs) place<norms, with_floor>(now, running, -1.0, rewards, other);
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
            const double reward = row[at];
            const double y = (reward - now.centre) * now.inverse_weight;
            const double extent = two_sided ? magnitude_of(y) : y;
            running.worst[at] = extent <= running.worst[at] ? running.worst[at] : extent;  // keeps a NaN
            running.sum[at] += y;
            running.sum_squares[at] += y * y;
            if constexpr (norms) {
                running.seen[at] += square_row[at];
                running.sum_u[at] += rewards.u[at];
                running.sum_u_squares[at] += rewards.u[at] * rewards.u[at];
                running.sum_u_y[at] += rewards.u[at] * rewards.y[at];
            }
            const double high = running.high[at] + reward;  // Knuth's exact addition
            const double part = high - running.high[at];
            running.low[at] += (running.high[at] - (high - part)) + (reward - part);
            running.high[at] = high;
        }
        shorten(raw, placed.gap[0][slot + s], placed.terms[0][slot + s]);
        if constexpr (both_signs) shorten(other, placed.gap[1][slot + s], placed.terms[1][slot + s]);
    }
    running.steps += count;
}

template <bool norms, bool with_floor, bool both_signs>
auto choose_sides(bool two_sided) {
    return two_sided ? place_steps<norms, with_floor, both_signs, true>
                     : place_steps<norms, with_floor, both_signs, false>;
}

template <bool norms, bool with_floor>
auto choose_signs(const BetRules& rules) {
    return rules.both_signs ? choose_sides<norms, with_floor, true>(rules.two_sided)
                            : choose_sides<norms, with_floor, false>(rules.two_sided);
}

// Words in a row that are transposed together.
constexpr std::int64_t together = 16;
#if defined(SURESHOT_EXTENSIONS) && !defined(__clang__)
using Words [[gnu::vector_size(64)]] = std::uint32_t;

// In four passes, each of which halves the distance of what belongs together: row r and row r + 8 are
// shuffled into each other, and become the rows 2r and 2r + 1.
template <class Word>
inline void transpose(const Word* from, Word* const* to) {
    static_assert(sizeof(Word) == sizeof(std::uint32_t));
    constexpr Words low = {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23};
    constexpr Words high = {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    Words rows[together], shuffled[together];
    for (std::int64_t r = 0; r < together; ++r) copy_bytes(&rows[r], from + r * RunningSums::arms, 64);
    SURESHOT_UNROLLED
    for (int pass = 0; pass < 4; ++pass) {
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < together / 2; ++r) {
            shuffled[2 * r] = __builtin_shuffle(rows[r], rows[r + 8], low);
            shuffled[2 * r + 1] = __builtin_shuffle(rows[r], rows[r + 8], high);
        }
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < together; ++r) rows[r] = shuffled[r];
    }
    for (std::int64_t r = 0; r < together; ++r) copy_bytes(to[r], &rows[r], 64);
}
#else
template <class Word>
inline void transpose(const Word* from, Word* const* to) {
    for (std::int64_t column = 0; column < together; ++column) {
        for (std::int64_t r = 0; r < together; ++r) to[column][r] = from[r * RunningSums::arms + column];
    }
}
#endif

inline void multiply(Wealth& wealth, double factor) {
    wealth.value *= factor;
    if (wealth.value < 0x1p-400) {
        wealth.value *= 0x1p400;
        ++wealth.below;
    } else if (wealth.below > 0 && wealth.value > 1.0) {
        wealth.value *= 0x1p-400;
        --wealth.below;
    }
}

// The logarithm to the base 2, with straight lines between the powers of two.
inline double logarithm(const Wealth& wealth) {
    const auto bits = __builtin_bit_cast(std::int64_t, wealth.value);
    return static_cast<double>(bits - 0x3ff0000000000000) * 0x1p-52 - 400.0 * wealth.below;
}

// The product of the factors of a group, always in the same order.
inline float product(const float* factor) {
    float eight[8], four[4];
    for (int s = 0; s < 8; ++s) eight[s] = factor[s] * factor[s + 8];
    for (int s = 0; s < 4; ++s) four[s] = eight[s] * eight[s + 4];
    return (four[0] * four[2]) * (four[1] * four[3]);
}

}  // namespace

void place_bets(const Step* steps, const BetRules& rules, const double* const* sums,
                const double* const* squares, std::int64_t count, std::int64_t slot, RunningSums& running,
                Placed& placed) noexcept {
    const bool with_floor = rules.floor > 0.0;
    const auto place = rules.norms
                           ? (with_floor ? choose_signs<true, true>(rules) : choose_signs<true, false>(rules))
                           : (with_floor ? choose_signs<false, true>(rules) : choose_signs<false, false>(rules));
    place(steps, rules, sums, squares, count, slot, running, placed);
}

void keep_bets(const Placed& placed, Group* const* groups, std::int64_t arms, std::int64_t signs,
               std::int64_t slot, std::int64_t count) noexcept {
    for (std::int64_t sign = 0; sign < signs; ++sign) {
        std::int64_t arm = 0;
        if (count == steps_per_group) {
            for (; arm + together <= arms; arm += together) {
                float* gap[together];
                std::uint32_t* terms[together];
                for (std::int64_t at = 0; at < together; ++at) {
                    Group& group = *groups[(arm + at) * signs + sign];
                    gap[at] = group.gap;
                    terms[at] = group.terms;
                }
                transpose(&placed.gap[sign][0][arm], gap);
                transpose(&placed.terms[sign][0][arm], terms);
            }
        }
        for (; arm < arms; ++arm) {
            Group& group = *groups[arm * signs + sign];
            if (slot == 0) {
                // Places that are not filled yet hold bets of nothing.
                for (std::int64_t s = count; s < steps_per_group; ++s) {
                    group.gap[s] = 0.0f;
                    group.terms[s] = no_bet;
                }
            }
            for (std::int64_t s = slot; s < slot + count; ++s) {
                group.gap[s] = placed.gap[sign][s][arm];
                group.terms[s] = placed.terms[sign][s][arm];
            }
        }
    }
}

void estimate(const RunningSums& running, const BetRules& rules, double left, double rest, double* sums,
              double* errors) noexcept {
    const double inverse_count = 1.0 / (running.steps > 0 ? static_cast<double>(running.steps) : 1.0);
    for (std::int64_t at = 0; at < RunningSums::arms; ++at) {
        const double mean = running.sum[at] * inverse_count;
        const double variance = larger(running.sum_squares[at] * inverse_count - mean * mean, 0.0);
        const double sum = rest + (running.high[at] + running.low[at]) + mean * left;
        sums[at] = rules.both_signs ? magnitude_of(sum) : sum;
        errors[at] = left * square_root(variance * inverse_count);
    }
}

double log_wealth(const Chains& chains, std::uint32_t first, std::int64_t count, const Replay& replay,
                  Wealth& wealth, std::uint32_t& last) noexcept {
    constexpr float most = 64.0f;  // of one factor: sixteen of them are still a float
    constexpr std::uint32_t within_slab = (1u << Chains::slab_bits) - 1;
    const auto group_at = [&](std::uint32_t at) {
        return chains.slabs[at >> Chains::slab_bits] + (at & within_slab);
    };
    const Group* group = group_at(first);
    std::uint32_t at = first;
    for (std::int64_t g = 0; g < count; ++g) {
        at = g + 1 < count ? chains.next[at] : at;
        const Group* next = group_at(at);
        fetch_nearest(next);
        fetch_nearest(next->terms);
        const float* offset = replay.offset + g * steps_per_group;
        const float* inverse_left = replay.inverse_left + g * steps_per_group;
        float factor[steps_per_group];
        int certain = 0;
        SURESHOT_ONE_VECTOR
        for (std::int64_t s = 0; s < steps_per_group; ++s) {
            const float d = offset[s] * replay.inverse_scale - inverse_left[s] * replay.guard;
            const float room = room_of(group->terms[s]) - d;
            const float cap = replay.largest_loss / room;
            const float stake = stake_of(group->terms[s]);
            const float size = stake < cap ? stake : cap;
            const float growth = size * (group->gap[s] + d);
            const float grown = 1.0f + (growth - magnitude_of(growth) * 0x1p-21f);
            factor[s] = grown > most ? most : grown;  // keeps a NaN, which never reaches a level
            certain |= room <= 0.0f;
        }
        // The score is certainly below the threshold, for all values that are still unread.
        if (certain) return infinite;
        multiply(wealth, static_cast<double>(product(factor)));
        if (wealth.below == 0 && wealth.value >= replay.level) return infinite;
        group = next;
    }
    if (count > 0) last = at;
    return logarithm(wealth);
}

void raise_rooms(Group& group, double by) noexcept {
    for (std::int64_t s = 0; s < steps_per_group; ++s) {
        const float room = rounded_up(static_cast<double>(room_of(group.terms[s])) + by);
        group.terms[s] = packed(stake_of(group.terms[s]), room);
    }
}

}  // namespace sureshot::SURESHOT_ISA
