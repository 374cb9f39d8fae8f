// The lanes in which a row is added up in double, side by side. For kernels: one copy for each instruction set.
#pragma once

#include "elements.hpp"
#include "layout.hpp"
#include "vectors.hpp"

namespace sureshot::SURESHOT_ISA {

// The lanes of a row side by side.
using Lanes = Vector<double, lanes>;
using LaneBits = Vector<std::int64_t, lanes>;

using sureshot::magnitude_of;
inline Lanes magnitude_of(Lanes values) {
    return __builtin_bit_cast(Lanes, __builtin_bit_cast(LaneBits, values) & 0x7fffffffffffffff);
}

// a * b + sum with one rounding: the same bits as with two where the product is a number of float64.
inline Lanes fused(Lanes a, Lanes b, Lanes sum) {
#if defined(__AVX512F__)
    return _mm512_fmadd_pd(a, b, sum);
#elif defined(__AVX2__) && defined(__FMA__)
    struct Halves {
        __m256d low, high;
    };
    const auto [a0, a1] = __builtin_bit_cast(Halves, a);
    const auto [b0, b1] = __builtin_bit_cast(Halves, b);
    const auto [s0, s1] = __builtin_bit_cast(Halves, sum);
    return __builtin_bit_cast(Lanes, Halves{_mm256_fmadd_pd(a0, b0, s0), _mm256_fmadd_pd(a1, b1, s1)});
#else
    return a * b + sum;
#endif
}

// Values of a row or a query as lanes.
inline Lanes lanes_of(const double* values) {
    Lanes found;
    copy_bytes(&found, values, sizeof(found));
    return found;
}
inline Lanes lanes_of(const float* values) {
#if defined(__AVX512F__)  // one instruction, which GCC does not find
    return __builtin_bit_cast(Lanes, _mm512_cvtps_pd(_mm256_loadu_ps(values)));
#else
    Vector<float, lanes> found;
    copy_bytes(&found, values, sizeof(found));
    return converted<Lanes>(found);
#endif
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
inline TwoSums sums_of_lanes(Lanes first, Lanes second) {
#if defined(__AVX2__)
#if defined(__AVX512F__)
    const auto folded = [](Lanes row) { return _mm512_castpd512_pd256(row) + _mm512_extractf64x4_pd(row, 1); };
#else
    const auto folded = [](Lanes row) {
        struct Halves {
            __m256d low, high;
        };
        const auto [low, high] = __builtin_bit_cast(Halves, row);
        return low + high;
    };
#endif
    const auto halved = [&](Lanes row) {
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
