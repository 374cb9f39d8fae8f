#include "wealth.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

// One copy of the loops for each instruction set, chosen when the library is loaded. No operation is
// fused or reordered, so all of them give the same bits.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define SURESHOT_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define SURESHOT_CLONES
#endif

// Arms do not depend on each other.
#if defined(__GNUC__) && !defined(__clang__)
#define SURESHOT_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SURESHOT_INDEPENDENT
#endif

namespace sureshot {
namespace {

constexpr std::int64_t arms_per_tile = 64;
constexpr double largest_loss = 0.99;      // C of theory/wealth.py
constexpr double softening = 1e-6;         // SOFTENING
constexpr std::int64_t first_stake = 4;    // FIRST_STAKE
constexpr double enough = 1e250;
constexpr double step_down = 0x1p400;      // a power of two, so that no digit is lost
constexpr double tiny = std::numeric_limits<double>::min();
constexpr double infinite = std::numeric_limits<double>::infinity();

// The running sums of a tile of arms; everything in them comes from earlier steps.
struct Tile {
    double sum[arms_per_tile] = {};
    double sum_squares[arms_per_tile] = {};
    double drawn[arms_per_tile] = {};
    double seen[arms_per_tile] = {};
    double below[arms_per_tile] = {};
    double wealth[arms_per_tile];
    double peak[arms_per_tile];
};

struct Step {
    double centre, weight, left, guess, count, floor, sign, base;
    double stakes;  // 1, or 0 where no stake is allowed
};

inline double larger(double a, double b) { return a > b ? a : b; }
inline double smaller(double a, double b) { return a < b ? a : b; }

// One step of one arm. Everything a vector needs is an argument or a local: no pointer can alias.
template <bool with_norms>
inline __attribute__((always_inline)) void bet_one(const Step& step, Tile& tile, std::int64_t at,
                                                   double reward, double square, double scale,
                                                   double limit, double theta) {
    const double y = (reward - step.centre) * step.sign / step.weight;
    const double known = step.base + tile.drawn[at];
    const double seen = larger(step.count, 1.0);
    const double mean = tile.sum[at] / seen;
    const double second = tile.sum_squares[at] / seen;
    const double scatter = larger(second - mean * mean, 0.0) * step.count + softening * second;
    const double variance = scatter / larger(step.count - 1.0, 1.0) + tiny;
    const double wanted_mean = (step.guess / scale - known) / step.left;
    const double distance = larger(wanted_mean - mean, 0.0);
    double stake = distance / (variance + distance * distance);
    stake = larger(stake, step.floor / std::sqrt(variance));
    stake *= step.stakes;

    double payoff = y;
    double cap = limit;
    if constexpr (with_norms) {
        const double unseen = larger(limit - tile.seen[at], 0.0) / step.left;
        const double root = std::sqrt(unseen);
        const double wanted = wanted_mean + largest_loss / larger(stake, tiny);
        const double above = std::sqrt(larger(wanted * wanted - unseen, 0.0));
        const double rho = wanted > root ? wanted + above : root;
        const bool bet = stake > 0.0 && rho > 0.0 && rho < infinite;
        const double safe = bet ? rho : 1.0;
        stake = bet ? stake : 0.0;
        payoff = y - (square / step.weight - unseen) / (2.0 * safe);
        cap = bet ? rho / 2.0 + unseen / (2.0 * safe) : root;
        tile.seen[at] += square;
    }
    const double needed = theta / step.left - known / step.left;
    const double room = cap - needed;
    const double size = smaller(stake, largest_loss / (room > 0.0 ? room : 1.0));
    const double grown = tile.wealth[at] * (1.0 + size * (needed - payoff));
    const double wealth = smaller(room > 0.0 ? grown : infinite, enough);
    // An arm may lose hundreds of orders of magnitude and win them back, so wealth below 1 / step_down
    // is kept as a multiple of it: `below` counts how often.
    const double down = wealth < 1.0 / step_down ? 1.0 : 0.0;
    const double up = wealth > 1.0 && tile.below[at] > 0.0 ? 1.0 : 0.0;
    tile.below[at] += down - up;
    const double kept = wealth * (down > 0.0 ? step_down : 1.0) * (up > 0.0 ? 1.0 / step_down : 1.0);
    tile.wealth[at] = kept;
    const double reached = tile.below[at] > 0.0 ? 0.0 : kept;
    tile.peak[at] = larger(tile.peak[at], room > 0.0 ? reached : infinite);
    tile.sum[at] += y;
    tile.sum_squares[at] += y * y;
    tile.drawn[at] += step.weight * y;
}

Step step_of(const Bets& bets, std::int64_t s) {
    return {bets.centre[s], bets.weight[s], bets.left[s], bets.guess[s], static_cast<double>(s),
            bets.floor,     bets.sign,      bets.sign * bets.base,
            s >= std::max(first_stake, bets.first_bet) ? 1.0 : 0.0};
}

SURESHOT_CLONES void range_tile(const Bets& bets, const double* theta, std::int64_t begin,
                                std::int64_t count, Tile& tile) {
    const double* scale = bets.scale + begin;
    const double* limit = bets.limit + begin;
    theta += begin;
    for (std::int64_t s = 0; s < bets.steps; ++s) {
        const Step step = step_of(bets, s);
        const double* sums = bets.sums + s * bets.arms + begin;
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < count; ++at) {
            bet_one<false>(step, tile, at, sums[at], 0.0, scale[at], limit[at], theta[at]);
        }
    }
}

SURESHOT_CLONES void norm_tile(const Bets& bets, const double* theta, std::int64_t begin,
                               std::int64_t count, Tile& tile) {
    const double* scale = bets.scale + begin;
    const double* limit = bets.limit + begin;
    theta += begin;
    for (std::int64_t s = 0; s < bets.steps; ++s) {
        const Step step = step_of(bets, s);
        const double* sums = bets.sums + s * bets.arms + begin;
        const double* squares = bets.squares + s * bets.arms + begin;
        SURESHOT_INDEPENDENT
        for (std::int64_t at = 0; at < count; ++at) {
            bet_one<true>(step, tile, at, sums[at], squares[at], scale[at], limit[at], theta[at]);
        }
    }
}

}  // namespace

void peak_wealth(const Bets& bets, const double* theta, Team& team, double* peaks) {
    // A step of one arm costs about as much as reading 8 numbers.
    team.run(bets.arms, 8 * bets.steps, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t first = begin; first < end; first += arms_per_tile) {
            const std::int64_t count = std::min(arms_per_tile, end - first);
            Tile tile;
            std::fill(tile.wealth, tile.wealth + arms_per_tile, 1.0);
            std::fill(tile.peak, tile.peak + arms_per_tile, 1.0);
            if (bets.squares != nullptr) {
                norm_tile(bets, theta, first, count, tile);
            } else {
                range_tile(bets, theta, first, count, tile);
            }
            std::copy(tile.peak, tile.peak + count, peaks + first);
        }
    });
}

}  // namespace sureshot
