// Floats that are added up side by side in the widest registers of an instruction set. For the kernels of a screen,
// which may fuse a product and a sum: one copy for each instruction set.
#pragma once

#include "kernels.hpp"
#include "layout.hpp"
#include "vectors.hpp"

namespace sureshot::SURESHOT_ISA {

#if defined(__AVX512F__)
constexpr std::int64_t floats_in_a_register = 16;
#elif defined(__AVX2__)
constexpr std::int64_t floats_in_a_register = 8;
#else
constexpr std::int64_t floats_in_a_register = 4;
#endif

// As many floats as a register holds, and four of them.
using Floats = Vector<float, floats_in_a_register>;
using Bits = Vector<std::int32_t, floats_in_a_register>;
using FourFloats = Vector<float, 4>;

// Registers that the lanes of a row take.
constexpr std::int64_t registers = screen_lanes / floats_in_a_register;

inline Floats loaded(const float* values) {
    Floats floats;
    copy_bytes(&floats, values, sizeof(floats));
    return floats;
}

// The same, for values that are used twice: GCC would load them twice.
inline Floats loaded_once(const float* values) {
    Floats floats = loaded(values);
#if defined(__AVX512F__)
    __asm__("" : "+v"(floats));
#elif defined(SURESHOT_X86)
    __asm__("" : "+x"(floats));
#endif
    return floats;
}

// a * b + sum: with one rounding where the processor has such an operation, else with two.
inline Floats fused(Floats a, Floats b, Floats sum) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, sum);
#elif defined(__AVX2__) && defined(__FMA__)
    return _mm256_fmadd_ps(a, b, sum);
#elif defined(__FP_FAST_FMAF) && defined(SURESHOT_EXTENSIONS)
    for (std::int64_t at = 0; at < floats_in_a_register; ++at) sum[at] = __builtin_fmaf(a[at], b[at], sum[at]);
    return sum;
#else
    return a * b + sum;
#endif
}

using sureshot::magnitude_of;
inline Floats magnitude_of(Floats values) {
    return __builtin_bit_cast(Floats, __builtin_bit_cast(Bits, values) & 0x7fffffff);
}

// The lanes of a row, folded into four: halves are added to halves.
inline FourFloats folded(const Floats* lanes_of_row) {
#if defined(__AVX512F__)
    const __m256 eight = _mm512_castps512_ps256(lanes_of_row[0]) + _mm512_extractf32x8_ps(lanes_of_row[0], 1);
    return _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
#elif defined(__AVX2__)
    const __m256 eight = lanes_of_row[0] + lanes_of_row[1];
    return _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
#else
    return (lanes_of_row[0] + lanes_of_row[2]) + (lanes_of_row[1] + lanes_of_row[3]);
#endif
}

inline float sum_of(FourFloats four) { return (four[0] + four[2]) + (four[1] + four[3]); }

// The sums of four rows.
inline FourFloats sums_of(FourFloats a, FourFloats b, FourFloats c, FourFloats d) {
#if defined(SURESHOT_X86)
    const FourFloats first = _mm_unpacklo_ps(a, b) + _mm_unpackhi_ps(a, b);
    const FourFloats second = _mm_unpacklo_ps(c, d) + _mm_unpackhi_ps(c, d);
    return _mm_movelh_ps(first, second) + _mm_movehl_ps(second, first);
#else
    return FourFloats{sum_of(a), sum_of(b), sum_of(c), sum_of(d)};
#endif
}

}  // namespace sureshot::SURESHOT_ISA
