// Files that are read in pieces, and whether a memory map need be read at all.
#include <exception>

#include "bindings.hpp"
#include "file_reader.hpp"

namespace sureshot {
namespace {

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

    nb::class_<FileReader>(m, "FileReader", "Reads many pieces of an open file at once.")
        .def(nb::init<int, int>(), "descriptor"_a, "threads"_a,
             "The descriptor is borrowed. The threads wait for the disk: they may be many.")
        .def(
            "read",
            [](FileReader& self, const Ids& offsets, std::int64_t length, const BytesOut& out) {
                const auto count = static_cast<std::int64_t>(offsets.shape(0));
                if (length < 0 || static_cast<std::int64_t>(out.shape(0)) != count * length) {
                    throw nb::value_error("there must be a place for each byte");
                }
                const Released released;
                self.read({offsets.data(), count, length, reinterpret_cast<char*>(out.data())});
            },
            "offsets"_a.noconvert(), "length"_a, "out"_a.noconvert(),
            "Fill out with so many bytes from each offset, one after the other. Raises OSError.");

    m.def(
        "resident_share",
        [](const Data& data) {
            return resident_share(data.data(), static_cast<std::int64_t>(data.nbytes()));
        },
        "data"_a.noconvert(),
        "Return which share of an array without gaps lies in memory, from a sample; 1 where the system does not tell.");
}

}  // namespace sureshot
