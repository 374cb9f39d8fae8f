// Python's view of the kernels. Arrays are borrowed, never copied: an argument of another type,
// order or device is a TypeError. The callers in sources/ check all values.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "block_sums.hpp"
#include "cpu.hpp"
#include "row_scores.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace sureshot {
namespace {

using Data = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ids = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
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
           std::int64_t block, int threads, const TableOut& sums) {
            const nb::gil_scoped_release release;
            block_sums(matrix_of(data), metric, query.data(), arms_of(arms), blocks_of(blocks, block),
                       threads, sums.data());
        },
        "data"_a.noconvert(), "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(),
        "blocks"_a.noconvert(), "block"_a, "threads"_a, "sums"_a.noconvert(),
        "Fill sums (blocks, arms) with the sum of each arm's rewards over each block.");

    m.def(
        "checked_totals",
        [](const Data& data, Metric metric, const Reals& query, const Ids& arms, const Ids& blocks,
           std::int64_t block, const Reals& low, const Reals& high, int threads,
           const RealsOut& totals) {
            Offender offender;
            {
                const nb::gil_scoped_release release;
                offender = checked_totals(matrix_of(data), metric, query.data(), arms_of(arms),
                                          blocks_of(blocks, block), low.data(), high.data(), threads,
                                          totals.data());
            }
            return nb::make_tuple(offender.arm, offender.block, offender.sum);
        },
        "data"_a.noconvert(), "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(),
        "blocks"_a.noconvert(), "block"_a, "low"_a.noconvert(), "high"_a.noconvert(), "threads"_a,
        "totals"_a.noconvert(),
        "Fill totals (arms,) with sums over all blocks; return the first (arm, block, sum) outside "
        "[low, high], or (-1, -1, 0).");

    m.def(
        "row_scores",
        [](const Data& data, Metric metric, const Reals& query, const Ids& arms, int threads,
           const RealsOut& scores) {
            const nb::gil_scoped_release release;
            row_scores(matrix_of(data), metric, query.data(), arms_of(arms), threads, scores.data());
        },
        "data"_a.noconvert(), "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(), "threads"_a,
        "scores"_a.noconvert(), "Fill scores (arms,) with the sum of all rewards of each arm.");

    m.def("cpu_features", &cpu_features, "Instruction sets of this processor, by name.");
}

}  // namespace
}  // namespace sureshot
