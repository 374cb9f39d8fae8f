#include "stock.hpp"

#include <algorithm>

#include "judging.hpp"

namespace sureshot {

Survey take_stock(Ledger& ledger, Team& team, const Terms& terms) {
    const auto arms = ledger.arms_with(active);
    Survey found = seeming_best(ledger, arms, terms.k, terms.caution);
    found.guess = std::max(found.guess, terms.threshold);
    if (found.guess > -infinite) {
        judge(ledger, team, arms.data(), static_cast<std::int64_t>(arms.size()), found.guess + terms.epsilon,
              terms.log_level, found.guess == terms.threshold ? dropped : suspended, &found.candidates);
    }
    count_others(ledger, found);
    return found;
}

}  // namespace sureshot
