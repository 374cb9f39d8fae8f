// Inner products of many rows and queries in float32, for a selection: they decide which arms are evaluated in
// double, and are never returned. So these kernels may fuse a product and a sum, and levels may differ in the last
// digits. What every level keeps is the depth of its sums, which section 15 of docs/theory.md rests on.
#include "float_lanes.hpp"
#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Rows and queries side by side: as many sums as the registers hold.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr std::int64_t rows_multiplied = 4;
#else
constexpr std::int64_t rows_multiplied = 3;
#endif
constexpr std::int64_t queries_multiplied = 4;

static_assert(floats_in_a_register >= fewest_product_lanes);

// The first `count` values, and zeros.
inline Floats loaded_first(const float* values, std::int64_t count) {
#if defined(__AVX512F__)
    return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), values);
#else
    float padded[floats_in_a_register] = {};
    for (std::int64_t at = 0; at < count; ++at) padded[at] = values[at];
    return loaded(padded);
#endif
}

inline FourFloats in_four(Floats lanes_of_sum) {
#if defined(__AVX512F__)
    const __m256 eight = _mm512_castps512_ps256(lanes_of_sum) + _mm512_extractf32x8_ps(lanes_of_sum, 1);
    return _mm256_castps256_ps128(eight) + _mm256_extractf128_ps(eight, 1);
#elif defined(__AVX2__)
    return _mm256_castps256_ps128(lanes_of_sum) + _mm256_extractf128_ps(lanes_of_sum, 1);
#else
    return lanes_of_sum;
#endif
}

// Some rows and queries, of which the scores [row][query] are added up; and with the first queries also the squares of
// the rows, while the rows that follow are fetched.
template <std::int64_t n_rows, std::int64_t n_queries, bool first>
SURESHOT_ALONE void multiply_few(const float* const* rows, const float* const* next, const float* queries,
                                 std::int64_t query_stride, std::int64_t columns, bool begun, float* scores,
                                 std::int64_t stride, double* squares) {
    Floats sums[n_rows][n_queries] = {};
    Floats square_sums[n_rows] = {};
    const float *own[n_rows], *following[n_rows], *asked[n_queries];
    for (std::int64_t r = 0; r < n_rows; ++r) {
        own[r] = rows[r];
        following[r] = next[r];
    }
    for (std::int64_t q = 0; q < n_queries; ++q) asked[q] = queries + q * query_stride;
    const auto add = [&](const auto& load) {
        Floats values[n_rows];
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) {
            values[r] = load(own[r]);
            if constexpr (first) square_sums[r] = fused(values[r], values[r], square_sums[r]);
        }
        SURESHOT_UNROLLED
        for (std::int64_t q = 0; q < n_queries; ++q) {
            const Floats query = load(asked[q]);
            SURESHOT_UNROLLED
            for (std::int64_t r = 0; r < n_rows; ++r) sums[r][q] = fused(values[r], query, sums[r][q]);
        }
    };
    const std::int64_t rest = columns % floats_in_a_register, whole = columns - rest;
    for (std::int64_t at = 0; at < whole; at += floats_in_a_register) {
        if constexpr (first) {
            SURESHOT_UNROLLED
            for (std::int64_t r = 0; r < n_rows; ++r) fetch_ahead(following[r] + at);
        }
        add([at](const float* values) { return loaded_once(values + at); });
    }
    if (rest > 0) add([whole, rest](const float* values) { return loaded_first(values + whole, rest); });
    SURESHOT_UNROLLED
    for (std::int64_t r = 0; r < n_rows; ++r) {
        float* const out = scores + r * stride;
        if constexpr (n_queries == 4) {
            FourFloats found =
                sums_of(in_four(sums[r][0]), in_four(sums[r][1]), in_four(sums[r][2]), in_four(sums[r][3]));
            if (begun) {
                FourFloats before;
                __builtin_memcpy(&before, out, sizeof(before));
                found += before;
            }
            __builtin_memcpy(out, &found, sizeof(found));
        } else {
            for (std::int64_t q = 0; q < n_queries; ++q) {
                const float found = sum_of(in_four(sums[r][q]));
                out[q] = begun ? out[q] + found : found;
            }
        }
        if constexpr (first) squares[r] += static_cast<double>(sum_of(in_four(square_sums[r])));
    }
}

}  // namespace

void multiply(const float* const* rows, std::int64_t n_rows, const float* queries, std::int64_t n_queries,
              std::int64_t query_stride, std::int64_t columns, bool begun, float* scores, std::int64_t stride,
              double* squares) noexcept {
    const auto for_rows = [&]<std::int64_t together>(std::int64_t row) {
        const float* next[together];  // behind the last row, those of the next columns
        for (std::int64_t r = 0; r < together; ++r) {
            const std::int64_t at = row + together + r;
            next[r] = at < n_rows ? rows[at] : rows[smaller(at - n_rows, n_rows - 1)] + columns;
        }
        const auto for_queries = [&]<std::int64_t count, bool first>(std::int64_t query) {
            multiply_few<together, count, first>(rows + row, next, queries + query * query_stride, query_stride,
                                                 columns, begun, scores + row * stride + query, stride,
                                                 squares + row);
        };
        std::int64_t query = 0;
        if (n_queries >= queries_multiplied) {
            for_queries.template operator()<queries_multiplied, true>(0);
            query = queries_multiplied;
        } else {
            for_queries.template operator()<1, true>(0);
            query = 1;
        }
        for (; query + queries_multiplied <= n_queries; query += queries_multiplied) {
            for_queries.template operator()<queries_multiplied, false>(query);
        }
        for (; query < n_queries; ++query) for_queries.template operator()<1, false>(query);
    };
    std::int64_t row = 0;
    for (; row + rows_multiplied <= n_rows; row += rows_multiplied) {
        for_rows.template operator()<rows_multiplied>(row);
    }
    for (; row < n_rows; ++row) for_rows.template operator()<1>(row);
}

}  // namespace sureshot::SURESHOT_ISA
