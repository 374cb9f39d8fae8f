// Scores in float32, for a screen: they decide which arms are evaluated in double, and are never returned. So
// these kernels, unlike all others, may fuse a product and a sum, and levels may differ in the last digits. What
// every level keeps is the depth of its sums, which Theorem 15 of docs/theory.md rests on.
#include <cmath>

#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Rows and queries side by side: as many sums as the registers hold.
#if defined(__AVX512F__)
constexpr std::int64_t rows_screened = 4, queries_screened = 4;
#else
constexpr std::int64_t rows_screened = 2, queries_screened = 2;
#endif

// One rounding where the processor has such an operation, else two.
inline float fused(float a, float b, float sum) {
#if defined(__FP_FAST_FMAF)
    return __builtin_fmaf(a, b, sum);
#else
    return a * b + sum;
#endif
}

// What a value and a query value add to the size of a score: distances are negated at the end.
struct Product {
    static float add(float value, float query, float sum) { return fused(value, query, sum); }
};
struct SquaredDifference {
    static float add(float value, float query, float sum) {
        const float difference = value - query;
        return fused(difference, difference, sum);
    }
};
struct Difference {
    static float add(float value, float query, float sum) { return sum + std::fabs(value - query); }
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

// The sum of the lanes: halves are added to halves.
inline float sum_of(const float* lane) {
    float eight[screen_lanes / 2], four[screen_lanes / 4];
    SURESHOT_ONE_VECTOR
    for (std::int64_t at = 0; at < screen_lanes / 2; ++at) eight[at] = lane[at] + lane[at + screen_lanes / 2];
    SURESHOT_ONE_VECTOR
    for (std::int64_t at = 0; at < screen_lanes / 4; ++at) four[at] = eight[at] + eight[at + screen_lanes / 4];
    return (four[0] + four[2]) + (four[1] + four[3]);
}

// Adds at most columns_in_a_panel columns to the sums of some rows, for some queries.
template <class Term, std::int64_t n_rows, std::int64_t n_queries, bool squared>
SURESHOT_ALONE void add_panel(const float* const* rows, const float* const* queries, std::int64_t count,
                              const RowSums& out) {
    const float* own[n_rows];
    const float* asked[n_queries];
    float sums[n_rows][n_queries][screen_lanes] = {};
    float squares[n_rows][screen_lanes] = {};
    for (std::int64_t r = 0; r < n_rows; ++r) own[r] = rows[r];
    for (std::int64_t q = 0; q < n_queries; ++q) asked[q] = queries[q];
    const auto add = [&](std::int64_t start) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            SURESHOT_ONE_VECTOR
            for (std::int64_t lane = 0; lane < screen_lanes; ++lane) {
                const float value = own[r][start + lane];
                SURESHOT_UNROLLED
                for (std::int64_t q = 0; q < n_queries; ++q) {
                    sums[r][q][lane] = Term::add(value, asked[q][start + lane], sums[r][q][lane]);
                }
                if constexpr (squared) squares[r][lane] = fused(value, value, squares[r][lane]);
            }
        }
    };
    const std::int64_t rest = count % screen_lanes;
    for (std::int64_t start = 0; start < count - rest; start += screen_lanes) add(start);
    float padded[n_rows + n_queries][screen_lanes] = {};  // zeros after the last columns add nothing
    if (rest > 0) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            for (std::int64_t j = 0; j < rest; ++j) padded[r][j] = own[r][count - rest + j];
            own[r] = padded[r];
        }
        for (std::int64_t q = 0; q < n_queries; ++q) {
            for (std::int64_t j = 0; j < rest; ++j) padded[n_rows + q][j] = asked[q][count - rest + j];
            asked[q] = padded[n_rows + q];
        }
        add(0);
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        for (std::int64_t q = 0; q < n_queries; ++q) out.sums[q * out.query_stride + r] += sum_of(sums[r][q]);
        if constexpr (squared) out.squares[r] += sum_of(squares[r]);
    }
}

// All queries read a panel of some rows while it is in the first-level cache; the first of them adds the squares.
template <class Term, std::int64_t n_rows>
void add_for_queries(const float* const* rows, const Asked& asked, std::int64_t j, std::int64_t count,
                     const RowSums& out) {
    const auto add = [&]<std::int64_t n_queries, bool squared>(std::int64_t first) {
        const float* queries[n_queries];
        for (std::int64_t q = 0; q < n_queries; ++q) queries[q] = asked.queries + (first + q) * asked.stride + j;
        add_panel<Term, n_rows, n_queries, squared>(
            rows, queries, count, {out.sums + first * out.query_stride, out.query_stride, out.squares});
    };
    std::int64_t first = 0;
    if (out.squares != nullptr) {
        add.template operator()<1, true>(0);
        first = 1;
    }
    for (; first + queries_screened <= asked.count; first += queries_screened) {
        add.template operator()<queries_screened, false>(first);
    }
    for (; first < asked.count; ++first) add.template operator()<1, false>(first);
}

// Calls f(rows, j, count) with panels of the values of some rows, as they are or widened.
template <std::int64_t n_rows, class F>
void in_panels(const Matrix& matrix, const std::int64_t* ids, std::int64_t begin, std::int64_t end, F&& f) {
    const bool as_is = matrix.element == Element::float32 && matrix.column_stride == 1;
    float numbers[n_rows][columns_in_a_panel];
    const float* rows[n_rows];
    for (std::int64_t j = begin; j < end; j += columns_in_a_panel) {
        const std::int64_t count = smaller(columns_in_a_panel, end - j);
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const char* values = address_of(matrix, ids[r], j);
            if (as_is) {
                rows[r] = reinterpret_cast<const float*>(values);
            } else {
                widen(matrix.element, values, matrix.column_stride, count, numbers[r]);
                rows[r] = numbers[r];
            }
        }
        f(rows, j, count);
    }
}

// Adds some columns, in the order of their lanes, to the sums of some arms.
template <class Value, class Term, std::int64_t n_columns, bool squared>
SURESHOT_ALONE void add_few_columns(const Value* const* columns, const float* query, std::int64_t count,
                                    double* __restrict sums, double* __restrict squares) {
    const Value* own[n_columns];
    float asked[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        own[c] = columns[c];
        asked[c] = query[c * lanes];
    }
    for (std::int64_t at = 0; at < count; ++at) {
        float sum = 0.0f, square = 0.0f;
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            const float value = number<float>(own[c][at]);
            sum = Term::add(value, asked[c], sum);
            if constexpr (squared) square = fused(value, value, square);
        }
        sums[at] += sum;
        if constexpr (squared) squares[at] += square;
    }
}

}  // namespace

void screen_rows(const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, std::int64_t begin,
                 std::int64_t end, double* sums, double* squares) noexcept {
    with_term(metric, [&]<class Term>() {
        const auto add = [&]<std::int64_t n_rows>(std::int64_t arm) {
            const RowSums out{sums + arm, arms.count, squares == nullptr ? nullptr : squares + arm};
            in_panels<n_rows>(matrix, arms.ids + arm, begin, end,
                              [&](const float* const* rows, std::int64_t j, std::int64_t count) {
                                  add_for_queries<Term, n_rows>(rows, asked, j, count, out);
                              });
        };
        std::int64_t arm = 0;
        for (; arm + rows_screened <= arms.count; arm += rows_screened) add.template operator()<rows_screened>(arm);
        for (; arm < arms.count; ++arm) add.template operator()<1>(arm);
    });
}

void screen_columns(const Matrix& matrix, Metric metric, const Asked& asked, const Places& places,
                    std::int64_t begin, std::int64_t end, double* sums, double* squares) noexcept {
    with_term(metric, [&]<class Term>() {
        lane_by_lane(matrix, places, begin, end,
                     [&]<class Value, std::int64_t n_columns>(const Value* const* columns, std::int64_t j,
                                                              std::int64_t arm, std::int64_t count) {
                         for (std::int64_t q = 0; q < asked.count; ++q) {
                             const float* query = asked.queries + q * asked.stride + j;
                             double* own = sums + q * places.count + arm;
                             if (q == 0 && squares != nullptr) {
                                 add_few_columns<Value, Term, n_columns, true>(columns, query, count, own,
                                                                               squares + arm);
                             } else {
                                 add_few_columns<Value, Term, n_columns, false>(columns, query, count, own, nullptr);
                             }
                         }
                     });
    });
}

}  // namespace sureshot::SURESHOT_ISA
