#include "survey.hpp"

#include "largest.hpp"

namespace sureshot {

Survey survey(const Ledger& ledger, std::int64_t k, double caution) {
    Largest cautious(k), plain(k);
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        const auto position = static_cast<std::int64_t>(arm);
        if (ledger.status[arm] == active) {
            cautious.show(ledger.estimates[arm] - caution * ledger.errors[arm], position);
            plain.show(ledger.estimates[arm], position);
        } else if (ledger.status[arm] == known) {
            cautious.show(ledger.scores[arm], position);
            plain.show(ledger.scores[arm], position);
        }
    }
    Survey found;
    found.guess = cautious.last();
    for (const std::int64_t position : plain.keys()) {
        if (ledger.status[static_cast<std::size_t>(position)] == active) found.candidates.push_back(position);
    }
    count_others(ledger, found);
    return found;
}

void count_others(const Ledger& ledger, Survey& survey) {
    survey.others = 0;
    survey.runner_up = -1;
    auto candidate = survey.candidates.begin();
    double best = -infinite;
    for (std::size_t arm = 0; arm < ledger.n_arms(); ++arm) {
        if (ledger.status[arm] != active) continue;
        const auto position = static_cast<std::int64_t>(arm);
        if (candidate != survey.candidates.end() && *candidate == position) {
            ++candidate;
            continue;
        }
        ++survey.others;
        if (survey.runner_up < 0 || ledger.estimates[arm] > best) {
            best = ledger.estimates[arm];
            survey.runner_up = position;
        }
    }
}

}  // namespace sureshot
