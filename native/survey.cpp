#include "survey.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "largest.hpp"

namespace sureshot {
namespace {

// How many of the candidates have scores below that of the runner-up, on average. Arms that have been constant so
// far have no errors, and large scores no difference: such a candidate may be either.
double predicted_waste(const Ledger& ledger, const Survey& survey) {
    const auto other = static_cast<std::size_t>(survey.runner_up);
    double waste = 0.0;
    for (const std::int64_t position : survey.candidates) {
        const auto arm = static_cast<std::size_t>(position);
        const double spread = std::hypot(ledger.errors[arm], ledger.errors[other]);
        const double z = (ledger.estimates[arm] - ledger.estimates[other]) / spread;
        waste += std::isnan(z) ? 1.0 / 2.0 : std::erfc(z / std::sqrt(2.0)) / 2.0;
    }
    return waste;
}

}  // namespace

Survey seeming_best(const Ledger& ledger, const std::vector<std::int64_t>& arms, std::int64_t k, double caution) {
    Largest cautious(k), plain(k);
    for (const std::int64_t position : ledger.arms_with(known)) {
        const double score = ledger.scores[static_cast<std::size_t>(position)];
        cautious.show(score, position);
        plain.show(score, position);
    }
    for (const std::int64_t position : arms) {
        const auto arm = static_cast<std::size_t>(position);
        cautious.show(ledger.estimates[arm] - caution * ledger.errors[arm], position);
        plain.show(ledger.estimates[arm], position);
    }
    Survey found;
    found.guess = cautious.last();
    for (const std::int64_t position : plain.keys()) {
        if (ledger.status[static_cast<std::size_t>(position)] == active) found.candidates.push_back(position);
    }
    return found;
}

std::vector<std::int64_t> other_arms(const Ledger& ledger, const Survey& survey) {
    const auto all = ledger.arms_with(active);
    std::vector<std::int64_t> found;
    found.reserve(all.size());
    std::set_difference(all.begin(), all.end(), survey.candidates.begin(), survey.candidates.end(),
                        std::back_inserter(found));
    return found;
}

void count_others(const Ledger& ledger, Survey& survey) {
    const auto others = other_arms(ledger, survey);
    survey.others = static_cast<std::int64_t>(others.size());
    survey.runner_up = -1;
    double best = -infinite;
    for (const std::int64_t position : others) {
        const double estimate = ledger.estimates[static_cast<std::size_t>(position)];
        if (survey.runner_up < 0 || estimate > best) {
            best = estimate;
            survey.runner_up = position;
        }
    }
    survey.waste = survey.runner_up < 0 ? 0.0 : predicted_waste(ledger, survey);
}

}  // namespace sureshot
