// The race as Python sees it: the order of the draws, and the ledger.
#include "bindings.hpp"
#include "forecasting.hpp"
#include "heaviest.hpp"
#include "judging.hpp"
#include "ledger.hpp"
#include "order.hpp"
#include "reading.hpp"
#include "stock.hpp"
#include "survey.hpp"
#include "team.hpp"

namespace sureshot {
namespace {

std::int64_t size(const Ids& ids) { return static_cast<std::int64_t>(ids.shape(0)); }

void bind_order(nb::module_& m) {
    nb::class_<Order>(m, "Order",
                      "Blocks drawn without replacement, in proportion to their weight.")
        .def(
            "__init__",
            [](Order* self, const Reals& weight, std::uint64_t seed) {
                const Unlocked unlocked(weight.shape(0));
                new (self) Order(weight.data(), static_cast<std::int64_t>(weight.shape(0)), seed);
            },
            "weight"_a.noconvert(), "seed"_a)
        .def_prop_ro("length", &Order::length, "Blocks that can be drawn: those of positive weight.")
        .def(
            "draw",
            [](Order& order, std::int64_t front) {
                // To start over takes as long as there are blocks.
                const Unlocked unlocked(static_cast<std::size_t>(order.length()));
                order.draw(front);
            },
            "front"_a, "Draw on until `front` blocks are drawn in all.")
        .def_prop_ro(
            "blocks", [](const Order& order) { return array_of(order.blocks()); },
            nb::rv_policy::move, "The blocks drawn so far, in drawn order.")
        .def_prop_ro(
            "left", [](const Order& order) { return array_of(order.left()); },
            nb::rv_policy::move, "The weight not yet drawn before each step, and after the last.")
        .def("has_drawn", &Order::has_drawn, "block"_a, "start"_a, "stop"_a,
             "Whether a block is among the drawn ones [start, stop).")
        .def(
            "undrawn",
            [](const Order& order, std::int64_t front) {
                std::vector<std::int64_t> found;
                {
                    const Unlocked unlocked(static_cast<std::size_t>(order.length()));
                    found = order.undrawn(front);
                }
                return array_of(std::move(found));
            },
            "front"_a, "The blocks that are not among the first `front` drawn, in address order.");
    m.def(
        "heaviest_first",
        [](const Reals& weight, std::uint64_t seed) {
            std::vector<std::int64_t> found;
            {
                const Unlocked unlocked(weight.shape(0));
                found = heaviest_first(weight.data(), static_cast<std::int64_t>(weight.shape(0)), seed);
            }
            return array_of(std::move(found));
        },
        "weight"_a.noconvert(), "seed"_a,
        "Return the numbers from 0 on by their weights, the largest first, and equal ones at random.");
}

void bind_constants(nb::module_& m) {
    m.attr("ACTIVE") = static_cast<int>(active);
    m.attr("SUSPENDED") = static_cast<int>(suspended);
    m.attr("DROPPED") = static_cast<int>(dropped);
    m.attr("KNOWN") = static_cast<int>(known);
    m.attr("STEPS_PER_GROUP") = steps_per_group;
    m.attr("BYTES_OF_BET") = bytes_of_bet;

    nb::class_<BetConstants>(m, "BetConstants", "The constants of the bets, which theory/wealth.py has.")
        .def(nb::init<double, double, std::int64_t, std::int64_t>(), nb::kw_only(), "largest_loss"_a,
             "softening"_a, "first_stake"_a, "halvings"_a);

    nb::class_<PredictionRules>(m, "PredictionRules",
                                "The constants of the predictions, which search/race/policy.py has.")
        .def(nb::init<double, double, double, std::int64_t, double, double, double, std::int64_t>(), nb::kw_only(),
             "eagerness"_a, "longest_wait"_a, "least_wealth"_a, "trend_steps"_a, "trend_start"_a,
             "trend_renewal"_a, "least_growth"_a, "sampled_arms"_a);
}

void bind_findings(nb::module_& m) {
    nb::class_<Met>(m, "Met", "What a round met; positions are -1 where there is none.")
        .def_ro("largest", &Met::largest, "The largest |y|, or y where only that is limited.")
        .def_ro("broken", &Met::broken, "The first arm with a sum that is not a finite number.")
        .def_ro("outside", &Met::outside, "The first arm beyond its limit.");

    nb::class_<Survey>(m, "Survey", "The arms that seem best.")
        .def_ro("guess", &Survey::guess, "The k-th largest of exact scores and cautious estimates.")
        .def_prop_ro(
            "candidates", [](const Survey& survey) { return array_of(survey.candidates); },
            nb::rv_policy::move, "Active arms among the k largest scores and estimates.")
        .def_ro("others", &Survey::others, "How many active arms are not among them.")
        .def_ro("runner_up", &Survey::runner_up, "The best of those.")
        .def_ro("waste", &Survey::waste, "How many candidates are predicted to be worse than that one.");
}

using LedgerClass = nb::class_<Ledger>;

// An array with one entry per arm that shares the memory of the ledger.
template <class Value>
void add_property(LedgerClass& ledger, const char* name, PerArm<Value> Ledger::*values,
                  const char* doc) {
    ledger.def_prop_ro(
        name, [values](Ledger& self) { return view_of(self.*values); }, nb::rv_policy::reference_internal, doc);
}

void bind_state(LedgerClass& ledger) {
    ledger
        .def(
            "__init__",
            [](Ledger* self, const Reals& scale, const Reals& limit,
               const std::optional<Reals>& square_limit, double centres, double magnitude, double weights,
               double rounding, double floor, bool estimated, bool two_sided, bool both_signs,
               const BetConstants& constants, const PredictionRules& rules) {
                const Unlocked unlocked(scale.shape(0));
                new (self) Ledger({static_cast<std::int64_t>(scale.shape(0)), scale.data(), limit.data(),
                                   square_limit ? square_limit->data() : nullptr, centres, magnitude, weights,
                                   rounding, floor, estimated, two_sided, both_signs, constants, rules});
            },
            "scale"_a.noconvert(), "limit"_a.noconvert(), "square_limit"_a.noconvert().none(), nb::kw_only(),
            "centres"_a, "magnitude"_a, "weights"_a, "rounding"_a, "floor"_a, "estimated"_a, "two_sided"_a,
            "both_signs"_a, "constants"_a, "rules"_a)
        .def("raise_limit", &Ledger::raise_limit, "limit"_a, nb::call_guard<Released>(),
             "Set a new limit of y for all arms, larger than the last one.")
        .def("forget_bets", &Ledger::forget_bets, nb::call_guard<Released>(),
             "Free the memory of the bets: no arm can be read or judged after that.")
        .def(
            "arms_with",
            [](const Ledger& self, std::int8_t status) {
                std::vector<std::int64_t> found;
                {
                    const Unlocked unlocked(self.n_arms());
                    found = self.arms_with(status);
                }
                return array_of(std::move(found));
            },
            "status"_a, "The positions of the arms that have the status, ascending.")
        .def_prop_ro("n_active", &Ledger::n_active, "Arms that are read round by round.")
        .def_prop_ro("n_undecided", &Ledger::n_undecided, "Arms that are neither dropped nor known.")
        .def(
            "learn",
            [](Ledger& self, const Ids& positions, const Reals& scores, std::int64_t k) {
                if (positions.shape(0) != scores.shape(0)) throw nb::value_error("every arm has one score");
                self.learn(positions.data(), size(positions), scores.data());
                return self.kth_score(k);
            },
            "positions"_a.noconvert(), "scores"_a.noconvert(), "k"_a,
            "Take the exact scores of some arms, which are known from now on; return the k-th largest of all.")
        .def("kth_score", &Ledger::kth_score, "k"_a,
             "The k-th largest exact score, or minus infinity if fewer are known.")
        .def_prop_ro("bytes", [](const Ledger& self) { return self.bets.bytes(); }, "Memory taken by the bets.");
    add_property(ledger, "status", &Ledger::status, "ACTIVE, SUSPENDED, DROPPED or KNOWN.");
    add_property(ledger, "steps", &Ledger::steps, "Steps read.");
    add_property(ledger, "scores", &Ledger::scores, "Exact scores, of the known arms.");
    add_property(ledger, "estimates", &Ledger::estimates, "Estimates of the scores, from what was read.");
    add_property(ledger, "errors", &Ledger::errors, "The standard errors of the estimates.");
    add_property(ledger, "high", &Ledger::high, "high + low is the sum of what was read.");
    add_property(ledger, "low", &Ledger::low, "high + low is the sum of what was read.");
}

void bind_reading(LedgerClass& ledger) {
    ledger
        .def(
            "record",
            [](Ledger& ledger, const Order& order, const Reals& centre, std::int64_t start,
               std::int64_t stop, double guess, bool stakes) {
                const Unlocked unlocked(static_cast<std::size_t>(stop));
                ledger.record(order, centre.data(), start, stop, guess, stakes);
            },
            "order"_a, "centre"_a.noconvert(), "start"_a, "stop"_a, "guess"_a, "stakes"_a,
            "Fix what the steps [start, stop) are before they are read.")
        .def(
            "read",
            [](Ledger& ledger, Team& team, const Dense& dense, const Ids& arms, const Order& order,
               const Ids& positions, std::int64_t start, std::int64_t stop) {
                const Released released;
                return read(ledger, team, dense.of(arms), order, positions.data(), size(positions), start,
                            stop);
            },
            "team"_a, "dense"_a, "arms"_a.noconvert(), "order"_a, "positions"_a.noconvert(), "start"_a,
            "stop"_a, "Read the steps [start, stop) of some arms and bet on them.")
        .def(
            "read_on",
            [](Ledger& ledger, Team& team, const Dense& dense, const Ids& arms, Order& order, const Reals& centre,
               std::int64_t stop, double guess, bool stakes) {
                const Released released;
                return read_on(ledger, team, dense.of(arms), order, centre.data(), stop, guess, stakes);
            },
            "team"_a, "dense"_a, "arms"_a.noconvert(), "order"_a, "centre"_a.noconvert(), "stop"_a, "guess"_a,
            "stakes"_a, "Draw and record the steps up to `stop`, read them of all active arms and bet on them.")
        .def(
            "add",
            [](Ledger& ledger, Team& team, const Table& sums, const Ids& positions, std::int64_t start,
               std::int64_t stop, const std::optional<Table>& squares) {
                if (ledger.bet_rules.norms != squares.has_value()) {
                    throw nb::value_error("norm bets, and no others, need the sums of squares");
                }
                const Released released;
                return add(ledger, team, sums.data(), squares ? squares->data() : nullptr,
                           positions.data(), size(positions), start, stop);
            },
            "team"_a, "sums"_a.noconvert(), "positions"_a.noconvert(), "start"_a, "stop"_a,
            "squares"_a.noconvert() = nb::none(),
            "Bet on the steps [start, stop) of some arms, whose sums (steps, arms) are given, and for norm "
            "bets the sums of squares.");
}

void bind_judging(LedgerClass& ledger) {
    ledger
        .def(
            "survey",
            [](const Ledger& self, std::int64_t k, double caution) {
                const Unlocked unlocked(self.n_arms());
                Survey found = seeming_best(self, self.arms_with(active), k, caution);
                count_others(self, found);
                return found;
            },
            "k"_a, "caution"_a,
            "Find the k arms that seem best; a cautious estimate is `caution` standard errors lower.")
        .def(
            "other_arms",
            [](const Ledger& self, const Survey& survey) { return array_of(other_arms(self, survey)); }, "survey"_a,
            "The active arms that are no candidates, ascending.")
        .def(
            "take_stock",
            [](Ledger& self, Team& team, std::int64_t k, double caution, double threshold, double epsilon,
               double log_level) {
                const Released released;
                return take_stock(self, team, {k, caution, threshold, epsilon, log_level});
            },
            "team"_a, "k"_a, "caution"_a, "threshold"_a, "epsilon"_a, "log_level"_a,
            "Find the k arms that seem best, and suspend the other active ones that are beaten at the guess, or drop "
            "them if it is the threshold. Arms whose bets are not yet predicted to be near that are not looked at.")
        .def(
            "judge",
            [](Ledger& self, Team& team, const Ids& positions, double theta, double log_level,
               std::int8_t beaten) {
                const Released released;
                return judge(self, team, positions.data(), size(positions), theta, log_level, beaten);
            },
            "team"_a, "positions"_a.noconvert(), "theta"_a, "log_level"_a, "beaten"_a,
            "Give the status `beaten` to those of the arms whose bets win at theta; return how many.")
        .def(
            "ceiling",
            [](const Ledger& self, Team& team, const Ids& positions, double log_level, double low) {
                const Released released;
                return ceiling(self, team, positions.data(), size(positions), log_level, low);
            },
            "team"_a, "positions"_a.noconvert(), "log_level"_a, "low"_a,
            "A score that one of the arms exceeds with at most the level's probability.");
}

void bind_forecasting(LedgerClass& ledger) {
    ledger
        .def(
            "remaining_steps",
            [](const Ledger& self, Team& team, std::int64_t length, double theta, double log_level) {
                RemainingSteps found;
                {
                    const Unlocked unlocked(self.n_arms());
                    found = remaining_steps(self, team, length, theta, log_level);
                }
                return std::tuple(found.needed, found.unread);
            },
            "team"_a, "length"_a, "theta"_a, "log_level"_a,
            "Steps that the undecided arms are predicted to need together, and steps that they have not read.")
        .def(
            "needed_steps",
            [](const Ledger& self, const Ids& positions, std::int64_t length, double theta,
               double log_level) {
                std::vector<double> found;
                {
                    const Unlocked unlocked(positions.shape(0));
                    found = needed_steps(self, positions.data(), size(positions), length, theta, log_level);
                }
                return array_of(std::move(found));
            },
            "positions"_a.noconvert(), "length"_a, "theta"_a, "log_level"_a,
            "Steps that each of the arms is predicted to need, none being closer to theta than it seems.")
        .def(
            "predicted_front",
            [](const Ledger& self, double share, double log_level) {
                const Unlocked unlocked(self.n_arms());
                return predicted_front(self, share, log_level);
            },
            "share"_a, "log_level"_a,
            "The step by which the bets are predicted to have won against that share of the active arms.")
        .def(
            "likely_threshold",
            [](const Ledger& self, std::int64_t k) {
                const Unlocked unlocked(self.n_arms());
                return likely_threshold(self, k);
            },
            "k"_a, "The k-th largest of the exact scores and of the estimates, moved towards their mean.");
}

}  // namespace

void bind_race(nb::module_& m) {
    bind_order(m);
    bind_constants(m);
    bind_findings(m);
    LedgerClass ledger(m, "Ledger", "What has been read of each arm, the bets against it, and its status.");
    bind_state(ledger);
    bind_reading(ledger);
    bind_judging(ledger);
    bind_forecasting(ledger);
}

}  // namespace sureshot
