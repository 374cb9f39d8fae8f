// Files that are read in pieces, and whether a memory map need be read at all.
#include <exception>

#include "bindings.hpp"
#include "file_reader.hpp"
#include "lane_sums.hpp"

namespace sureshot {
namespace {

using SumsOut = nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using BytesOut = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// OSError(errno, words); without a number where the file ends too soon.
void raise_os_error(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const ReadError& error) {
        const nb::object made = error.code == 0 ? nb::handle(PyExc_OSError)(error.what())
                                                : nb::handle(PyExc_OSError)(error.code, error.what());
        PyErr_SetObject(PyExc_OSError, made.ptr());
    }
}

}  // namespace

void bind_files(nb::module_& m) {
    nb::register_exception_translator(raise_os_error);

    nb::class_<FileReader>(m, "FileReader", nb::is_weak_referenceable(),
                           "Reads many pieces of an open file at once.")
        .def(nb::init<int>(), "threads"_a, "The threads wait for the disk: they may be many.")
        .def(
            "read",
            [](FileReader& self, int descriptor, const Ids& offsets, std::int64_t length, const BytesOut& out) {
                const auto count = static_cast<std::int64_t>(offsets.shape(0));
                if (length < 0 || static_cast<std::int64_t>(out.shape(0)) != count * length) {
                    throw nb::value_error("there must be a place for each byte");
                }
                const Released released;
                self.read(descriptor, {offsets.data(), count, length, reinterpret_cast<char*>(out.data())});
            },
            "descriptor"_a, "offsets"_a.noconvert(), "length"_a, "out"_a.noconvert(),
            "Fill out with so many bytes from each offset, one after the other. Raises OSError.");

    m.def(
        "resident_share",
        [](const Data& data, Element element) { return resident_share(matrix_of(data, element)); },
        "data"_a.noconvert(), "element"_a,
        "Return which share of an array lies in memory, from a sample; 1 where the system does not tell.");

    m.def(
        "add_scores",
        [](const Data& data, Element element, Metric metric, const Table& queries, Team& team, const SumsOut& sums) {
            const Matrix matrix = matrix_of(data, element);
            const bool fits = queries.shape(1) == data.shape(1) && sums.shape(0) == queries.shape(0) &&
                              sums.shape(1) == data.shape(0) && sums.shape(2) == static_cast<std::size_t>(lanes);
            if (!fits) throw nb::value_error("there must be a query value for each column, and sums for each row");
            const Released released;
            add_scores(team, matrix, metric, queries.data(), static_cast<std::int64_t>(queries.shape(0)), sums.data());
        },
        "data"_a.noconvert(), "element"_a, "metric"_a, "queries"_a.noconvert(), "team"_a, "sums"_a.noconvert(),
        "Add the rewards of each row to its sums (queries, rows, LANES), that of column j to the lane j % LANES.");
    m.attr("LANES") = lanes;
}

}  // namespace sureshot
