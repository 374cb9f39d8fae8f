#include "ledger.hpp"

#include <algorithm>

#include "isa.hpp"
#include "largest.hpp"
#include "power_of_two.hpp"

namespace sureshot {

Ledger::Ledger(const Setting& setting)
    : signs(setting.both_signs ? 2 : 1),
      bet_rules{setting.constants.largest_loss,
                setting.constants.softening,
                setting.floor,
                setting.square_limit != nullptr,
                setting.two_sided,
                setting.both_signs},
      constants(setting.constants),
      rules(setting.rules),
      magnitude(setting.magnitude),
      weights(setting.weights),
      rounding(setting.rounding),
      estimated(setting.estimated),
      scale(setting.scale, setting.scale + setting.n_arms, &arena),
      inverse_scale(scale.size(), &arena),
      limit(&arena),
      status(scale.size(), active, &arena),
      steps(scale.size(), 0, &arena),
      scores(scale.size(), -infinite, &arena),
      estimates(scale.size(), 0.0, &arena),
      errors(scale.size(), 0.0, &arena),
      high(scale.size(), 0.0, &arena),
      low(scale.size(), 0.0, &arena),
      sum(scale.size(), 0.0, &arena),
      sum_squares(scale.size(), 0.0, &arena),
      seen(scale.size(), 0.0, &arena),
      sum_u(bet_rules.norms ? scale.size() : 0, 0.0, &arena),
      sum_u_squares(sum_u, &arena),
      sum_u_y(sum_u, &arena),
      drawn(setting.weights, setting.centres),
      bets(scale.size() * signs, arena),
      replays(scale.size(), scale.size() * signs, arena),
      unit_of_scale(scale.size(), &arena) {
    const double* limits = bet_rules.norms ? setting.square_limit : setting.limit;
    limit.assign(limits, limits + setting.n_arms);
    std::transform(scale.begin(), scale.end(), inverse_scale.begin(), [](double value) { return 1.0 / value; });
    std::transform(inverse_scale.begin(), inverse_scale.end(), unit_of_scale.begin(), power_of_two_near);
}

void Ledger::record(const Order& order, const double* centre, std::int64_t start, std::int64_t stop,
                    double guess, bool stakes) {
    drawn.append(order, centre, start, stop, guess, stakes ? constants.first_stake : -1);
}

void Ledger::raise_limit(double new_limit) {
    const double by = new_limit - limit.front();
    for (std::size_t arm = 0; arm < n_arms(); ++arm) {
        const double in_its_unit = by / unit_of(arm);
        for (std::size_t sign = 0; sign < signs; ++sign) {
            std::uint32_t at = bets.first(stream(arm, sign));
            for (std::int64_t left = groups_of(steps[arm]); left > 0; --left, at = bets.next(at)) {
                kernels().raise_rooms(bets.group(at), in_its_unit);
            }
        }
    }
    std::fill(limit.begin(), limit.end(), new_limit);
    std::fill(replays.pasts.begin(), replays.pasts.end(), Past{});
}

void Ledger::forget_bets() {
    bets.clear();
    tables = {};
}

void Ledger::learn(const std::int64_t* positions, std::int64_t count, const double* exact) {
    for (std::int64_t p = 0; p < count; ++p) {
        const auto arm = static_cast<std::size_t>(positions[p]);
        scores[arm] = exact[p];
        status[arm] = known;
    }
}

double Ledger::kth_score(std::int64_t k) const {
    Largest best(k);
    for (const std::int64_t arm : arms_with(known)) best.show(scores[static_cast<std::size_t>(arm)], arm);
    return best.last();
}

}  // namespace sureshot
