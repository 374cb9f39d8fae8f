// Python's view of the kernels. Arrays are borrowed, never copied: an argument of another type,
// order or device is a TypeError. The callers in sources/ check all values.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <exception>
#include <optional>
#include <utility>

#include "isa.hpp"
#include "ledger.hpp"
#include "matrix.hpp"
#include "order.hpp"
#include "passes.hpp"
#include "team.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sureshot {
namespace {

using Data = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ids = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using RealsOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using TableOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The caller names the element type: half-precision arrays come as integers.
Matrix matrix_of(const Data& data, Element element) {
    const std::size_t sizes[] = {2, 2, 4, 8, 1, 1, 2, 1};  // in the order of Element
    if (data.itemsize() != sizes[static_cast<int>(element)]) {
        throw nb::type_error("data is not of the given element type");
    }
    return {data.data(),
            element,
            static_cast<std::int64_t>(data.shape(0)),
            static_cast<std::int64_t>(data.shape(1)),
            data.stride(0),
            data.stride(1)};
}

// Data and a query, as every kernel takes them: borrowed arrays, which live as long as this does.
class Rows {
 public:
    Rows(Data data, Element element, Metric metric, Reals query, std::int64_t block, std::int64_t shift)
        : matrix(matrix_of(data, element)),
          metric(metric),
          item_size(static_cast<std::int64_t>(data.itemsize())),
          block_(block),
          shift_(shift),
          data_(std::move(data)),
          query_(std::move(query)) {
        if (static_cast<std::int64_t>(query_.shape(0)) != matrix.n_columns) {
            throw nb::value_error("the query is not as long as the rows of the data");
        }
    }

    const double* query() const { return query_.data(); }
    Blocks blocks(const Ids& ids) const {
        return {ids.data(), static_cast<std::int64_t>(ids.shape(0)), block_, shift_};
    }
    Dense of(const Ids& arms) const {
        return {matrix, metric, query(), {nullptr, 0, block_, shift_}, arms.data(), item_size};
    }

    const Matrix matrix;
    const Metric metric;
    const std::int64_t item_size;

 private:
    std::int64_t block_, shift_;
    Data data_;
    Reals query_;
};

Arms arms_of(const Ids& ids) { return {ids.data(), static_cast<std::int64_t>(ids.shape(0))}; }

// Lets go of Python's lock for a call that goes through `items` of something, if they are many: to take it
// again can cost more than a short call.
class Unlocked {
 public:
    explicit Unlocked(std::size_t items) {
        if (items >= 4096) release_.emplace();
    }

 private:
    std::optional<nb::gil_scoped_release> release_;
};

// Whether a signal has come whose handler raises an exception, which is set then.
bool interrupted() {
    const nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

// Only Python's main thread is told of signals.
bool in_main_thread() {
    const nb::module_ threading = nb::module_::import_("threading");
    return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

// A cancelled team leaves the exception that cancelled it, unless that was raised in another thread.
void raise_interrupt(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const Cancelled&) {
        if (PyErr_Occurred() == nullptr) PyErr_SetNone(PyExc_KeyboardInterrupt);
    }
}

// A new array with the values.
template <class Value>
auto array_of(std::vector<Value> values) {
    auto* kept = new std::vector<Value>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

// An array that shares the memory of the object it is a property of.
template <class Value>
auto view_of(std::vector<Value>& values) {
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values.data(), {values.size()}, nb::handle());
}

NB_MODULE(_native, m) {
    m.doc() = "The native code of sureshot: sums, the order of draws, and the bets.";
    nb::register_exception_translator(raise_interrupt);
    kernels();  // a wrong name in the environment is told now

    nb::enum_<Element>(m, "Element", "What the data consists of.")
        .value("FLOAT16", Element::float16)
        .value("BFLOAT16", Element::bfloat16)
        .value("FLOAT32", Element::float32)
        .value("FLOAT64", Element::float64)
        .value("INT8", Element::int8)
        .value("UINT8", Element::uint8)
        .value("INT16", Element::int16)
        .value("BOOL", Element::boolean);

    nb::enum_<Metric>(m, "Metric", "What a reward is.")
        .value("INNER_PRODUCT", Metric::inner_product)
        .value("SQUARED_EUCLIDEAN", Metric::squared_euclidean)
        .value("L1", Metric::l1);

    nb::class_<Team>(m, "Team", "Threads that work together; they end with it.")
        .def(
            "__init__",
            [](Team* self, int threads, const Team* partner) {
                if (partner != nullptr) {
                    new (self) Team(threads, *partner);
                } else {
                    new (self) Team(threads, in_main_thread() ? interrupted : nullptr);
                }
            },
            "threads"_a, "partner"_a.none() = nb::none(),
            "A team that a signal interrupts, if the main thread makes it; or with a partner one that is "
            "cancelled together with that.")
        .def("start", &Team::start, "Start the threads before the first job.")
        .def("cancel", &Team::cancel,
             "End the jobs of this team and of those that have it as a partner, now and from now on: they "
             "raise KeyboardInterrupt.");

    m.def(
        "coordinate_major",
        [](const Data& data, Element element) { return coordinate_major(matrix_of(data, element)); },
        "data"_a.noconvert(), "element"_a, "Whether one column lies closer together than one row.");

    nb::class_<Rows>(m, "Dense", "Data and a query, and the blocks in which rows are read.")
        .def(nb::init<Data, Element, Metric, Reals, std::int64_t, std::int64_t>(), "data"_a.noconvert(),
             "element"_a, "metric"_a, "query"_a.noconvert(), nb::kw_only(), "block"_a, "shift"_a);

    m.def(
        "block_sums",
        [](const Rows& dense, const Ids& arms, const Ids& blocks, Team& team, const TableOut& sums,
           const std::optional<TableOut>& squares) {
            const nb::gil_scoped_release release;
            block_sums(team, dense.matrix, dense.metric, dense.query(), arms_of(arms),
                       dense.blocks(blocks), sums.data(), squares ? squares->data() : nullptr);
        },
        "dense"_a, "arms"_a.noconvert(), "blocks"_a.noconvert(), "team"_a, "sums"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill sums (blocks, arms) with the sum of each arm's rewards over each block, and squares "
        "with that of its squared values.");

    m.def(
        "totals",
        [](const Rows& dense, const Ids& arms, const Ids& blocks, const Reals& centre,
           const Reals& weight, Team& team, const RealsOut& high, const RealsOut& low,
           const RealsOut& largest, const std::optional<RealsOut>& squares) {
            const nb::gil_scoped_release release;
            totals(team, dense.matrix, dense.metric, dense.query(), arms_of(arms), dense.blocks(blocks),
                   centre.data(), weight.data(),
                   {high.data(), low.data(), largest.data(), squares ? squares->data() : nullptr});
        },
        "dense"_a, "arms"_a.noconvert(), "blocks"_a.noconvert(), "centre"_a.noconvert(),
        "weight"_a.noconvert(), "team"_a, "high"_a.noconvert(), "low"_a.noconvert(),
        "largest"_a.noconvert(), "squares"_a.noconvert() = nb::none(),
        "Fill high + low (arms,) with the sums over all blocks, and largest with the largest "
        "|sum - centre| / weight of a block.");

    m.def(
        "row_scores",
        [](const Rows& dense, const Table& queries, const Ids& arms, Team& team, const TableOut& scores,
           const std::optional<RealsOut>& squares) {
            if (squares && dense.metric != Metric::inner_product) {
                throw nb::value_error("squares come with inner products only");
            }
            const nb::gil_scoped_release release;
            row_scores(team, dense.matrix, dense.metric, queries.data(),
                       static_cast<std::int64_t>(queries.shape(0)), arms_of(arms), scores.data(),
                       squares ? squares->data() : nullptr);
        },
        "dense"_a, "queries"_a.noconvert(), "arms"_a.noconvert(), "team"_a, "scores"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill scores (queries, arms) with the sum of all rewards of each arm, for these queries in place "
        "of its own, and squares (arms,), for inner products, with its squared norm.");

    m.def(
        "scan_rows",
        [](const Data& data, Element element, const Reals& middle, const Reals& unit, const Ids& arms,
           Team& team, const RealsOut& reach, const RealsOut& squares) {
            const Matrix matrix = matrix_of(data, element);
            const nb::gil_scoped_release release;
            scan_rows(team, matrix, middle.data(), unit.data(), arms_of(arms), reach.data(), squares.data());
        },
        "data"_a.noconvert(), "element"_a, "middle"_a.noconvert(), "unit"_a.noconvert(), "arms"_a.noconvert(), "team"_a,
        "reach"_a.noconvert(), "squares"_a.noconvert(),
        "Fill reach (arms,) with the largest |value - middle| * unit and squares with the squared "
        "norm of each arm.");

    m.def(
        "column_limits",
        [](const Data& data, Element element, const Ids& arms, Team& team, const RealsOut& low,
           const RealsOut& high) {
            const Matrix matrix = matrix_of(data, element);
            const nb::gil_scoped_release release;
            column_limits(team, matrix, arms_of(arms), low.data(), high.data());
        },
        "data"_a.noconvert(), "element"_a, "arms"_a.noconvert(), "team"_a, "low"_a.noconvert(),
        "high"_a.noconvert(),
        "Fill low and high (coordinates,) with the limits of the values of the given arms.");

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
            "weights", [](const Order& order) { return array_of(order.weights()); },
            nb::rv_policy::move, "The weight of every block, rounded up to a whole number of tickets.")
        .def_prop_ro(
            "left", [](const Order& order) { return array_of(order.left()); },
            nb::rv_policy::move, "The weight not yet drawn before each step, and after the last.")
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
        .def_ro("runner_up", &Survey::runner_up, "The best of those.");

    nb::class_<Ledger>(m, "Ledger", "What has been read of each arm, and the bets placed on it.")
        .def(
            "__init__",
            [](Ledger* self, const Reals& scale, const Reals& limit,
               const std::optional<Reals>& square_limit, double centres, double magnitude,
               double weights, double rounding, double floor, bool estimated, bool two_sided,
               bool both_signs) {
                const Unlocked unlocked(scale.shape(0));
                new (self) Ledger({static_cast<std::int64_t>(scale.shape(0)), scale.data(),
                                   limit.data(), square_limit ? square_limit->data() : nullptr,
                                   centres, magnitude, weights, rounding, floor, estimated, two_sided,
                                   both_signs});
            },
            "scale"_a.noconvert(), "limit"_a.noconvert(), "square_limit"_a.noconvert().none(),
            nb::kw_only(), "centres"_a, "magnitude"_a, "weights"_a, "rounding"_a, "floor"_a,
            "estimated"_a, "two_sided"_a, "both_signs"_a)
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
            [](Ledger& ledger, Team& team, const Rows& dense, const Ids& arms, const Order& order,
               const Ids& positions, std::int64_t start, std::int64_t stop) {
                const nb::gil_scoped_release release;
                return ledger.read(team, dense.of(arms), order, positions.data(),
                                   static_cast<std::int64_t>(positions.shape(0)), start, stop);
            },
            "team"_a, "dense"_a, "arms"_a.noconvert(), "order"_a, "positions"_a.noconvert(), "start"_a,
            "stop"_a,
            "Read the steps [start, stop) of some arms and bet on them.")
        .def(
            "add",
            [](Ledger& ledger, Team& team, const Table& sums, const Ids& positions,
               std::int64_t start, std::int64_t stop) {
                const nb::gil_scoped_release release;
                return ledger.add(team, sums.data(), positions.data(),
                                  static_cast<std::int64_t>(positions.shape(0)), start, stop);
            },
            "team"_a, "sums"_a.noconvert(), "positions"_a.noconvert(), "start"_a, "stop"_a,
            "Bet on the steps [start, stop) of some arms, whose sums (steps, arms) are given.")
        .def(
            "survey",
            [](const Ledger& ledger, std::int64_t k, double caution) {
                const Unlocked unlocked(ledger.status.size());
                return ledger.survey(k, caution);
            },
            "k"_a, "caution"_a)
        .def(
            "look_again",
            [](const Ledger& ledger, Survey& survey) {
                const Unlocked unlocked(ledger.status.size());
                ledger.look_again(survey);
            },
            "survey"_a, "Update what a survey says of the arms that are not its candidates.")
        .def(
            "outlook",
            [](const Ledger& ledger, std::int64_t length, double theta, double log_level) {
                const Unlocked unlocked(ledger.status.size());
                const Outlook found = ledger.outlook(length, theta, log_level);
                return std::tuple(found.needed, found.unread);
            },
            "length"_a, "theta"_a, "log_level"_a,
            "Steps that the undecided arms are predicted to need, and steps unread.")
        .def(
            "likely_threshold",
            [](const Ledger& ledger, std::int64_t k) {
                const Unlocked unlocked(ledger.status.size());
                return ledger.likely_threshold(k);
            },
            "k"_a, "The k-th largest of the exact scores and of the estimates, which are drawn towards their mean.")
        .def(
            "foretold_front",
            [](const Ledger& ledger, double share, double log_level) {
                const Unlocked unlocked(ledger.status.size());
                return ledger.foretold_front(share, log_level);
            },
            "share"_a, "log_level"_a, "The step by which the bets are predicted to have won against that share of the active arms.")
        .def(
            "forecast",
            [](const Ledger& ledger, const Ids& positions, std::int64_t length, double theta,
               double log_level) {
                std::vector<double> found;
                {
                    const Unlocked unlocked(positions.shape(0));
                    found = ledger.forecast(positions.data(), static_cast<std::int64_t>(positions.shape(0)), length,
                                            theta, log_level);
                }
                return array_of(std::move(found));
            },
            "positions"_a.noconvert(), "length"_a, "theta"_a, "log_level"_a,
            "Steps that each of the arms will need, if none lies as close to theta as it seems.")
        .def(
            "judge",
            [](Ledger& ledger, Team& team, const Ids& positions, double theta, double log_level,
               std::int8_t verdict, const Survey* sparing) {
                const nb::gil_scoped_release release;
                return ledger.judge(team, positions.data(),
                                    static_cast<std::int64_t>(positions.shape(0)), theta, log_level,
                                    verdict, sparing);
            },
            "team"_a, "positions"_a.noconvert(), "theta"_a, "log_level"_a, "verdict"_a,
            "sparing"_a.none() = nb::none(),
            "Give the status to those of the arms whose bets win at theta; return how many. With a survey, "
            "its candidates are spared, and arms that cannot have won yet.")
        .def(
            "ceiling",
            [](const Ledger& ledger, Team& team, const Ids& positions, double log_level, double low) {
                const nb::gil_scoped_release release;
                return ledger.ceiling(team, positions.data(),
                                      static_cast<std::int64_t>(positions.shape(0)), log_level, low);
            },
            "team"_a, "positions"_a.noconvert(), "log_level"_a, "low"_a,
            "A score that none of the arms exceeds, but with the level's probability.")
        .def("raise_limit", &Ledger::raise_limit, "limit"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("forget_bets", &Ledger::forget_bets, nb::call_guard<nb::gil_scoped_release>(),
             "Free their memory: nothing is judged any more.")
        .def(
            "arms_with",
            [](const Ledger& ledger, std::int8_t status) {
                std::vector<std::int64_t> found;
                {
                    const Unlocked unlocked(ledger.status.size());
                    found = ledger.arms_with(status);
                }
                return array_of(std::move(found));
            },
            "status"_a, "The positions of the arms that have the status, ascending.")
        .def_prop_ro("bytes", &Ledger::bytes, "Memory taken by the bets.")
        .def_prop_ro("status", [](Ledger& ledger) { return view_of(ledger.status); },
                     nb::rv_policy::reference_internal)
        .def_prop_ro("steps", [](Ledger& ledger) { return view_of(ledger.steps); },
                     nb::rv_policy::reference_internal)
        .def_prop_ro("scores", [](Ledger& ledger) { return view_of(ledger.scores); },
                     nb::rv_policy::reference_internal)
        .def_prop_ro("estimates", [](Ledger& ledger) { return view_of(ledger.estimates); },
                     nb::rv_policy::reference_internal)
        .def_prop_ro("errors", [](Ledger& ledger) { return view_of(ledger.errors); },
                     nb::rv_policy::reference_internal)
        .def_prop_ro("high", [](Ledger& ledger) { return view_of(ledger.high); },
                     nb::rv_policy::reference_internal)
        .def_prop_ro("low", [](Ledger& ledger) { return view_of(ledger.low); },
                     nb::rv_policy::reference_internal);

    m.def("instruction_sets", &instruction_sets,
          "What the kernels were compiled for and this processor has, best first.");
    m.def("instruction_set", &instruction_set, "The one in use.");
    m.def("use_instruction_set", &use_instruction_set, "name"_a,
          "Use another one from now on, in the whole process: for tests. Results do not change.");
}

}  // namespace
}  // namespace sureshot
