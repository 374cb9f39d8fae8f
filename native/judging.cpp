#include "judging.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "compiler.hpp"
#include "isa.hpp"

namespace sureshot {
namespace {

// More than the relative error of a few operations with floats, and more than the absolute error of those
// whose result is too small for a float.
constexpr double float_rounding = 0x1p-21;
constexpr double smallest_guard = 0x1p-120;
// To begin a replay takes about as long as to read so many numbers.
constexpr std::int64_t numbers_worth_a_replay = 0x100;
// As a float it can still be multiplied by the scale of an arm.
constexpr double largest_offset = 1e30;

// A threshold and a level, and what replays at this threshold need of each step.
struct Test {
    double theta;
    double log_level;
    double level = std::exp(log_level);
    std::vector<float> offset, inverse_left;  // as in Replay, padded to whole groups

    Test(const Ledger& ledger, double theta, double log_level) : theta(theta), log_level(log_level) {
        const auto padded = static_cast<std::size_t>(groups_of(ledger.drawn.count()) * steps_per_group);
        offset.resize(padded, 0.0f);
        inverse_left.resize(padded, 0.0f);
        for (std::int64_t s = 0; s < ledger.drawn.count(); ++s) {
            const Step& step = ledger.drawn[s];
            const double exact = (theta - step.guess) / (step.left * ledger.unit);
            const double lower = exact - float_rounding * std::fabs(exact);
            const auto at = static_cast<std::size_t>(s);
            offset[at] = static_cast<float>(std::min(lower, largest_offset));
            inverse_left[at] = static_cast<float>(ledger.weights / step.left * (1.0 + float_rounding));
        }
    }
};

// The logarithm of a wealth, to the base 2, and what it was after fewer steps.
struct Grown {
    double log;
    std::int64_t earlier_steps;
    double earlier_log;
};

// The replays of one arm at one threshold.
class ArmReplay {
 public:
    ArmReplay(const Ledger& ledger, std::size_t arm, const Test& test)
        : ledger_(ledger), test_(test), chains_(ledger.bets.chains()), steps_(ledger.steps[arm]) {
        const double raw = (std::fabs(test.theta) + ledger.drawn.largest_guess()) * ledger.inverse_scale[arm];
        const double guard = std::max(ledger.rounding * (ledger.magnitude + ledger.reach(arm) + raw) /
                                          (ledger.weights * ledger.unit_of(arm)),
                                      smallest_guard);
        inverse_scale_ = static_cast<float>(ledger.inverse_scale[arm] / ledger.unit_of_scale[arm]);
        guard_ = static_cast<float>(guard * (1.0 + float_rounding));
        largest_loss_ = static_cast<float>(ledger.constants.largest_loss);
        level_ = test.level * (1.0 + float_rounding * static_cast<double>(steps_));
    }

    // Replays a stream from where `past` ended, and moves `past` on to its last full group.
    Grown continued(std::size_t stream, Past& past) const {
        const std::int64_t groups = groups_of(steps_), full = steps_ / steps_per_group;
        if (!past.serves(test_.theta, test_.log_level)) past = Past{};
        past.theta = test_.theta;
        past.log_level = test_.log_level;
        // The growth of late is that since a part of the steps, or since the last replay.
        const PredictionRules& rules = ledger_.rules;
        const auto share_of_full = [&](double share) { return share * static_cast<double>(full); };
        if (past.groups == 0) {
            replay_to(static_cast<std::int64_t>(share_of_full(rules.trend_start)), stream, past);
        }
        if (static_cast<double>(past.groups) <= share_of_full(rules.trend_renewal)) {
            past.earlier = past.groups * steps_per_group;
            past.earlier_log = past.log;
        }
        if (past.log < infinite) replay_to(full, stream, past);
        double found = past.log;
        if (found < infinite && groups > full) {
            // The last group is not full yet: it is replayed again next time.
            Wealth wealth = past.wealth;
            std::uint32_t last = past.last;
            found = replay(next_group(stream, past), past.groups, groups, wealth, last);
        }
        return {found, past.earlier, past.earlier_log};
    }

 private:
    std::uint32_t next_group(std::size_t stream, const Past& past) const {
        return past.groups == 0 ? ledger_.bets.first(stream) : ledger_.bets.next(past.last);
    }

    void replay_to(std::int64_t stop, std::size_t stream, Past& past) const {
        if (stop == past.groups) return;
        past.log = replay(next_group(stream, past), past.groups, stop, past.wealth, past.last);
        past.groups = stop;
    }

    // The groups [from, to), of which `first` is the first one.
    double replay(std::uint32_t first, std::int64_t from, std::int64_t to, Wealth& wealth,
                  std::uint32_t& last) const {
        const Replay groups{test_.offset.data() + from * steps_per_group,
                            test_.inverse_left.data() + from * steps_per_group,
                            inverse_scale_, guard_, largest_loss_, level_};
        return kernels().log_wealth(chains_, first, to - from, groups, wealth, last);
    }

    const Ledger& ledger_;
    const Test& test_;
    Chains chains_;
    std::int64_t steps_;
    float inverse_scale_, guard_, largest_loss_;
    double level_;
};

// A score that an arm certainly does not exceed.
double certain_limit(const Ledger& ledger, std::int64_t position) {
    const auto arm = static_cast<std::size_t>(position);
    const double left = ledger.drawn.left(ledger.steps[arm]), limit = ledger.limit[arm];
    const double ahead = ledger.bet_rules.norms ? std::sqrt(left * std::max(limit - ledger.seen[arm], 0.0))
                                                : left * limit;
    const double so_far = ledger.known_sum(arm);
    const double guard = ledger.rounding * (ledger.magnitude + std::fabs(so_far) + ledger.reach(arm));
    return ledger.scale[arm] * ((ledger.signs == 2 ? std::fabs(so_far) : so_far) + ahead + guard);
}

// The wealth of the bets against an arm, the smaller of both signs; infinite if they win. `pasts` has where the
// replay of each stream begins, and gets where it ended; null for replays from the start.
Grown log_wealth(const Ledger& ledger, std::int64_t position, const Test& test, PerArm<Past>* pasts) {
    const auto arm = static_cast<std::size_t>(position);
    if (ledger.steps[arm] == 0) {
        const double lowest = test.theta - ledger.rounding * std::fabs(test.theta);
        return {certain_limit(ledger, position) < lowest ? infinite : -infinite, 0, 0.0};
    }
    const ArmReplay replay(ledger, arm, test);
    Grown least{infinite, 0, 0.0};
    for (std::size_t sign = 0; sign < ledger.signs; ++sign) {
        const std::size_t stream = ledger.stream(arm, sign);
        Past past = pasts == nullptr ? Past{} : (*pasts)[stream];
        const Grown found = replay.continued(stream, past);
        if (pasts != nullptr) (*pasts)[stream] = found.log < infinite ? past : Past{};
        if (found.log < least.log) least = found;
    }
    return least;
}

// Asks for the bets of an arm before they are needed: they lie scattered, round by round.
void fetch_bets(const Ledger& ledger, std::int64_t position, const Test& test) {
    const auto arm = static_cast<std::size_t>(position);
    const KeptBets& bets = ledger.bets;
    const std::int64_t groups = groups_of(ledger.steps[arm]);
    for (std::size_t sign = 0; sign < ledger.signs; ++sign) {
        const std::size_t stream = ledger.stream(arm, sign);
        const Past& past = ledger.replays.pasts[stream];
        const bool anew = !past.serves(test.theta, test.log_level) || past.groups == 0;
        std::int64_t g = anew ? 0 : past.groups;
        if (g >= groups) continue;
        for (std::uint32_t at = anew ? bets.first(stream) : bets.next(past.last);; at = bets.next(at)) {
            fetch_ahead(&bets.group(at));
            fetch_ahead(bets.group(at).terms);
            if (++g == groups) break;
        }
    }
}

// Wealth grows exponentially: from its logarithm, the step at which it comes near the level is predicted.
bool worth_judging(const Ledger& ledger, std::size_t arm, double wanted) {
    const PredictionRules& rules = ledger.rules;
    const double wealth = std::max(ledger.replays.wealth[arm], rules.least_wealth);
    const double longer = std::clamp(rules.eagerness * wanted / wealth, 1.0, rules.longest_wait);
    return static_cast<double>(ledger.steps[arm]) >= longer * static_cast<double>(ledger.replays.steps[arm]);
}

// The smallest score, between `low` and `high`, at which the bets against all of the arms win.
double common_limit(const Ledger& ledger, Team& team, const std::int64_t* positions, std::int64_t count,
                    double log_level, double low, double high) {
    for (std::int64_t halving = 0; halving < ledger.constants.halvings && high > low; ++halving) {
        const double middle = low + (high - low) / 2;
        const Test test(ledger, middle, log_level);
        std::atomic<bool> all{true};
        team.run(count, 2 * ledger.drawn.count(), [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t p = begin; p < end && all; ++p) {
                if (log_wealth(ledger, positions[p], test, nullptr).log < infinite) all = false;
            }
        });
        (all ? high : low) = middle;
    }
    return high;
}

// Those of the arms against which the bets do not win.
std::vector<std::int64_t> unbeaten(const Ledger& ledger, Team& team, const std::vector<std::int64_t>& arms,
                                   const Test& test) {
    std::vector<std::int8_t> beaten(arms.size(), 0);
    team.run(static_cast<std::int64_t>(arms.size()), 2 * ledger.drawn.count(),
             [&](std::int64_t begin, std::int64_t end) noexcept {
                 for (auto at = static_cast<std::size_t>(begin); at < static_cast<std::size_t>(end); ++at) {
                     beaten[at] = log_wealth(ledger, arms[at], test, nullptr).log == infinite;
                 }
             });
    std::vector<std::int64_t> found;
    for (std::size_t at = 0; at < arms.size(); ++at) {
        if (!beaten[at]) found.push_back(arms[at]);
    }
    return found;
}

}  // namespace

std::int64_t judge(Ledger& ledger, Team& team, const std::int64_t* positions, std::int64_t count, double theta,
                   double log_level, std::int8_t beaten, const std::vector<std::int64_t>* spared) {
    if (!ledger.limited()) return 0;
    const Test test(ledger, theta, log_level);
    const double wanted = log_level / std::log(2.0);
    // The first of the arms from p on that is judged, if there is one before `end`.
    const auto next_judged = [&](std::int64_t p, std::int64_t end) {
        if (spared == nullptr) return p;
        for (; p < end; ++p) {
            if (!worth_judging(ledger, static_cast<std::size_t>(positions[p]), wanted)) continue;
            if (!std::binary_search(spared->begin(), spared->end(), positions[p])) break;
        }
        return p;
    };
    Replays& replays = ledger.replays;
    std::atomic<std::int64_t> number{0};
    team.run(count, numbers_worth_a_replay + 2 * ledger.drawn.count(), [&](std::int64_t begin, std::int64_t end) noexcept {
        std::int64_t own = 0;
        for (std::int64_t p = next_judged(begin, end), next = p; p < end; p = next) {
            next = next_judged(p + 1, end);
            if (next < end) fetch_bets(ledger, positions[next], test);
            const Grown found = log_wealth(ledger, positions[p], test, &replays.pasts);
            const auto arm = static_cast<std::size_t>(positions[p]);
            if (found.log == infinite) {
                ledger.status[arm] = beaten;
                ++own;
            } else {
                replays.steps[arm] = ledger.steps[arm];
                replays.wealth[arm] = found.log;
                replays.earlier_steps[arm] = found.earlier_steps;
                replays.earlier_wealth[arm] = found.earlier_log;
            }
        }
        number += own;
    });
    return number;
}

double ceiling(const Ledger& ledger, Team& team, const std::int64_t* positions, std::int64_t count,
               double log_level, double low) {
    double top = low;
    for (std::int64_t p = 0; p < count; ++p) top = std::max(top, certain_limit(ledger, positions[p]));
    if (!std::isfinite(top) || !ledger.limited()) return infinite;
    // Wealth never decreases in the threshold, so the largest limit of all arms is the largest one of any parts
    // of them: a few arms that seem best give a threshold at which nearly all of the others are beaten, too.
    std::vector<std::int64_t> left;
    left.reserve(static_cast<std::size_t>(count));
    double found = low;
    for (std::int64_t p = 0; p < count; ++p) {
        // Without a bet nothing more is known of an arm than what is certain.
        if (ledger.steps[static_cast<std::size_t>(positions[p])] > 0)
            left.push_back(positions[p]);
        else
            found = std::max(found, certain_limit(ledger, positions[p]));
    }
    while (!left.empty()) {
        // As many as make the bisection about as expensive as the test of all others.
        const auto few = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(left.size()))));
        std::partial_sort(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(few), left.end(),
                          [&](std::int64_t one, std::int64_t other) {
                              const double a = ledger.estimates[static_cast<std::size_t>(one)];
                              const double b = ledger.estimates[static_cast<std::size_t>(other)];
                              return a != b ? a > b : one < other;
                          });
        const std::int64_t n_few = static_cast<std::int64_t>(few);
        found = std::max(found, common_limit(ledger, team, left.data(), n_few, log_level, low, top));
        left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(few));
        left = unbeaten(ledger, team, left, Test(ledger, found, log_level));
    }
    return found;
}

}  // namespace sureshot
