// What the files of bindings share: the arrays of Python as memory of C++, and back. Arrays are borrowed, never
// copied: an argument of another type, order or device is a TypeError. The callers check all values.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "arena.hpp"
#include "matrix.hpp"
#include "reading.hpp"
#include "turns.hpp"

namespace sureshot {

namespace nb = nanobind;
using namespace nb::literals;

// The order of the draws, the ledger and what it reports.
void bind_race(nb::module_& m);
// The choice of the k best from scores that are known up to an error.
void bind_selection(nb::module_& m);
// Files that are read in pieces.
void bind_files(nb::module_& m);
// Scores in float32, and the arms that they leave.
void bind_screen(nb::module_& m);

using Data = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;
using Reals = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ids = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatTable = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using FloatRow = nb::ndarray<const float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using RealsOut = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IdsOut = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IdTableOut = nb::ndarray<std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using TableOut = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The caller names the element type: half-precision arrays come as integers.
inline Matrix matrix_of(const Data& data, Element element) {
    if (static_cast<std::int64_t>(data.itemsize()) != size_of(element)) {
        throw nb::type_error("data is not of the given element type");
    }
    return {data.data(),
            element,
            static_cast<std::int64_t>(data.shape(0)),
            static_cast<std::int64_t>(data.shape(1)),
            data.stride(0),
            data.stride(1)};
}

// Data and a query, as kernels take them; the borrowed arrays live as long as this does.
class Dense {
 public:
    Dense(Data data, Element element, Metric metric, std::variant<Reals, FloatRow> query, std::int64_t block,
          std::int64_t shift)
        : matrix(matrix_of(data, element)),
          metric(metric),
          block_(block),
          shift_(shift),
          data_(std::move(data)),
          query_(std::move(query)) {
        const auto length = std::visit([](const auto& values) { return values.shape(0); }, query_);
        if (static_cast<std::int64_t>(length) != matrix.n_columns) {
            throw nb::value_error("the query is not as long as the rows of the data");
        }
    }

    // In double; a query of floats is widened when it is first asked for.
    const double* query() const {
        if (const auto* const reals = std::get_if<Reals>(&query_)) return reals->data();
        std::call_once(widened_, [&] { wide_.assign(floats(), floats() + matrix.n_columns); });
        return wide_.data();
    }
    // The same values if they were given as floats; else null.
    const float* floats() const {
        const auto* const given = std::get_if<FloatRow>(&query_);
        return given == nullptr ? nullptr : given->data();
    }
    // As they were given.
    QueryValues values() const { return {floats() == nullptr ? query() : nullptr, floats()}; }
    Blocks blocks(const Ids& ids) const {
        return {ids.data(), static_cast<std::int64_t>(ids.shape(0)), block_, shift_};
    }
    ArmData of(const Ids& arms) const {
        return {matrix, metric, values(), {nullptr, 0, block_, shift_}, arms.data()};
    }

    const Matrix matrix;
    const Metric metric;

 private:
    std::int64_t block_, shift_;
    Data data_;
    std::variant<Reals, FloatRow> query_;
    mutable std::once_flag widened_;
    mutable std::vector<double> wide_;
};

inline Arms arms_of(const Ids& ids) { return {ids.data(), static_cast<std::int64_t>(ids.shape(0))}; }

// Releases Python's lock, and lets another thread of the same batch have it.
class Released {
 private:
    // In this order: the turn is given without the lock, and taken before the lock is.
    nb::gil_scoped_release lock_;
    TurnGiven turn_;
};

// Releases Python's lock for a call that goes through `items` of something, if they are many: to take it
// again can cost more than a short call.
class Unlocked {
 public:
    explicit Unlocked(std::size_t items) {
        if (items >= 4096) released_.emplace();
    }

 private:
    std::optional<Released> released_;
};

// A new array with the values.
template <class Value>
auto array_of(std::vector<Value> values) {
    auto* kept = new std::vector<Value>(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Value>*>(p); });
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

// An array that shares the memory of the object it is a property of.
template <class Value>
auto view_of(PerArm<Value>& values) {
    return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(values.data(), {values.size()}, nb::handle());
}

}  // namespace sureshot
