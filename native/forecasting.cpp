#include "forecasting.hpp"

#include <algorithm>
#include <cmath>

#include "largest.hpp"
#include "power_of_two.hpp"

namespace sureshot {
namespace {

constexpr double pi = 3.14159265358979323846;
// Standard errors.
constexpr double far = 4.0;

// To predict for one arm takes about as long as to read so many numbers.
constexpr std::int64_t numbers_worth_an_arm = 0x100;

// The mean of y of an arm below the mean that a threshold requires, in the units of y, and what bets can make
// of it.
struct Gap {
    double distance, variance, error;
    double largest_stake;

    // With d the distance of the means and v the variance, the log wealth grows by
    // stake d - stake^2 (v + d^2) / 2 a step. An arm that seems to lie at the threshold is a standard error or
    // so away from it.
    double growth() const {
        const double positive = std::max(distance, 0.0);
        const double d = std::sqrt(positive * positive + error * error);
        const double square = variance + d * d;
        if (!(square > 0.0)) return 0.0;
        const double stake = std::min(d / square, largest_stake);
        return stake * (d - stake * square / 2.0);
    }

    // The density at distance 0, in standard errors, of where the arm may be if it is not above.
    double closeness() const {
        if (!(error > 0.0)) return distance > 0.0 ? 0.0 : infinite;
        const double z = distance / error;
        if (z < -30.0) return -z;  // the limit of the quotient below, which would be 0 / 0
        if (z > far) return 0.0;   // most arms: below 2e-4
        return std::sqrt(2.0 / pi) * std::exp(-z * z / 2.0) / std::erfc(-z / std::sqrt(2.0));
    }
};

Gap gap(const Ledger& ledger, std::size_t arm, double theta) {
    const auto count = static_cast<double>(ledger.steps[arm]);
    const double left = ledger.drawn.left(ledger.steps[arm]);
    const double so_far = ledger.known_sum(arm);
    const double mean = ledger.sum[arm] / count, second = ledger.sum_squares[arm] / count;
    const double sign = ledger.signs == 2 && so_far + mean * left < 0.0 ? -1.0 : 1.0;
    const double required = (theta * ledger.inverse_scale[arm] - sign * so_far) / left;
    // As for the bets: an arm that has been constant so far may not stay so.
    const double variance =
        std::max(second - mean * mean, 0.0) + ledger.constants.softening * second / count;
    // Norm bets choose their cap with the stake. What unseen mass costs them shows in the growth of their wealth.
    const double room = ledger.limit[arm] - required;
    const bool unlimited = ledger.bet_rules.norms || room <= 0.0;
    const double largest_stake = unlimited ? infinite : ledger.constants.largest_loss / room;
    return {required - sign * mean, variance, std::sqrt(variance / count), largest_stake};
}

// What the logarithm of the wealth lacked at the last replay.
double missing_wealth(const Ledger& ledger, std::size_t arm, double log_level) {
    return log_level - ledger.replays.wealth[arm] * std::log(2.0);
}

// The step by which the bets win if their wealth goes on to grow as it did of late; 0 if too few are known.
double won_by(const Ledger& ledger, std::size_t arm, double log_level) {
    const Replays& replays = ledger.replays;
    if (replays.steps[arm] < ledger.rules.trend_steps) return 0.0;
    const double grown = std::max(replays.wealth[arm] - replays.earlier_wealth[arm], ledger.rules.least_growth) *
                         std::log(2.0);
    return static_cast<double>(replays.steps[arm]) +
           missing_wealth(ledger, arm, log_level) / grown *
               static_cast<double>(replays.steps[arm] - replays.earlier_steps[arm]);
}

// The larger one of what the estimate and the growth of the wealth predict. `spread` adds what an arm costs on
// average because it may lie much closer to the threshold than it seems.
double needed(const Ledger& ledger, std::size_t arm, double theta, double log_level, std::int64_t length,
              bool spread) {
    const auto unread = static_cast<double>(length - ledger.steps[arm]);
    if (ledger.steps[arm] == 0 || unread <= 0.0 || !ledger.limited()) return unread;
    const auto count = static_cast<double>(ledger.steps[arm]);
    const Gap its = gap(ledger, arm, theta);
    const double missing = missing_wealth(ledger, arm, log_level);
    double total = static_cast<double>(ledger.replays.steps[arm]) + missing / its.growth();
    total = std::max(total, won_by(ledger, arm, log_level));
    double more = std::max(total - count, 0.0);
    // An arm at a distance of x standard errors needs 2 missing count / x^2 steps, at most what is unread: a
    // few that lie very close need more than all others together.
    if (spread) more += 2.0 * std::sqrt(2.0 * missing * count * unread) * its.closeness();
    return more < unread ? more : unread;  // all of them, too, where nothing can be predicted: a NaN
}

// The share of the variance of the estimates, each in units of its error, that is no error. A few arms may have been
// nearly constant so far: none counts for more than one that is far away.
double share_of_long_rows(const Ledger& ledger, double mean) {
    double number = 0.0, sum = 0.0;
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        if (ledger.steps[arm] == 0 || !(ledger.errors[arm] > 0.0)) continue;
        const double off = (ledger.estimates[arm] - mean) / ledger.errors[arm];
        number += 1.0;
        sum += std::fabs(off) < far ? off * off : far * far;
    }
    return sum > number ? 1.0 - number / sum : 0.0;
}

}  // namespace

RemainingSteps remaining_steps(const Ledger& ledger, Team& team, std::int64_t length, double theta,
                               double log_level) {
    const auto of = [&](const std::vector<std::int64_t>& arms, std::int64_t stride) {
        RemainingSteps found;
        for (const std::int64_t position : arms) {
            found.unread += static_cast<double>(length - ledger.steps[static_cast<std::size_t>(position)]);
        }
        const auto count = static_cast<std::int64_t>(arms.size());
        std::vector<double> each(static_cast<std::size_t>((count + stride - 1) / stride));
        const auto sampled = static_cast<std::int64_t>(each.size());
        team.run(sampled, numbers_worth_an_arm, [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t at = begin; at < end; ++at) {
                const auto arm = static_cast<std::size_t>(arms[static_cast<std::size_t>(at * stride)]);
                each[static_cast<std::size_t>(at)] = needed(ledger, arm, theta, log_level, length, true);
            }
        });
        for (const double its : each) found.needed += its;
        if (sampled > 0) found.needed *= static_cast<double>(count) / static_cast<double>(sampled);
        return found;
    };
    // The bets against suspended arms have won once, so none of them decides: a sample is enough.
    const auto waiting = ledger.arms_with(suspended);
    const std::int64_t stride = std::max<std::int64_t>(static_cast<std::int64_t>(waiting.size()) / ledger.rules.sampled_arms, 1);
    const RemainingSteps read_on = of(ledger.arms_with(active), 1), resumed = of(waiting, stride);
    return {read_on.needed + resumed.needed, read_on.unread + resumed.unread};
}

std::vector<double> needed_steps(const Ledger& ledger, const std::int64_t* positions, std::int64_t count,
                                 std::int64_t length, double theta, double log_level) {
    std::vector<double> found;
    for (std::int64_t p = 0; p < count; ++p) {
        const auto arm = static_cast<std::size_t>(positions[p]);
        found.push_back(needed(ledger, arm, theta, log_level, length, false));
    }
    return found;
}

double predicted_front(const Ledger& ledger, double share, double log_level) {
    std::vector<double> fronts;
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        if (ledger.status[arm] == active) fronts.push_back(won_by(ledger, arm, log_level));
    }
    if (fronts.empty()) return 0.0;
    const auto at = fronts.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(fronts.size()));
    std::nth_element(fronts.begin(), at, fronts.end());
    return *at;
}

double likely_threshold(const Ledger& ledger, std::int64_t k) {
    const PerArm<double>&estimates = ledger.estimates, &errors = ledger.errors;
    // Times a power of two, so that squares stay within the range of double.
    double largest = 0.0;
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        largest = std::max({largest, std::fabs(estimates[arm]), errors[arm]});
    }
    const double unit = 1.0 / power_of_two_near(largest);
    // Arms that were dropped unread have no estimates.
    double number = 0.0, sum = 0.0, noise = 0.0, scatter = 0.0;
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        if (ledger.steps[arm] == 0) continue;
        number += 1.0;
        sum += unit * estimates[arm];
    }
    const double mean = sum / number;
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        if (ledger.steps[arm] == 0) continue;
        const double error = unit * errors[arm], off = unit * estimates[arm] - mean;
        noise += error * error;
        scatter += off * off;
    }
    // The variance of the scores: that of the estimates without the errors'. It may be the same for all arms, or in
    // proportion to the squared error, where rows differ in length: what seems best are then long rows, which the
    // first would draw too far towards the mean.
    const double spread = std::max(scatter - noise, 0.0) / number;
    const double in_proportion = share_of_long_rows(ledger, mean / unit);
    Largest best(k);
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        const auto position = static_cast<std::int64_t>(arm);
        if (ledger.status[arm] == known) {
            best.show(ledger.scores[arm], position);
        } else if (ledger.steps[arm] > 0 && std::max(unit * estimates[arm], mean) > unit * best.last()) {
            // Others have not been read, or are not among the largest.
            const double error = unit * errors[arm], off = unit * estimates[arm] - mean;
            const double alike = spread > 0.0 ? spread / (spread + error * error) : 0.0;
            best.show((mean + std::max(alike, in_proportion) * off) / unit, position);
        }
    }
    return best.last();
}

}  // namespace sureshot
