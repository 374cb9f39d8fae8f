// The module of Python: teams, and passes over the data.
#include "bindings.hpp"

#include <exception>
#include <type_traits>

#include "column_sums.hpp"
#include "extremes.hpp"
#include "isa.hpp"
#include "pair_scores.hpp"
#include "passes.hpp"
#include "query_passes.hpp"
#include "team.hpp"
#include "turns.hpp"

namespace sureshot {
namespace {

// Whether a signal has come whose handler raises an exception, which is set then.
bool interrupted() {
    const nb::gil_scoped_acquire lock;
    return PyErr_CheckSignals() != 0;
}

using Values = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using FloatValues = nb::ndarray<const float, nb::c_contig, nb::device::cpu>;

Extremes extremes_of(const Values& values) {
    const Unlocked unlocked(values.size());
    return Extremes::of(values.data(), static_cast<std::int64_t>(values.size()));
}

// Python handles signals in its main thread only.
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

NB_MODULE(_native, m) {
    // What other libraries still hold at the end of the program is no mistake of ours, and no news for its user.
    nb::set_leak_warnings(false);
    m.doc() = "The native code of sureshot: sums, the order of draws, and the bets.";
    nb::register_exception_translator(raise_interrupt);
    kernels();  // a wrong name in the environment is an error of the import

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

    nb::class_<Team>(m, "Team", "Threads that work together; it borrows them from the process.")
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
        .def("start", &Team::start, "Wake the threads before the first job.")
        .def("cancel", &Team::cancel,
             "End the jobs of this team and of those that have it as a partner, now and from now on: they "
             "raise KeyboardInterrupt.");

    nb::class_<Turns>(m, "Turns", "Threads that search side by side, one of which has its turn with Python.")
        .def(nb::init<>())
        .def(
            "__enter__", [](Turns& turns) { turns.begin(); }, nb::call_guard<nb::gil_scoped_release>(),
            "Wait for a turn, but not for long. Another thread has it whenever this one does without Python.")
        .def(
            "__exit__", [](Turns& turns, const nb::args&) { turns.end(); },
            "Give the turn to another thread for good.");

    m.def(
        "coordinate_major",
        [](const Data& data, Element element) { return coordinate_major(matrix_of(data, element)); },
        "data"_a.noconvert(), "element"_a, "Whether one column lies closer together than one row.");

    nb::class_<Dense>(m, "Dense", "Data and a query, and the blocks in which rows are read.")
        .def(nb::init<Data, Element, Metric, std::variant<Reals, FloatRow>, std::int64_t, std::int64_t>(), "data"_a.noconvert(),
             "element"_a, "metric"_a, "query"_a.noconvert(), nb::kw_only(), "block"_a, "shift"_a);

    m.def(
        "block_sums",
        [](const Dense& dense, const Ids& arms, const Ids& blocks, Team& team, const TableOut& sums,
           const std::optional<TableOut>& squares) {
            const Released released;
            block_sums(team, dense.matrix, dense.metric, dense.values(), arms_of(arms),
                       dense.blocks(blocks), sums.data(), squares ? squares->data() : nullptr);
        },
        "dense"_a, "arms"_a.noconvert(), "blocks"_a.noconvert(), "team"_a, "sums"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill sums (blocks, arms) with the sum of each arm's rewards over each block, and squares "
        "with that of its squared values.");

    m.def(
        "totals",
        [](const Dense& dense, const Ids& arms, const Ids& blocks, const Reals& centre,
           const Reals& weight, Team& team, const RealsOut& high, const RealsOut& low,
           const RealsOut& largest) {
            const Released released;
            totals(team, dense.matrix, dense.metric, dense.values(), arms_of(arms), dense.blocks(blocks),
                   centre.data(), weight.data(),
                   {high.data(), low.data(), largest.data()});
        },
        "dense"_a, "arms"_a.noconvert(), "blocks"_a.noconvert(), "centre"_a.noconvert(),
        "weight"_a.noconvert(), "team"_a, "high"_a.noconvert(), "low"_a.noconvert(),
        "largest"_a.noconvert(),
        "Fill high + low (arms,) with the sums over all blocks, and largest with the largest "
        "|sum - centre| / weight of a block.");

    m.def(
        "column_sums",
        [](const Dense& dense, const Ids& arms, const Ids& blocks, Team& team, const RealsOut& sums) {
            const Released released;
            column_sums(team, dense.matrix, dense.metric, dense.values(), arms_of(arms), dense.blocks(blocks), sums.data());
        },
        "dense"_a, "arms"_a.noconvert(), "blocks"_a.noconvert(), "team"_a, "sums"_a.noconvert(),
        "Fill sums (arms,) with the sum of the rewards of each arm over all blocks, one column after the other, of "
        "coordinate-major data.");

    m.def(
        "row_scores",
        [](const Dense& dense, const std::optional<std::variant<Table, FloatTable>>& queries, const Ids& arms, Team& team,
           const TableOut& scores, const std::optional<RealsOut>& squares) {
            if (squares && dense.metric != Metric::inner_product) {
                throw nb::value_error("squares come with inner products only");
            }
            const Released released;
            double* const its_squares = squares ? squares->data() : nullptr;
            const auto score = [&]<class Query>(const Query* values, std::size_t count) {
                row_scores(team, dense.matrix, dense.metric, values, static_cast<std::int64_t>(count), arms_of(arms),
                           scores.data(), its_squares);
            };
            if (queries) return std::visit([&](const auto& own) { score(own.data(), own.shape(0)); }, *queries);
            if (dense.floats() != nullptr && !coordinate_major(dense.matrix)) return score(dense.floats(), 1);
            score(dense.query(), 1);
        },
        "dense"_a, "queries"_a.noconvert().none(), "arms"_a.noconvert(), "team"_a, "scores"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill scores (queries, arms) with the sum of all rewards of each arm, for these queries or, without any, for its "
        "own, and squares (arms,), for inner products, with its squared norm.");

    m.def(
        "run_scores",
        [](const Dense& dense, const Ids& starts, const Ids& stops, const Ids& arms, Team& team,
           const RealsOut& scores, const std::optional<RealsOut>& squares) {
            if (starts.shape(0) != stops.shape(0)) throw nb::value_error("a run has a start and a stop");
            std::vector<Run> runs(starts.shape(0));
            for (std::size_t at = 0; at < runs.size(); ++at) {
                runs[at] = {starts.data()[at], stops.data()[at]};
                const std::int64_t last = at == 0 ? 0 : runs[at - 1].end;
                if (runs[at].begin < last || runs[at].begin > runs[at].end || runs[at].end > dense.matrix.n_columns) {
                    throw nb::value_error("runs of columns are not ascending, or not within the data");
                }
            }
            const Released released;
            run_scores(team, dense.matrix, dense.metric, dense.query(), arms_of(arms),
                       {runs.data(), static_cast<std::int64_t>(runs.size())}, scores.data(),
                       squares ? squares->data() : nullptr);
        },
        "dense"_a, "starts"_a.noconvert(), "stops"_a.noconvert(), "arms"_a.noconvert(), "team"_a,
        "scores"_a.noconvert(), "squares"_a.noconvert() = nb::none(),
        "Fill scores (arms,) with the sum of the rewards of each arm over some ascending runs of columns, and squares "
        "(arms,) with that of its squared values.");

    const auto def_pair_scores = [&]<class Query>(Query) {
        m.def(
            "pair_scores",
            [](const Dense& dense, const nb::ndarray<const Query, nb::ndim<2>, nb::c_contig, nb::device::cpu>& queries,
               const Ids& starts, const Ids& arms, Team& team, const RealsOut& scores) {
                if (static_cast<std::int64_t>(queries.shape(1)) != dense.matrix.n_columns) {
                    throw nb::value_error("a query is not as long as the rows of the data");
                }
                if (starts.shape(0) != queries.shape(0) + 1) throw nb::value_error("each query must have a start");
                const Released released;
                pair_scores(team, dense.matrix, dense.metric, queries.data(),
                            static_cast<std::int64_t>(queries.shape(0)), starts.data(), arms.data(), scores.data());
            },
            "dense"_a, "queries"_a.noconvert(), "starts"_a.noconvert(), "arms"_a.noconvert(), "team"_a,
            "scores"_a.noconvert(),
            "Fill scores with those of the arms from starts[query] to starts[query + 1], for each query, as "
            "row_scores does.");
    };
    def_pair_scores(float{});
    def_pair_scores(double{});

    m.def(
        "scan_rows",
        [](const Data& data, Element element, const Reals& middle, const Reals& unit, const Ids& arms,
           Team& team, const RealsOut& reach, const RealsOut& squares) {
            const Matrix matrix = matrix_of(data, element);
            const Released released;
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
            const Released released;
            column_limits(team, matrix, arms_of(arms), low.data(), high.data());
        },
        "data"_a.noconvert(), "element"_a, "arms"_a.noconvert(), "team"_a, "low"_a.noconvert(),
        "high"_a.noconvert(),
        "Fill low and high (coordinates,) with the limits of the values of the given arms.");

    nb::enum_<QueryTerm>(m, "QueryTerm", "What is added up of a query.")
        .value("ABSOLUTE", QueryTerm::absolute)
        .value("SQUARE", QueryTerm::square)
        .value("PRODUCT", QueryTerm::product);

    m.def(
        "query_sums",
        [](QueryTerm term, const std::variant<Reals, FloatRow>& query, const Reals& by, std::int64_t block,
           std::int64_t shift, Team& team, const RealsOut& sums) {
            const auto length = std::visit([](const auto& values) { return values.shape(0); }, query);
            const auto count = static_cast<std::int64_t>(length);
            if (by.shape(0) != 1 && by.shape(0) != length) {
                throw nb::value_error("there must be one factor, or one for each coordinate");
            }
            const std::int64_t blocks = (count + shift + block - 1) / block;
            if (static_cast<std::int64_t>(sums.shape(0)) != blocks) {
                throw nb::value_error("there must be a place for each block");
            }
            const auto* const doubles = std::get_if<Reals>(&query);
            const auto* const floats = std::get_if<FloatRow>(&query);
            const QueryTerms terms{term,
                                   doubles == nullptr ? nullptr : doubles->data(),
                                   floats == nullptr ? nullptr : floats->data(),
                                   by.data(),
                                   by.shape(0) == length,
                                   count,
                                   block,
                                   shift};
            const Released released;
            return query_sums(team, terms, blocks, sums.data());
        },
        "term"_a, "query"_a.noconvert(), "by"_a.noconvert(), "block"_a, "shift"_a, "team"_a, "sums"_a.noconvert(),
        "Fill sums (blocks,) with |query| * by, query**2 or query * by, added up over each block, and return the sum "
        "of all their absolute values.");

    m.def(
        "extremes",
        [](const Values& values) {
            if (values.size() == 0) throw nb::value_error("no values have no extremes");
            const Extremes found = extremes_of(values);
            return std::tuple(found.smallest, found.largest);
        },
        "values"_a.noconvert(), "Return the smallest and the largest of some values; NaN if one is.");

    const auto def_all_finite = [&]<class Some>(std::type_identity<Some>) {
        m.def(
            "all_finite",
            [](const Some& values) {
                const Unlocked unlocked(values.size());
                return all_finite(values.data(), static_cast<std::int64_t>(values.size()));
            },
            "values"_a.noconvert(), "Return whether no value is infinite or NaN.");
    };
    def_all_finite(std::type_identity<Values>{});
    def_all_finite(std::type_identity<FloatValues>{});

    const auto def_all_equal = [&]<class Some>(std::type_identity<Some>) {
        m.def(
            "all_equal",
            [](const Some& values, const Reals& others) {
                if (values.ndim() != 1 || values.shape(0) != others.shape(0)) return false;
                const Unlocked unlocked(values.size());
                return all_equal(values.data(), others.data(), static_cast<std::int64_t>(values.size()));
            },
            "values"_a.noconvert(), "others"_a.noconvert(),
            "Return whether these are the same numbers, in the same shape; NaN is none.");
    };
    def_all_equal(std::type_identity<Values>{});
    def_all_equal(std::type_identity<FloatValues>{});

    bind_files(m);
    bind_race(m);
    bind_selection(m);
    bind_screen(m);

    m.def("instruction_sets", &instruction_sets,
          "What the kernels were compiled for and this processor has, best first.");
    m.def("instruction_set", &instruction_set, "The one in use.");
    m.def("use_instruction_set", &use_instruction_set, "name"_a,
          "Use another one from now on, in the whole process: for tests. Results do not change.");
}

}  // namespace
}  // namespace sureshot
