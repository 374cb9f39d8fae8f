// Sums of rows in float32, of which a screen is made: one copy for each instruction set.
#pragma once

#include "float_lanes.hpp"
#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {

// Rows and queries side by side: as many sums as the registers hold. One query has room for twice as many rows, if
// they hold the squares, too, or none are wanted.
#if defined(__AVX512F__)
constexpr std::int64_t rows_screened = 4, queries_screened = 4;
#elif defined(__AVX2__) || defined(__aarch64__)
constexpr std::int64_t rows_screened = 2, queries_screened = 2;
#else
constexpr std::int64_t rows_screened = 1, queries_screened = 2;
#endif

constexpr bool room_for_squares = floats_in_a_register == 16;

// What a value and a query value add to the size of a score: distances are negated at the end.
struct Product {
    static Floats add(Floats value, Floats query, Floats sum) { return fused(value, query, sum); }
};
struct SquaredDifference {
    static Floats add(Floats value, Floats query, Floats sum) {
        const Floats difference = value - query;
        return fused(difference, difference, sum);
    }
};
struct Difference {
    static Floats add(Floats value, Floats query, Floats sum) { return sum + magnitude_of(value - query); }
};

template <class F>
void with_term(Metric metric, F&& f) {
    switch (metric) {
        case Metric::inner_product: return f.template operator()<Product>();
        case Metric::squared_euclidean: return f.template operator()<SquaredDifference>();
        case Metric::l1: return f.template operator()<Difference>();
    }
}

// Where the sums of some rows and queries are: sums[query][row], squares[row].
struct RowSums {
    double* sums;
    std::int64_t query_stride;
    double* squares;
};

// Adds the sums of the lanes of some rows to `out`.
template <std::int64_t n_rows>
inline void add_sums(const FourFloats* rows, double* out) {
    std::int64_t r = 0;
    for (; r + 4 <= n_rows; r += 4) {
        const FourFloats sums = sums_of(rows[r], rows[r + 1], rows[r + 2], rows[r + 3]);
        for (std::int64_t at = 0; at < 4; ++at) out[r + at] += static_cast<double>(sums[at]);
    }
    for (; r < n_rows; ++r) out[r] += static_cast<double>(sum_of(rows[r]));
}

// Some columns of some rows.
template <std::int64_t n_rows>
struct Panel {
    const float* rows[n_rows];
    // Bytes from the values of a row to those that are fetched meanwhile: the same for all rows, because addresses of
    // their own would take more registers than there are.
    std::int64_t ahead;
};

// Zeros, then ones in every bit: from the place `rest` on they choose the last `rest` lanes.
constexpr std::int32_t last_lanes[2 * screen_lanes] = {0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,
                                                       0,  0,  0,  0,  0,  -1, -1, -1, -1, -1, -1,
                                                       -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

inline Floats chosen(Floats values, const std::int32_t* lanes_chosen) {
    Bits mask;
    copy_bytes(&mask, lanes_chosen, sizeof(mask));
    return __builtin_bit_cast(Floats, __builtin_bit_cast(Bits, values) & mask);
}

// Adds a panel to the sums of its rows, for some queries. If the columns are no whole number of lanes, the last
// ones are read together with some before them, which the row and the queries have, and which are left out.
template <class Term, std::int64_t n_rows, std::int64_t n_queries, bool squared>
SURESHOT_ALONE void add_panel(const Panel<n_rows>& panel, const float* const* queries, std::int64_t count,
                              const RowSums& out) {
    Floats sums[n_queries][n_rows][registers] = {};
    Floats squares[n_rows][registers] = {};
    const float* own[n_rows];
    const float* asked[n_queries];
    const std::int64_t ahead = panel.ahead;
    for (std::int64_t r = 0; r < n_rows; ++r) own[r] = panel.rows[r];
    for (std::int64_t q = 0; q < n_queries; ++q) asked[q] = queries[q];
    const auto add = [&](std::int64_t start, const auto& taken) {
        SURESHOT_UNROLLED
        for (std::int64_t part = 0; part < registers; ++part) {
            const std::int64_t at = part * floats_in_a_register;
            Floats query[n_queries];
            SURESHOT_UNROLLED
            for (std::int64_t q = 0; q < n_queries; ++q) query[q] = taken(loaded(asked[q] + start + at), at);
            SURESHOT_UNROLLED
            for (std::int64_t r = 0; r < n_rows; ++r) {
                const Floats value = taken(loaded_once(own[r] + start + at), at);
                SURESHOT_UNROLLED
                for (std::int64_t q = 0; q < n_queries; ++q) {
                    sums[q][r][part] = Term::add(value, query[q], sums[q][r][part]);
                }
                if constexpr (squared) squares[r][part] = fused(value, value, squares[r][part]);
            }
        }
    };
    const std::int64_t rest = count % screen_lanes;
    for (std::int64_t start = 0; start < count - rest; start += screen_lanes) {
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) fetch_nearest(reinterpret_cast<const char*>(own[r] + start) + ahead);
        add(start, [](Floats values, std::int64_t) { return values; });
    }
    if (rest > 0) {
        const std::int32_t* wanted = last_lanes + rest;
        add(count - screen_lanes, [wanted](Floats values, std::int64_t at) { return chosen(values, wanted + at); });
    }
    FourFloats few[n_rows];
    // Unrolled, too: with places that are counted the sums would have to lie in memory.
    SURESHOT_UNROLLED
    for (std::int64_t q = 0; q < n_queries; ++q) {
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) few[r] = folded(sums[q][r]);
        add_sums<n_rows>(few, out.sums + q * out.query_stride);
    }
    if constexpr (squared) {
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) few[r] = folded(squares[r]);
        add_sums<n_rows>(few, out.squares);
    }
}

}  // namespace sureshot::SURESHOT_ISA
