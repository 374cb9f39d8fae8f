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
                copy_bytes(&before, out, sizeof(before));
                found += before;
            }
            copy_bytes(out, &found, sizeof(found));
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

void multiply(const ProductTile& tile) noexcept {
    const std::int64_t calls = (tile.n_rows + rows_multiplied - 1) / rows_multiplied *
                               ((tile.n_queries + queries_multiplied - 1) / queries_multiplied);
    // A few cache lines of the next queries with each of these calls.
    constexpr std::int64_t line = 16;
    const std::int64_t lines_of_query = (tile.columns + line - 1) / line;
    const std::int64_t lines = tile.next == nullptr ? 0 : tile.n_queries * lines_of_query;
    const std::int64_t lines_at_once = (lines + calls - 1) / calls;
    std::int64_t fetched = 0;
    const auto fetch_queries = [&] {
        for (const std::int64_t stop = smaller(fetched + lines_at_once, lines); fetched < stop; ++fetched) {
            fetch_ahead(tile.next + fetched / lines_of_query * tile.query_stride + fetched % lines_of_query * line);
        }
    };
    const auto for_rows = [&]<std::int64_t together>(std::int64_t row) {
        const float* next[together];  // behind the last row, those of the next columns
        for (std::int64_t r = 0; r < together; ++r) {
            const std::int64_t at = row + together + r;
            next[r] = at < tile.n_rows ? tile.rows[at]
                                       : tile.rows[smaller(at - tile.n_rows, tile.n_rows - 1)] + tile.columns;
        }
        const auto for_queries = [&]<std::int64_t count, bool first>(std::int64_t query) {
            fetch_queries();
            multiply_few<together, count, first>(tile.rows + row, next, tile.queries + query * tile.query_stride,
                                                 tile.query_stride, tile.columns, tile.begun,
                                                 tile.scores + row * tile.stride + query, tile.stride,
                                                 tile.squares + row);
        };
        std::int64_t query = 1;
        if (tile.n_queries >= queries_multiplied) {
            for_queries.template operator()<queries_multiplied, true>(0);
            query = queries_multiplied;
        } else {
            for_queries.template operator()<1, true>(0);
        }
        for (; query + queries_multiplied <= tile.n_queries; query += queries_multiplied) {
            for_queries.template operator()<queries_multiplied, false>(query);
        }
        for (; query < tile.n_queries; ++query) for_queries.template operator()<1, false>(query);
    };
    std::int64_t row = 0;
    for (; row + rows_multiplied <= tile.n_rows; row += rows_multiplied) {
        for_rows.template operator()<rows_multiplied>(row);
    }
    for (; row < tile.n_rows; ++row) for_rows.template operator()<1>(row);
}

}  // namespace sureshot::SURESHOT_ISA
