// Python's view of the kernels. Arrays are borrowed, never copied: an argument of another type,
// order or device is a TypeError. The callers in sources/ check all values.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "isa.hpp"
#include "matrix.hpp"
#include "team.hpp"
#include "wealth.hpp"

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

Arms arms_of(const Ids& ids) { return {ids.data(), static_cast<std::int64_t>(ids.shape(0))}; }

Blocks blocks_of(const Ids& ids, std::int64_t size) {
    return {ids.data(), static_cast<std::int64_t>(ids.shape(0)), size};
}

NB_MODULE(_native, m) {
    m.doc() = "Kernels of sureshot: block sums and exact scores.";

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
        .def(nb::init<int>(), "threads"_a);

    m.def(
        "block_sums",
        [](const Data& data, Element element, Metric metric, const Reals& query, const Ids& arms, const Ids& blocks,
           std::int64_t block, Team& team, const TableOut& sums,
           const std::optional<TableOut>& squares) {
            const Matrix matrix = matrix_of(data, element);
            const nb::gil_scoped_release release;
            const Arms all = arms_of(arms);
            const Blocks wanted = blocks_of(blocks, block);
            team.run(all.count, wanted.count * wanted.size, [&](auto begin, auto end) noexcept {
                kernels().block_sums(matrix, metric, query.data(), {all.ids + begin, end - begin},
                                     wanted, sums.data() + begin, all.count,
                                     squares ? squares->data() + begin : nullptr);
            });
        },
        "data"_a.noconvert(), "element"_a, "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(),
        "blocks"_a.noconvert(), "block"_a, "team"_a, "sums"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill sums (blocks, arms) with the sum of each arm's rewards over each block, and squares "
        "with that of its squared values.");

    m.def(
        "totals",
        [](const Data& data, Element element, Metric metric, const Reals& query, const Ids& arms, const Ids& blocks,
           std::int64_t block, const Reals& centre, const Reals& weight, Team& team,
           const RealsOut& high, const RealsOut& low, const RealsOut& largest,
           const std::optional<RealsOut>& squares) {
            const Matrix matrix = matrix_of(data, element);
            const nb::gil_scoped_release release;
            const Arms all = arms_of(arms);
            const Blocks wanted = blocks_of(blocks, block);
            team.run(all.count, wanted.count * wanted.size, [&](auto begin, auto end) noexcept {
                kernels().totals(matrix, metric, query.data(), {all.ids + begin, end - begin}, wanted,
                                 centre.data(), weight.data(),
                                 {high.data() + begin, low.data() + begin, largest.data() + begin,
                                  squares ? squares->data() + begin : nullptr});
            });
        },
        "data"_a.noconvert(), "element"_a, "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(),
        "blocks"_a.noconvert(), "block"_a, "centre"_a.noconvert(), "weight"_a.noconvert(),
        "team"_a, "high"_a.noconvert(), "low"_a.noconvert(), "largest"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill high + low (arms,) with the sums over all blocks, and largest with the largest "
        "|sum - centre| / weight of a block.");

    m.def(
        "column_sums",
        [](const Table& table, const RealsOut& high, const RealsOut& low) {
            const nb::gil_scoped_release release;
            kernels().column_sums(table.data(), static_cast<std::int64_t>(table.shape(0)),
                                  static_cast<std::int64_t>(table.shape(1)), high.data(),
                                  low.data());
        },
        "table"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(),
        "Fill high + low (columns,) with the sum of each column.");

    m.def(
        "row_scores",
        [](const Data& data, Element element, Metric metric, const Reals& query, const Ids& arms, Team& team,
           const RealsOut& scores) {
            const Matrix matrix = matrix_of(data, element);
            const nb::gil_scoped_release release;
            const Arms all = arms_of(arms);
            team.run(all.count, matrix.n_columns, [&](auto begin, auto end) noexcept {
                kernels().row_scores(matrix, metric, query.data(), {all.ids + begin, end - begin},
                                     scores.data() + begin);
            });
        },
        "data"_a.noconvert(), "element"_a, "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(), "team"_a,
        "scores"_a.noconvert(), "Fill scores (arms,) with the sum of all rewards of each arm.");

    m.def(
        "scan_rows",
        [](const Data& data, Element element, const Reals& middle, const Reals& unit, const Ids& arms,
           Team& team, const RealsOut& reach, const RealsOut& squares) {
            const Matrix matrix = matrix_of(data, element);
            const nb::gil_scoped_release release;
            const Arms all = arms_of(arms);
            team.run(all.count, matrix.n_columns, [&](auto begin, auto end) noexcept {
                kernels().scan_rows(matrix, middle.data(), unit.data(),
                                    {all.ids + begin, end - begin}, reach.data() + begin,
                                    squares.data() + begin);
            });
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
            team.run(matrix.n_columns, arms_of(arms).count, [&](auto begin, auto end) noexcept {
                kernels().column_limits(matrix, arms_of(arms), begin, end, low.data(), high.data());
            });
        },
        "data"_a.noconvert(), "element"_a, "arms"_a.noconvert(), "team"_a, "low"_a.noconvert(),
        "high"_a.noconvert(),
        "Fill low and high (coordinates,) with the limits of the values of the given arms.");

    m.def(
        "peak_wealth",
        [](const Table& sums, const std::optional<Table>& squares, const Reals& centre,
           const Reals& weight, const Reals& left, const Reals& guess, const Reals& scale,
           const Reals& limit, double base, double sign, double floor, std::int64_t first_bet,
           const Reals& theta, Team& team, const RealsOut& peaks) {
            const nb::gil_scoped_release release;
            const Bets bets{static_cast<std::int64_t>(sums.shape(0)),
                            static_cast<std::int64_t>(sums.shape(1)),
                            sums.data(),
                            squares ? squares->data() : nullptr,
                            centre.data(),
                            weight.data(),
                            left.data(),
                            guess.data(),
                            scale.data(),
                            limit.data(),
                            base,
                            sign,
                            floor,
                            first_bet};
            peak_wealth(bets, theta.data(), team, peaks.data());
        },
        "sums"_a.noconvert(), "squares"_a.noconvert().none(), "centre"_a.noconvert(),
        "weight"_a.noconvert(), "left"_a.noconvert(), "guess"_a.noconvert(), "scale"_a.noconvert(),
        "limit"_a.noconvert(), "base"_a, "sign"_a, "floor"_a, "first_bet"_a, "theta"_a.noconvert(),
        "team"_a, "peaks"_a.noconvert(),
        "Fill peaks (arms,) with the largest wealth each arm ever reached if its sum were theta.");

    m.def("instruction_sets", &instruction_sets,
          "What the kernels were compiled for and this processor has, best first.");
    m.def("instruction_set", &instruction_set, "The one in use.");
    m.def("use_instruction_set", &use_instruction_set, "name"_a,
          "Use another one from now on, in the whole process: for tests. Results do not change.");
}

}  // namespace
}  // namespace sureshot
