// The element types as numbers. For kernels: one copy for each instruction set.
#pragma once

#include "matrix.hpp"

namespace sureshot::SURESHOT_ISA {

// Types that C++ does not have. A boolean may be any byte: everything but 0 is true.
struct Float16 {
    std::uint16_t bits;
};
struct BFloat16 {
    std::uint16_t bits;
};
struct Boolean {
    std::uint8_t byte;
};

// A value as a double, or as a float, which holds every one but a double's exactly.
template <class Number = double, class Value>
inline Number number(Value value) {
    return static_cast<Number>(value);
}

template <class Number = double>
inline Number number(Boolean value) {
    return static_cast<Number>(value.byte != 0);
}

template <class Number = double>
inline Number number(BFloat16 value) {
    return static_cast<Number>(__builtin_bit_cast(float, static_cast<std::uint32_t>(value.bits) << 16));
}

// Without a branch, so that the compiler makes vectors of it, and exact for every value, NaN included.
template <class Number = double>
inline Number number(Float16 value) {
    constexpr std::uint32_t bias = 127 - 15;  // between the exponents of float and of half
    const std::uint32_t bits = value.bits;
    const std::uint32_t magnitude = (bits & 0x7fff) << 13;
    // Infinity and NaN have the largest exponent, of half and of float: it grows by the bias twice.
    const std::uint32_t exponent = magnitude >= 0x0f800000 ? 2 * bias : bias;
    const float normal = __builtin_bit_cast(float, magnitude + (exponent << 23));
    // A number below 2^-14 is put behind the leading one of 2^-14, which is then taken away.
    const float small = __builtin_bit_cast(float, magnitude + ((bias + 1) << 23)) - 0x1p-14f;
    const float positive = magnitude < 0x00800000 ? small : normal;
    const std::uint32_t sign = (bits & 0x8000) << 16;
    return static_cast<Number>(__builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, positive) | sign));
}

// Calls f.template operator()<Value>() for the element type at hand.
template <class F>
void with_values(Element element, F&& f) {
    switch (element) {
        case Element::float16: return f.template operator()<Float16>();
        case Element::bfloat16: return f.template operator()<BFloat16>();
        case Element::float32: return f.template operator()<float>();
        case Element::float64: return f.template operator()<double>();
        case Element::int8: return f.template operator()<std::int8_t>();
        case Element::uint8: return f.template operator()<std::uint8_t>();
        case Element::int16: return f.template operator()<std::int16_t>();
        case Element::boolean: return f.template operator()<Boolean>();
    }
}

}  // namespace sureshot::SURESHOT_ISA
