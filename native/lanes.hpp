// The lanes in which a row is added up in double, side by side. For kernels: one copy for each instruction set.
#pragma once

#include "elements.hpp"
#include "layout.hpp"
#include "vectors.hpp"

namespace sureshot::SURESHOT_ISA {

#if defined(SURESHOT_EXTENSIONS)
#if defined(__AVX512F__)
constexpr std::int64_t doubles_in_a_register = 8;
#elif defined(__AVX2__)
constexpr std::int64_t doubles_in_a_register = 4;
#else
constexpr std::int64_t doubles_in_a_register = 2;
#endif

// Numbers that take several registers. As one vector GCC keeps them in memory, and waits for it with every operation:
// 30 times as long with AVX2.
template <class Half>
struct Halves {
    Half low, high;

    Halves& operator+=(const Halves& other) { return *this = *this + other; }
    friend Halves operator+(const Halves& a, const Halves& b) { return {a.low + b.low, a.high + b.high}; }
    friend Halves operator-(const Halves& a, const Halves& b) { return {a.low - b.low, a.high - b.high}; }
    friend Halves operator*(const Halves& a, const Halves& b) { return {a.low * b.low, a.high * b.high}; }
    friend Halves operator-(const Halves& a) { return {-a.low, -a.high}; }
};

template <std::int64_t count>
struct InRegisters {
    using type = Halves<typename InRegisters<count / 2>::type>;
};
template <>
struct InRegisters<doubles_in_a_register> {
    using type = Vector<double, doubles_in_a_register>;
};

// The lanes of a row side by side.
using Register = InRegisters<doubles_in_a_register>::type;
using Lanes = InRegisters<lanes>::type;
#else
using Register = Vector<double, lanes>;
using Lanes = Register;
#endif

constexpr std::int64_t register_lanes = sizeof(Register) / sizeof(double);

using sureshot::magnitude_of;
inline Register magnitude_of(Register values) {
    using Bits = Vector<std::int64_t, register_lanes>;
    return __builtin_bit_cast(Register, __builtin_bit_cast(Bits, values) & 0x7fffffffffffffff);
}

// a * b + sum with one rounding: the same bits as with two where the product is a number of float64.
inline Register fused(Register a, Register b, Register sum) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, sum);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fmadd_pd(a, b, sum);
#else
    return a * b + sum;
#endif
}

inline void load(const double* values, Register& found) { copy_bytes(&found, values, sizeof(found)); }
inline void load(const float* values, Register& found) {
#if defined(__AVX512F__)  // one instruction each, which GCC does not find
    found = __builtin_bit_cast(Register, _mm512_cvtps_pd(_mm256_loadu_ps(values)));
#elif defined(__AVX2__)
    found = __builtin_bit_cast(Register, _mm256_cvtps_pd(_mm_loadu_ps(values)));
#else
    Vector<float, register_lanes> narrow;
    copy_bytes(&narrow, values, sizeof(narrow));
    found = converted<Register>(narrow);
#endif
}

#if defined(SURESHOT_EXTENSIONS)
template <class Half>
inline Halves<Half> magnitude_of(const Halves<Half>& values) {
    return {magnitude_of(values.low), magnitude_of(values.high)};
}
template <class Half>
inline Halves<Half> fused(const Halves<Half>& a, const Halves<Half>& b, const Halves<Half>& sum) {
    return {fused(a.low, b.low, sum.low), fused(a.high, b.high, sum.high)};
}
template <class Value, class Half>
inline void load(const Value* values, Halves<Half>& found) {
    load(values, found.low);
    load(values + sizeof(Half) / sizeof(double), found.high);
}
#endif

// Values of a row or a query as lanes.
inline Lanes lanes_of(const double* values) {
    Lanes found;
    load(values, found);
    return found;
}
inline Lanes lanes_of(const float* values) {
    Lanes found;
    load(values, found);
    return found;
}
template <class Value>
inline Lanes lanes_of(const Value* values) {
    double numbers[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane) numbers[lane] = number(values[lane]);
    return lanes_of(numbers);
}

// The sums of the lanes of two rows, as `sum_of_lanes` makes them: in registers, where to write the lanes down and to
// read them again takes longer than to add them.
struct TwoSums {
    double first;
    double second;
};
inline TwoSums sums_of_lanes(const Lanes& first, const Lanes& second) {
#if defined(__AVX2__)
#if defined(__AVX512F__)
    const auto folded = [](Lanes row) { return _mm512_castpd512_pd256(row) + _mm512_extractf64x4_pd(row, 1); };
#else
    const auto folded = [](const Lanes& row) { return row.low + row.high; };
#endif
    const auto halved = [&](const Lanes& row) {
        const __m256d four = folded(row);
        return _mm256_castpd256_pd128(four) + _mm256_extractf128_pd(four, 1);
    };
    const __m128d a = halved(first), b = halved(second);
    const __m128d sums = _mm_unpacklo_pd(a, b) + _mm_unpackhi_pd(a, b);
    return {_mm_cvtsd_f64(sums), _mm_cvtsd_f64(_mm_unpackhi_pd(sums, sums))};
#else
    double lanes_of_first[lanes], lanes_of_second[lanes];
    copy_bytes(lanes_of_first, &first, sizeof(first));
    copy_bytes(lanes_of_second, &second, sizeof(second));
    return {sum_of_lanes(lanes_of_first), sum_of_lanes(lanes_of_second)};
#endif
}

}  // namespace sureshot::SURESHOT_ISA
