#include "widen.hpp"

#include <type_traits>

#include "compiler.hpp"
#include "elements.hpp"
#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Cache lines that are on their way while values of scattered arms are collected.
constexpr std::int64_t lines_collected = 32;

inline std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

// Halves that lie side by side, by the processor's own conversion where there is one: it is exact, too, and takes a tenth
// of the instructions. Returns how many of them it has converted.
std::int64_t convert_halves(const Float16* values, std::int64_t count, float* out) {
    std::int64_t at = 0;
#if defined(SURESHOT_X86) && defined(__AVX512F__)
    for (; at + 16 <= count; at += 16) {
        const auto* own = reinterpret_cast<const __m256i*>(values + at);
        _mm512_storeu_ps(out + at, _mm512_cvtph_ps(_mm256_loadu_si256(own)));
    }
#endif
#if defined(SURESHOT_X86) && defined(__F16C__)
    for (; at + 8 <= count; at += 8) {
        const auto* own = reinterpret_cast<const __m128i*>(values + at);
        _mm256_storeu_ps(out + at, _mm256_cvtph_ps(_mm_loadu_si128(own)));
    }
#endif
    return at;
}

}  // namespace

template <class Number>
void widen(Element element, const void* values, std::int64_t step, std::int64_t count, Number* out) {
    with_values(element, [&]<class Value>() {
        const auto* own = static_cast<const Value*>(values);
        if (step == 1) {
            std::int64_t begin = 0;
            if constexpr (std::is_same_v<Value, Float16> && std::is_same_v<Number, float>) {
                begin = convert_halves(own, count, out);
            }
            for (std::int64_t at = begin; at < count; ++at) out[at] = number<Number>(own[at]);
        } else {
            for (std::int64_t at = 0; at < count; ++at) out[at] = number<Number>(own[at * step]);
        }
    });
}

template <class Number>
void gather(Element element, const void* first, const std::int64_t* ids, std::int64_t stride,
            std::int64_t count, Number* out) {
    with_values(element, [&]<class Value>() {
        const auto* own = static_cast<const Value*>(first);
        for (std::int64_t at = 0; at < count; ++at) out[at] = number<Number>(own[ids[at] * stride]);
    });
}

template <class Number>
void gather_columns(const Matrix& matrix, Arms arms, Columns columns, Number* out) {
    const std::int64_t row_stride = matrix.row_stride, column_stride = matrix.column_stride, n_arms = arms.count;
    const std::int64_t* const ids = arms.ids;
    const std::int64_t ahead = 1 + lines_collected / n_arms;
    with_values(matrix.element, [&]<class Value>() {
        const auto* const values = static_cast<const Value*>(matrix.data);
        for (std::int64_t c = 0; c < columns.count; ++c) {
            const Value* const own = values + columns.ids[c] * column_stride;
            const Value* const later = values + columns.ids[smaller(c + ahead, columns.known - 1)] * column_stride;
            for (std::int64_t at = 0; at < n_arms; ++at) {
                fetch_ahead(later + ids[at] * row_stride);
                *out++ = number<Number>(own[ids[at] * row_stride]);
            }
        }
    });
}

void gather_runs(Element element, const void* first, const std::int64_t* ids, std::int64_t count, double* out) {
    with_values(element, [&]<class Value>() {
        const auto* own = static_cast<const Value*>(first);
        for (std::int64_t at = 0; at < count; at += run) {
            for (std::int64_t lane = 0; lane < run; ++lane) out[at + lane] = number(own[ids[at] + lane]);
        }
    });
}

namespace {

// By column a few columns at once: of neighbouring arms they are in the same cache lines, and those of the next columns are
// on their way meanwhile.
constexpr std::int64_t columns_at_once = 8;

// Copies as many columns, `step` apart, of as many neighbouring arms, each arm `stride` after the other. By the processor's
// own shuffles where there are any.
template <class Value, class Number>
inline void transpose(const Value* own, std::int64_t step, Number* out, std::int64_t stride) {
    for (std::int64_t arm = 0; arm < columns_at_once; ++arm) {
        for (std::int64_t c = 0; c < columns_at_once; ++c) out[arm * stride + c] = number<Number>(own[c * step + arm]);
    }
}
#if defined(SURESHOT_X86) && defined(__AVX2__)
inline void transpose(const float* own, std::int64_t step, float* out, std::int64_t stride) {
    __m256 pairs[columns_at_once], fours[columns_at_once];
    for (std::int64_t c = 0; c < columns_at_once; c += 2) {
        const __m256 first = _mm256_loadu_ps(own + c * step), second = _mm256_loadu_ps(own + (c + 1) * step);
        pairs[c] = _mm256_unpacklo_ps(first, second);
        pairs[c + 1] = _mm256_unpackhi_ps(first, second);
    }
    // Of the arms 0 and 4, 1 and 5, 2 and 6, 3 and 7: four columns each.
    for (std::int64_t c = 0; c < columns_at_once; c += 4) {
        fours[c] = _mm256_shuffle_ps(pairs[c], pairs[c + 2], 0x44);
        fours[c + 1] = _mm256_shuffle_ps(pairs[c], pairs[c + 2], 0xee);
        fours[c + 2] = _mm256_shuffle_ps(pairs[c + 1], pairs[c + 3], 0x44);
        fours[c + 3] = _mm256_shuffle_ps(pairs[c + 1], pairs[c + 3], 0xee);
    }
    for (std::int64_t arm = 0; arm < columns_at_once / 2; ++arm) {
        _mm256_storeu_ps(out + arm * stride, _mm256_permute2f128_ps(fours[arm], fours[arm + 4], 0x20));
        _mm256_storeu_ps(out + (arm + 4) * stride, _mm256_permute2f128_ps(fours[arm], fours[arm + 4], 0x31));
    }
}
inline void transpose(const double* own, std::int64_t step, double* out, std::int64_t stride) {
    constexpr std::int64_t half = columns_at_once / 2;
    for (std::int64_t block = 0; block < half; ++block) {  // of four arms and columns each
        const double* const from = own + block / 2 * half * step + block % 2 * half;
        double* const to = out + block % 2 * half * stride + block / 2 * half;
        const __m256d a = _mm256_loadu_pd(from), b = _mm256_loadu_pd(from + step);
        const __m256d c = _mm256_loadu_pd(from + 2 * step), d = _mm256_loadu_pd(from + 3 * step);
        const __m256d even = _mm256_unpacklo_pd(a, b), odd = _mm256_unpackhi_pd(a, b);
        const __m256d more_even = _mm256_unpacklo_pd(c, d), more_odd = _mm256_unpackhi_pd(c, d);
        _mm256_storeu_pd(to, _mm256_permute2f128_pd(even, more_even, 0x20));
        _mm256_storeu_pd(to + stride, _mm256_permute2f128_pd(odd, more_odd, 0x20));
        _mm256_storeu_pd(to + 2 * stride, _mm256_permute2f128_pd(even, more_even, 0x31));
        _mm256_storeu_pd(to + 3 * stride, _mm256_permute2f128_pd(odd, more_odd, 0x31));
    }
}
#endif

// Whether so many arms are neighbours, if the last one is as far from the first as neighbours are.
inline bool ascending(const std::int64_t* ids) {
    for (std::int64_t at = 1; at < columns_at_once; ++at) {
        if (ids[at] <= ids[at - 1]) return false;
    }
    return true;
}

template <class Number>
void widen_rows_as(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, Number* values,
                   std::int64_t stride) {
    const std::int64_t step = matrix.column_stride;
    if (step == 1) {
        for (std::int64_t arm = 0; arm < arms.count; ++arm) {
            widen(matrix.element, address_of(matrix, arms.ids[arm], begin), step, end - begin, values + arm * stride);
        }
        return;
    }
    with_values(matrix.element, [&]<class Value>() {
        const auto* const data = static_cast<const Value*>(matrix.data);
        for (std::int64_t j = begin; j < end; j += columns_at_once) {
            const std::int64_t count = smaller(columns_at_once, end - j), next = smaller(columns_at_once, end - j - count);
            for (std::int64_t arm = 0; arm < arms.count;) {
                const Value* const own = data + arms.ids[arm] * matrix.row_stride + j * step;
                Number* const out = values + arm * stride + j - begin;
                for (std::int64_t c = 0; c < next; ++c) fetch_ahead(own + (count + c) * step);
                const std::int64_t last = arm + columns_at_once - 1;
                if (count == columns_at_once && matrix.row_stride == 1 && last < arms.count &&
                    arms.ids[last] - arms.ids[arm] == columns_at_once - 1 && ascending(arms.ids + arm)) {
                    transpose(own, step, out, stride);
                    arm += columns_at_once;
                } else {
                    for (std::int64_t c = 0; c < count; ++c) out[c] = number<Number>(own[c * step]);
                    ++arm;
                }
            }
        }
    });
}

}  // namespace

void widen_rows(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, float* values,
                std::int64_t stride) noexcept {
    widen_rows_as(matrix, arms, begin, end, values, stride);
}

void widen_rows_to_doubles(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, double* values,
                           std::int64_t stride) noexcept {
    widen_rows_as(matrix, arms, begin, end, values, stride);
}

template void widen(Element, const void*, std::int64_t, std::int64_t, float*);
template void widen(Element, const void*, std::int64_t, std::int64_t, double*);
template void gather(Element, const void*, const std::int64_t*, std::int64_t, std::int64_t, float*);
template void gather(Element, const void*, const std::int64_t*, std::int64_t, std::int64_t, double*);
template void gather_columns(const Matrix&, Arms, Columns, float*);
template void gather_columns(const Matrix&, Arms, Columns, double*);

}  // namespace sureshot::SURESHOT_ISA
