// Python's view of the kernels. Arrays are borrowed, never copied: an argument of another type,
// order or device is a TypeError. The callers in sources/ check all values.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "block_sums.hpp"
#include "cpu.hpp"
#include "row_scores.hpp"
#include "scan.hpp"
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

Element element_of(const Data& data) {
    const nb::dlpack::dtype type = data.dtype();
    if (type == nb::dtype<float>()) return Element::float32;
    if (type == nb::dtype<double>()) return Element::float64;
    if (type == nb::dtype<std::int8_t>()) return Element::int8;
    if (type == nb::dtype<std::uint8_t>()) return Element::uint8;
    if (type == nb::dtype<std::int16_t>()) return Element::int16;
    if (type == nb::dtype<bool>()) return Element::boolean;
    throw nb::type_error("data has an element type the kernels do not know");
}

Matrix matrix_of(const Data& data) {
    return {data.data(),
            element_of(data),
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

    nb::enum_<Metric>(m, "Metric", "What a reward is.")
        .value("INNER_PRODUCT", Metric::inner_product)
        .value("SQUARED_EUCLIDEAN", Metric::squared_euclidean)
        .value("L1", Metric::l1);

    m.def(
        "block_sums",
        [](const Data& data, Metric metric, const Reals& query, const Ids& arms, const Ids& blocks,
           std::int64_t block, int threads, const TableOut& sums,
           const std::optional<TableOut>& squares) {
            const nb::gil_scoped_release release;
            block_sums(matrix_of(data), metric, query.data(), arms_of(arms), blocks_of(blocks, block),
                       threads, sums.data(), squares ? squares->data() : nullptr);
        },
        "data"_a.noconvert(), "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(),
        "blocks"_a.noconvert(), "block"_a, "threads"_a, "sums"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill sums (blocks, arms) with the sum of each arm's rewards over each block, and squares "
        "with that of its squared values.");

    m.def(
        "totals",
        [](const Data& data, Metric metric, const Reals& query, const Ids& arms, const Ids& blocks,
           std::int64_t block, const Reals& centre, const Reals& weight, int threads,
           const RealsOut& high, const RealsOut& low, const RealsOut& largest,
           const std::optional<RealsOut>& squares) {
            const nb::gil_scoped_release release;
            totals(matrix_of(data), metric, query.data(), arms_of(arms), blocks_of(blocks, block),
                   centre.data(), weight.data(), threads,
                   {high.data(), low.data(), largest.data(), squares ? squares->data() : nullptr});
        },
        "data"_a.noconvert(), "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(),
        "blocks"_a.noconvert(), "block"_a, "centre"_a.noconvert(), "weight"_a.noconvert(),
        "threads"_a, "high"_a.noconvert(), "low"_a.noconvert(), "largest"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill high + low (arms,) with the sums over all blocks, and largest with the largest "
        "|sum - centre| / weight of a block.");

    m.def(
        "column_sums",
        [](const Table& table, const RealsOut& high, const RealsOut& low) {
            const nb::gil_scoped_release release;
            column_sums(table.data(), static_cast<std::int64_t>(table.shape(0)),
                        static_cast<std::int64_t>(table.shape(1)), high.data(), low.data());
        },
        "table"_a.noconvert(), "high"_a.noconvert(), "low"_a.noconvert(),
        "Fill high + low (columns,) with the sum of each column.");

    m.def(
        "row_scores",
        [](const Data& data, Metric metric, const Reals& query, const Ids& arms, int threads,
           const RealsOut& scores) {
            const nb::gil_scoped_release release;
            row_scores(matrix_of(data), metric, query.data(), arms_of(arms), threads, scores.data());
        },
        "data"_a.noconvert(), "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(), "threads"_a,
        "scores"_a.noconvert(), "Fill scores (arms,) with the sum of all rewards of each arm.");

    m.def(
        "scan_rows",
        [](const Data& data, const Reals& middle, const Reals& unit, int threads,
           const RealsOut& reach, const RealsOut& squares) {
            const nb::gil_scoped_release release;
            scan_rows(matrix_of(data), middle.data(), unit.data(), threads, reach.data(),
                      squares.data());
        },
        "data"_a.noconvert(), "middle"_a.noconvert(), "unit"_a.noconvert(), "threads"_a,
        "reach"_a.noconvert(), "squares"_a.noconvert(),
        "Fill reach (rows,) with the largest |value - middle| * unit and squares with the squared "
        "norm of each row.");

    m.def(
        "peak_wealth",
        [](const Table& sums, const std::optional<Table>& squares, const Reals& centre,
           const Reals& weight, const Reals& left, const Reals& guess, const Reals& scale,
           const Reals& limit, double base, double sign, double floor, std::int64_t first_bet,
           const Reals& theta, int threads, const RealsOut& peaks) {
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
            peak_wealth(bets, theta.data(), threads, peaks.data());
        },
        "sums"_a.noconvert(), "squares"_a.noconvert().none(), "centre"_a.noconvert(),
        "weight"_a.noconvert(), "left"_a.noconvert(), "guess"_a.noconvert(), "scale"_a.noconvert(),
        "limit"_a.noconvert(), "base"_a, "sign"_a, "floor"_a, "first_bet"_a, "theta"_a.noconvert(),
        "threads"_a, "peaks"_a.noconvert(),
        "Fill peaks (arms,) with the largest wealth each arm ever reached if its sum were theta.");

    m.def("cpu_features", &cpu_features, "Instruction sets of this processor, by name.");
}

}  // namespace
}  // namespace sureshot
