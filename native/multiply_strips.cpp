// Inner products of rows with many queries, which are packed: see StripTile. Each value of a row is multiplied with the
// queries of some strips at once, so that nothing has to be added across the lanes of a register. Like the products of
// native/multiply.cpp these are never returned, and may be fused.
#include "float_lanes.hpp"
#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Registers of queries, and rows side by side: as many sums as the registers hold.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr std::int64_t most_vectors = 4;
constexpr std::int64_t rows_side_by_side = 6;
#elif defined(__AVX2__)
constexpr std::int64_t most_vectors = 2;
constexpr std::int64_t rows_side_by_side = 6;
#else
constexpr std::int64_t most_vectors = 2;
constexpr std::int64_t rows_side_by_side = 4;
#endif
constexpr std::int64_t vectors_of_strip = strip_queries / floats_in_a_register;

static_assert(strip_rows % rows_side_by_side == 0);

inline Floats all_equal(float value) {
#if defined(__AVX512F__)
    return _mm512_set1_ps(value);
#elif defined(__AVX2__)
    return _mm256_set1_ps(value);
#else
    Floats all;
    for (std::int64_t at = 0; at < floats_in_a_register; ++at) all[at] = value;
    return all;
#endif
}

// Scores [row][query] of some rows and queries, of which the last may be missing.
struct Corner {
    float* scores;
    std::int64_t stride;
    std::int64_t n_rows, n_queries;
    bool begun;
};

template <std::int64_t n_vectors>
SURESHOT_ALONE void multiply_some(const float* rows, std::int64_t row_stride, const float* const* vectors,
                                  std::int64_t columns, const Corner& corner) {
    Floats sums[rows_side_by_side][n_vectors] = {};
    const float *asked[n_vectors], *own[rows_side_by_side];
    for (std::int64_t v = 0; v < n_vectors; ++v) asked[v] = vectors[v];
    for (std::int64_t r = 0; r < rows_side_by_side; ++r) own[r] = rows + r * row_stride;
    for (std::int64_t at = 0; at < columns; ++at) {
        Floats queries[n_vectors];
        SURESHOT_UNROLLED
        for (std::int64_t v = 0; v < n_vectors; ++v) queries[v] = loaded_once(asked[v] + at * strip_queries);
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < rows_side_by_side; ++r) {
            const Floats value = all_equal(own[r][at]);
            SURESHOT_UNROLLED
            for (std::int64_t v = 0; v < n_vectors; ++v) sums[r][v] = fused(value, queries[v], sums[r][v]);
        }
    }
    SURESHOT_UNROLLED
    for (std::int64_t r = 0; r < rows_side_by_side; ++r) {
        if (r >= corner.n_rows) continue;
        float* const out = corner.scores + r * corner.stride;
        SURESHOT_UNROLLED
        for (std::int64_t v = 0; v < n_vectors; ++v) {
            const std::int64_t left = corner.n_queries - v * floats_in_a_register;
            float* const its = out + v * floats_in_a_register;
            if (left >= floats_in_a_register) {
                const Floats found = corner.begun ? loaded(its) + sums[r][v] : sums[r][v];
                copy_bytes(its, &found, sizeof(found));
            } else {
                float found[floats_in_a_register];
                copy_bytes(found, &sums[r][v], sizeof(found));
                for (std::int64_t q = 0; q < left; ++q) its[q] = corner.begun ? its[q] + found[q] : found[q];
            }
        }
    }
}

// As many vectors as are left, at most n_vectors of them.
template <std::int64_t n_vectors>
inline void multiply_most(std::int64_t left, const float* rows, std::int64_t row_stride, const float* const* vectors,
                          std::int64_t columns, const Corner& corner) {
    if constexpr (n_vectors > 1) {
        if (left < n_vectors) return multiply_most<n_vectors - 1>(left, rows, row_stride, vectors, columns, corner);
    }
    multiply_some<n_vectors>(rows, row_stride, vectors, columns, corner);
}

// The values of four queries in four columns, those of each column together.
inline void transpose(const float* queries, std::int64_t stride, float* out) {
#if defined(SURESHOT_X86)
    const __m128 a = _mm_loadu_ps(queries), b = _mm_loadu_ps(queries + stride);
    const __m128 c = _mm_loadu_ps(queries + 2 * stride), d = _mm_loadu_ps(queries + 3 * stride);
    const __m128 low = _mm_unpacklo_ps(a, b), high = _mm_unpackhi_ps(a, b);
    const __m128 next_low = _mm_unpacklo_ps(c, d), next_high = _mm_unpackhi_ps(c, d);
    _mm_storeu_ps(out, _mm_movelh_ps(low, next_low));
    _mm_storeu_ps(out + strip_queries, _mm_movehl_ps(next_low, low));
    _mm_storeu_ps(out + 2 * strip_queries, _mm_movelh_ps(high, next_high));
    _mm_storeu_ps(out + 3 * strip_queries, _mm_movehl_ps(next_high, high));
#else
    for (std::int64_t column = 0; column < 4; ++column) {
        for (std::int64_t query = 0; query < 4; ++query) {
            out[column * strip_queries + query] = queries[query * stride + column];
        }
    }
#endif
}

}  // namespace

void pack_strip(const float* queries, std::int64_t count, std::int64_t stride, std::int64_t columns,
                float* strip) noexcept {
    const std::int64_t whole = count - count % 4, whole_columns = columns - columns % 4;
    for (std::int64_t query = 0; query < whole; query += 4) {
        for (std::int64_t at = 0; at < whole_columns; at += 4) {
            transpose(queries + query * stride + at, stride, strip + at * strip_queries + query);
        }
    }
    for (std::int64_t query = 0; query < strip_queries; ++query) {
        for (std::int64_t at = query < whole ? whole_columns : 0; at < columns; ++at) {
            strip[at * strip_queries + query] = query < count ? queries[query * stride + at] : 0.0f;
        }
    }
}

void add_squares(const float* rows, std::int64_t n_rows, std::int64_t columns, double* squares) noexcept {
    constexpr std::int64_t sums_together = 4 * floats_in_a_register;  // not to wait for additions
    for (std::int64_t r = 0; r < n_rows; ++r) {
        const float* const own = rows + r * strip_row_stride;
        Floats sums[4] = {};
        std::int64_t at = 0;
        for (; at + sums_together <= columns; at += sums_together) {
            SURESHOT_UNROLLED
            for (std::int64_t s = 0; s < 4; ++s) {
                const Floats values = loaded_once(own + at + s * floats_in_a_register);
                sums[s] = fused(values, values, sums[s]);
            }
        }
        float rest = 0.0f;
        for (; at < columns; ++at) rest += own[at] * own[at];
        const Floats all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
        float lanes_of_sum[floats_in_a_register];
        copy_bytes(lanes_of_sum, &all, sizeof(all));
        for (std::int64_t lane = 0; lane < floats_in_a_register; ++lane) rest += lanes_of_sum[lane];
        squares[r] += static_cast<double>(rest);
    }
}

void multiply_strips(const StripTile& tile) noexcept {
    const std::int64_t vectors = (tile.n_queries + floats_in_a_register - 1) / floats_in_a_register;
    const std::int64_t calls = (tile.n_rows + rows_side_by_side - 1) / rows_side_by_side *
                               ((vectors + most_vectors - 1) / most_vectors);
    // With each of these calls some cache lines of what is read next.
    constexpr std::int64_t line = 64;
    const std::int64_t lines_each = (tile.next_bytes + line - 1) / line;
    const std::int64_t lines = tile.n_next * lines_each;
    const std::int64_t lines_at_once = (lines + calls - 1) / calls;
    std::int64_t fetched = 0;
    for (std::int64_t vector = 0; vector < vectors; vector += most_vectors) {
        const float* own[most_vectors];
        for (std::int64_t v = 0; v < most_vectors; ++v) {
            const std::int64_t strip = (vector + v) / vectors_of_strip, place = (vector + v) % vectors_of_strip;
            own[v] = tile.strips + strip * strip_queries * tile.columns + place * floats_in_a_register;
        }
        const std::int64_t query = vector * floats_in_a_register;
        for (std::int64_t row = 0; row < tile.n_rows; row += rows_side_by_side) {
            for (const std::int64_t stop = smaller(fetched + lines_at_once, lines); fetched < stop; ++fetched) {
                fetch_ahead(tile.next[fetched / lines_each] + fetched % lines_each * line);
            }
            multiply_most<most_vectors>(vectors - vector, tile.rows + row * tile.row_stride, tile.row_stride, own,
                                        tile.columns,
                                        {tile.scores + row * tile.stride + query, tile.stride, tile.n_rows - row,
                                         tile.n_queries - query, tile.begun});
        }
    }
}

}  // namespace sureshot::SURESHOT_ISA
