// Compiled once for each instruction set. Arms, or the steps of a group, do not depend on each other:
// the loops over them are written for the compiler to turn into vectors. No operation is fused or
// reordered, so every instruction set gives the same bits.
#include "bets.hpp"

#include "kernels.hpp"
#include "layout.hpp"

#if defined(__GNUC__) && !defined(__clang__)
#define SURESHOT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SURESHOT_INDEPENDENT
#endif

namespace sureshot::SURESHOT_ISA {
namespace {

constexpr double largest_loss = 0.99;    // C of theory/wealth.py
constexpr double softening = 1e-6;       // SOFTENING
constexpr double tiny = 0x1p-1022;
constexpr double smallest_float = 0x1p-126;
constexpr double half_digit = 0x1p-23;   // at least twice the rounding error of float
constexpr double infinite = __builtin_inf();

inline double larger(double a, double b) { return a > b ? a : b; }

// Not above and not below the value.
inline float rounded_down(double value) {
    return static_cast<float>(value - __builtin_fabs(value) * half_digit - smallest_float);
}
inline float rounded_up(double value) {
    return static_cast<float>(value + __builtin_fabs(value) * half_digit + smallest_float);
}

inline std::uint16_t short_nearest(float value) {
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    return static_cast<std::uint16_t>((bits + 0x8000u) >> 16);
}
inline std::uint16_t short_up(float value) {
    const auto bits = __builtin_bit_cast(std::uint32_t, value);
    const std::uint32_t positive = ~bits >> 31;
    return static_cast<std::uint16_t>((bits + 0xffffu * positive) >> 16);
}
inline float widened(std::uint16_t value) {
    return __builtin_bit_cast(float, static_cast<std::uint32_t>(value) << 16);
}

struct Raw {  // bets before they are made short
    double gap[Tile::arms], stake[Tile::arms], room[Tile::arms];
};

struct Now {  // of a step, prepared once for all arms
    double centre, inverse_weight, inverse_left, guess, stakes, count, inverse_count, inverse_rest;
    double base, floor, unit, inverse_unit;
};

// The bet of one arm on one step, for the rewards times `sign`.
template <bool norms, bool with_floor>
inline __attribute__((always_inline)) void place(const Now& now, const Tile& tile, std::int64_t at,
                                                 double sign, double y, double square, Raw& raw) {
    const double mean = sign * tile.sum[at] * now.inverse_count;
    const double second = tile.sum_squares[at] * now.inverse_count;
    const double scatter = larger(second - mean * mean, 0.0) * now.count + softening * second;
    const double variance = scatter * now.inverse_rest + tiny;
    const double known = sign * (now.base + tile.drawn[at]);
    const double needed = (now.guess * tile.inverse_scale[at] - known) * now.inverse_left;
    const double distance = larger(needed - mean, 0.0);
    double stake = distance / (variance + distance * distance);
    if constexpr (with_floor) stake = larger(stake, now.floor / __builtin_sqrt(variance));
    stake *= now.stakes;

    double payoff = sign * y;
    double cap = tile.limit[at];
    if constexpr (norms) {
        const double unseen = larger(tile.limit[at] - tile.seen[at], 0.0) * now.inverse_left;
        const double root = __builtin_sqrt(unseen);
        const double wanted = needed + largest_loss / larger(stake, tiny);
        const double above = __builtin_sqrt(larger(wanted * wanted - unseen, 0.0));
        const double rho = wanted > root ? wanted + above : root;
        const bool bet = (stake > 0.0) & (rho > 0.0) & (rho < infinite);
        const double half_inverse = bet ? 0.5 / rho : 0.0;
        stake = bet ? stake : 0.0;
        payoff = payoff - (square * now.inverse_weight - unseen) * half_inverse;
        cap = bet ? 0.5 * rho + unseen * half_inverse : root;
    }
    raw.gap[at] = (needed - payoff) * now.inverse_unit;
    raw.stake[at] = stake * now.unit;
    raw.room[at] = (cap - needed) * now.inverse_unit;
}

// One type at a time: loops that mix them do not become vectors.
inline void shorten(const Raw& raw, float* gap, std::uint16_t* stake, std::uint16_t* room) {
    float rounded[Tile::arms];
    for (std::int64_t at = 0; at < Tile::arms; ++at) gap[at] = rounded_down(raw.gap[at]);
    for (std::int64_t at = 0; at < Tile::arms; ++at) rounded[at] = static_cast<float>(raw.stake[at]);
    for (std::int64_t at = 0; at < Tile::arms; ++at) stake[at] = short_nearest(rounded[at]);
    for (std::int64_t at = 0; at < Tile::arms; ++at) rounded[at] = rounded_up(raw.room[at]);
    for (std::int64_t at = 0; at < Tile::arms; ++at) room[at] = short_up(rounded[at]);
}

template <bool norms, bool with_floor, bool both_signs, bool two_sided>
void place_steps(const Step* steps, const Terms& terms, const double* const* sums,
                 const double* const* squares, std::int64_t count, std::int64_t slot, Tile& tile,
                 Placed& placed) {
    for (std::int64_t s = 0; s < count; ++s) {
        const Step& step = steps[s];
        const auto before = static_cast<double>(tile.steps + s);
        const Now now{step.centre,
                      1.0 / step.weight,
                      1.0 / step.left,
                      step.guess,
                      step.stakes,
                      before,
                      1.0 / (before > 1.0 ? before : 1.0),
                      1.0 / (before > 2.0 ? before - 1.0 : 1.0),
                      terms.base,
                      terms.floor,
                      terms.unit,
                      1.0 / terms.unit};
        const double* row = sums[s];
        const double* square_row = norms ? squares[s] : sums[s];
        Raw raw, other;
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < Tile::arms; ++at) {
            const double reward = row[at];
            const double square = norms ? square_row[at] : 0.0;
            const double y = (reward - now.centre) * now.inverse_weight;
            place<norms, with_floor>(now, tile, at, 1.0, y, square, raw);
            if constexpr (both_signs) place<norms, with_floor>(now, tile, at, -1.0, y, square, other);
            const double extent = two_sided ? __builtin_fabs(y) : y;
            tile.worst[at] = extent <= tile.worst[at] ? tile.worst[at] : extent;  // keeps a NaN
            tile.sum[at] += y;
            tile.sum_squares[at] += y * y;
            tile.drawn[at] += reward - now.centre;
            tile.seen[at] += square;
            const double high = tile.high[at] + reward;  // Knuth's exact addition
            const double part = high - tile.high[at];
            tile.low[at] += (tile.high[at] - (high - part)) + (reward - part);
            tile.high[at] = high;
        }
        shorten(raw, placed.gap[0][slot + s], placed.stake[0][slot + s], placed.room[0][slot + s]);
        if constexpr (both_signs) {
            shorten(other, placed.gap[1][slot + s], placed.stake[1][slot + s], placed.room[1][slot + s]);
        }
    }
    tile.steps += count;
}

template <bool norms, bool with_floor, bool both_signs>
auto choose_sides(bool two_sided) {
    return two_sided ? place_steps<norms, with_floor, both_signs, true>
                     : place_steps<norms, with_floor, both_signs, false>;
}

template <bool norms, bool with_floor>
auto choose_signs(const Terms& terms) {
    return terms.both_signs ? choose_sides<norms, with_floor, true>(terms.two_sided)
                            : choose_sides<norms, with_floor, false>(terms.two_sided);
}

// The wealth of one arm, kept as a multiple of 2^-400 to the power of `below`: it may lose hundreds of
// orders of magnitude and win them back.
struct Wealth {
    double value = 1.0;
    int below = 0;

    void multiply(double factor) {
        value *= factor;
        if (value < 0x1p-400) {
            value *= 0x1p400;
            ++below;
        } else if (below > 0 && value > 1.0) {
            value *= 0x1p-400;
            --below;
        }
    }

    // The logarithm to the base 2, with straight lines between the powers of two.
    double logarithm() const {
        const auto bits = __builtin_bit_cast(std::int64_t, value);
        return static_cast<double>(bits - 0x3ff0000000000000) * 0x1p-52 - 400.0 * below;
    }
};

// The product of the factors of a group, always in the same order.
inline float product(const float* factor) {
    float eight[8], four[4];
    for (int s = 0; s < 8; ++s) eight[s] = factor[s] * factor[s + 8];
    for (int s = 0; s < 4; ++s) four[s] = eight[s] * eight[s + 4];
    return (four[0] * four[2]) * (four[1] * four[3]);
}

}  // namespace

void place_bets(const Step* steps, const Terms& terms, const double* const* sums,
                const double* const* squares, std::int64_t count, std::int64_t slot, Tile& tile,
                Placed& placed) noexcept {
    const bool with_floor = terms.floor > 0.0;
    const auto place = terms.norms
                           ? (with_floor ? choose_signs<true, true>(terms) : choose_signs<true, false>(terms))
                           : (with_floor ? choose_signs<false, true>(terms) : choose_signs<false, false>(terms));
    place(steps, terms, sums, squares, count, slot, tile, placed);
}

void keep_bets(const Placed& placed, Group* const* groups, std::int64_t arms, std::int64_t signs,
               std::int64_t slot, std::int64_t count) noexcept {
    for (std::int64_t arm = 0; arm < arms; ++arm) {
        for (std::int64_t sign = 0; sign < signs; ++sign) {
            Group& group = *groups[arm * signs + sign];
            if (slot == 0) {
                // Places that are not filled yet hold bets of nothing.
                for (std::int64_t s = count; s < steps_per_group; ++s) {
                    group.gap[s] = 0.0f;
                    group.stake[s] = 0;
                    group.room[s] = 0x7f80;  // infinite
                }
            }
            for (std::int64_t s = slot; s < slot + count; ++s) {
                group.gap[s] = placed.gap[sign][s][arm];
                group.stake[s] = placed.stake[sign][s][arm];
                group.room[s] = placed.room[sign][s][arm];
            }
        }
    }
}

void estimate(const Tile& tile, const Terms& terms, double left, double* sums, double* errors) noexcept {
    const double inverse_count = 1.0 / (tile.steps > 0 ? static_cast<double>(tile.steps) : 1.0);
    for (std::int64_t at = 0; at < Tile::arms; ++at) {
        const double mean = tile.sum[at] * inverse_count;
        const double variance = larger(tile.sum_squares[at] * inverse_count - mean * mean, 0.0);
        const double sum = terms.base + tile.drawn[at] + mean * left;
        sums[at] = terms.both_signs ? __builtin_fabs(sum) : sum;
        errors[at] = left * __builtin_sqrt(variance * inverse_count);
    }
}

double log_wealth(const Chains& chains, std::uint32_t first, std::int64_t count,
                  const Replay& replay) noexcept {
    constexpr float most = 64.0f;  // of one factor: sixteen of them are still a float
    constexpr std::uint32_t within_slab = (1u << Chains::slab_bits) - 1;
    Wealth wealth;
    const auto group_at = [&](std::uint32_t at) {
        return chains.slabs[at >> Chains::slab_bits] + (at & within_slab);
    };
    const Group* group = group_at(first);
    std::uint32_t at = first;
    for (std::int64_t g = 0; g < count; ++g) {
        at = g + 1 < count ? chains.next[at] : at;
        const Group* next = group_at(at);
        __builtin_prefetch(next);
        __builtin_prefetch(next->stake);
        const float* offset = replay.offset + g * steps_per_group;
        const float* inverse_left = replay.inverse_left + g * steps_per_group;
        float factor[steps_per_group];
        int certain = 0;
        SURESHOT_ONE_VECTOR
        for (std::int64_t s = 0; s < steps_per_group; ++s) {
            const float d = offset[s] * replay.inverse_scale - inverse_left[s] * replay.guard;
            const float room = widened(group->room[s]) - d;
            const float cap = static_cast<float>(largest_loss) / room;
            const float stake = widened(group->stake[s]);
            const float size = stake < cap ? stake : cap;
            const float growth = size * (group->gap[s] + d);
            const float grown = 1.0f + (growth - __builtin_fabsf(growth) * 0x1p-21f);
            factor[s] = grown > most ? most : grown;  // keeps a NaN, which never wins
            certain |= room <= 0.0f;
        }
        // The score is certainly below: what is left cannot make up for what is missing.
        if (certain) return infinite;
        wealth.multiply(static_cast<double>(product(factor)));
        if (wealth.below == 0 && wealth.value >= replay.level) return infinite;
        group = next;
    }
    return wealth.logarithm();
}

void raise_rooms(Group& group, double by) noexcept {
    for (std::int64_t s = 0; s < steps_per_group; ++s) {
        group.room[s] = short_up(rounded_up(static_cast<double>(widened(group.room[s])) + by));
    }
}

}  // namespace sureshot::SURESHOT_ISA
