// Numbers side by side that are added and multiplied together: a type of GCC and Clang, else a loop for each operation.
#pragma once

#include <cstdint>

#include "compiler.hpp"

namespace sureshot::SURESHOT_ISA {

#if defined(SURESHOT_EXTENSIONS)
template <class Number, std::int64_t count>
struct VectorOf {
    typedef Number type __attribute__((vector_size(sizeof(Number) * count)));
};

template <class To, class From>
inline To converted(From from) {
    return __builtin_convertvector(from, To);
}
#else
template <class Number, std::int64_t count>
struct PlainVector {
    static constexpr std::int64_t size = count;
    Number numbers[count];

    static PlainVector all(Number value) {
        PlainVector made;
        for (Number& number : made.numbers) number = value;
        return made;
    }

    Number& operator[](std::int64_t at) { return numbers[at]; }
    Number operator[](std::int64_t at) const { return numbers[at]; }

    PlainVector& operator+=(const PlainVector& other) { return *this = *this + other; }
    friend PlainVector operator+(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](Number x, Number y) { return x + y; });
    }
    friend PlainVector operator-(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](Number x, Number y) { return x - y; });
    }
    friend PlainVector operator*(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](Number x, Number y) { return x * y; });
    }
    friend PlainVector operator&(const PlainVector& a, const PlainVector& b) {
        return each(a, b, [](Number x, Number y) { return x & y; });
    }
    friend PlainVector operator&(const PlainVector& a, Number b) { return a & all(b); }
    friend PlainVector operator-(Number a, const PlainVector& b) { return all(a) - b; }
    friend PlainVector operator-(const PlainVector& a) {
        return each(a, a, [](Number x, Number) { return -x; });
    }

private:
    template <class Operation>
    static PlainVector each(const PlainVector& a, const PlainVector& b, Operation operation) {
        PlainVector found;
        for (std::int64_t at = 0; at < count; ++at) found[at] = operation(a[at], b[at]);
        return found;
    }
};

template <class Number, std::int64_t count>
struct VectorOf {
    using type = PlainVector<Number, count>;
};

template <class To, class From>
inline To converted(const From& from) {
    To found;
    for (std::int64_t at = 0; at < From::size; ++at) found[at] = from[at];
    return found;
}
#endif

template <class Number, std::int64_t count>
using Vector = typename VectorOf<Number, count>::type;

}  // namespace sureshot::SURESHOT_ISA
