// Values of any element type as numbers of C++: doubles or, for all types but float64, floats, which hold
// every one of them exactly. Values that do not lie side by side are widened into a small buffer before they are
// summed, so that no loop has a copy for them; and so are, but for the loops that matter most, values of other
// types than these two. For kernels: one copy for each instruction set.
#pragma once

#include "elements.hpp"

namespace sureshot::SURESHOT_ISA {

// `count` values that lie `step` values apart.
template <class Number>
void widen(Element element, const void* values, std::int64_t step, std::int64_t count, Number* out);

// The values that lie ids[at] * stride after the first.
template <class Number>
void gather(Element element, const void* first, const std::int64_t* ids, std::int64_t stride,
            std::int64_t count, Number* out);

// Columns, of which the first ones are read, and the others soon after.
struct Columns {
    const std::int64_t* ids;
    std::int64_t count;
    std::int64_t known;
};

// The values of some arms in each of some columns, one column after the other. In a loop that does nothing else: the
// fewer instructions between two cache lines, the more of them are on their way.
template <class Number>
void gather_columns(const Matrix& matrix, Arms arms, Columns columns, Number* out);

// Runs of `run` neighbours, the first of which lie ids[0], ids[run], ... after the first.
constexpr std::int64_t run = 8;
void gather_runs(Element element, const void* first, const std::int64_t* ids, std::int64_t count, double* out);

// Where a value lies.
inline const char* address_of(const Matrix& matrix, std::int64_t row, std::int64_t column) {
    return static_cast<const char*>(matrix.data) +
           (row * matrix.row_stride + column * matrix.column_stride) * size_of(matrix.element);
}

// The values of some arms in one column, from the arm `begin` on.
template <class Number>
inline void widen_column(const Matrix& matrix, std::int64_t column, const Places& places, std::int64_t begin,
                         std::int64_t count, Number* out) {
    if (places.ids == nullptr) {
        return widen(matrix.element, address_of(matrix, places.first + begin, column), matrix.row_stride, count,
                     out);
    }
    gather(matrix.element, address_of(matrix, 0, column), places.ids + begin, matrix.row_stride, count, out);
}

// Calls f with the address of a value as one of the types that are read as they are, and returns true;
// or returns false, if values `step` apart have to be widened first.
template <class F>
inline bool read_as_is(Element element, std::int64_t step, const void* values, F&& f) {
    if (step != 1) return false;
    if (element == Element::float32) return f(static_cast<const float*>(values)), true;
    if (element == Element::float64) return f(static_cast<const double*>(values)), true;
    return false;
}

// The same for the loops in which nearly all of the time of a pass goes, where that is worth a copy for every
// element type.
template <class F>
inline bool read_any_as_is(Element element, std::int64_t step, const void* values, F&& f) {
    if (step != 1) return false;
    with_values(element, [&]<class Value>() { f(static_cast<const Value*>(values)); });
    return true;
}

// Calls f.template operator()<Number>() with what values of the type are widened to.
template <class F>
inline void widened_as(Element element, F&& f) {
    if (element == Element::float64) return f.template operator()<double>();
    return f.template operator()<float>();
}

}  // namespace sureshot::SURESHOT_ISA
