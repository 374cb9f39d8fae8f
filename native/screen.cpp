// Scores in float32, for a screen: they decide which arms are evaluated in double, and are never returned. So
// these kernels, unlike all others, may fuse a product and a sum, and levels may differ in the last digits. What
// every level keeps is the depth of its sums, which Lemma 15 of docs/theory.md rests on.
#include "screen_sums.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// All queries read a panel of some rows while it is in the first-level cache; the first of them adds the squares.
template <class Term, std::int64_t n_rows>
void add_for_queries(const Panel<n_rows>& panel, const Asked& asked, std::int64_t j, std::int64_t count,
                     const RowSums& out) {
    const auto add = [&]<std::int64_t n_queries, bool squared>(std::int64_t first) {
        const float* queries[n_queries];
        for (std::int64_t q = 0; q < n_queries; ++q) queries[q] = asked.queries + (first + q) * asked.stride + j;
        add_panel<Term, n_rows, n_queries, squared>(
            panel, queries, count, {out.sums + first * out.query_stride, out.query_stride, out.squares});
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

// Columns by which values that are widened are fetched ahead: they are waited for, so that a panel would be too few.
constexpr std::int64_t converted_ahead = 2 * columns_in_a_panel;

// Calls f(panel, j, count) with panels of the values of the first rows, as they are or widened: then zeros follow
// them up to a whole number of lanes.
template <std::int64_t n_rows, class F>
void in_panels(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, F&& f) {
    const bool as_is = screened_in_place(matrix);
    // The rows that are fetched meanwhile: short ones would come too late if they were the next.
    const std::int64_t ahead = n_rows * ((columns_in_a_panel + end - begin - 1) / (end - begin));
    const std::int64_t following = arms.count >= ahead + n_rows ? ahead : arms.count >= 2 * n_rows ? n_rows : 0;
    const std::int64_t *now = arms.ids, *then = arms.ids + following;
    const bool alike = then[n_rows - 1] - now[n_rows - 1] == then[0] - now[0];
    float numbers[n_rows][columns_in_a_panel];
    Panel<n_rows> panel{};
    for (std::int64_t j = begin; j < end; j += columns_in_a_panel) {
        const std::int64_t count = smaller(columns_in_a_panel, end - j);
        const std::int64_t whole = as_is ? count : (count + screen_lanes - 1) / screen_lanes * screen_lanes;
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const char* values = address_of(matrix, arms.ids[r], j);
            const std::int64_t later = j + (as_is ? count : converted_ahead);
            const char* next = later < end ? address_of(matrix, now[r], later) : address_of(matrix, then[r], begin + later - end);
            if (as_is) {
                panel.rows[r] = reinterpret_cast<const float*>(values);
                if (r == 0) panel.ahead = j + count < end || alike ? next - values : 0;
            } else {
                for (std::int64_t byte = 0; byte < count * size_of(matrix.element); byte += 64) fetch_ahead(next + byte);
                widen(matrix.element, values, matrix.column_stride, count, numbers[r]);
                for (std::int64_t at = count; at < whole; ++at) numbers[r][at] = 0.0f;
                panel.rows[r] = numbers[r];
            }
        }
        f(panel, j, whole);
    }
}

// Coordinate-major data: columns that are added up before they are added to the sums of the arms, more of one query; of
// these so many at once, for so many arms, whose sums stay in the first-level cache. Eight columns at a time took a
// seventh longer.
constexpr std::int64_t columns_screened = 32, columns_screened_alone = 128, arms_at_once = 2048;
constexpr std::int64_t columns_at_once = 16, few_columns_at_once = 4;
// So far ahead a column is fetched: as its piece, which is short, it is a stream that the processor notices late. To fetch
// the next columns instead took a sixth longer.
constexpr std::int64_t floats_ahead = 128;
static_assert(columns_screened <= roundings_in_a_panel);
// A column and those after it that are added up at once, and then the sums of others: of the last ones of a piece, too.
constexpr std::int64_t most_sums = columns_screened_alone / columns_at_once + columns_at_once / few_columns_at_once +
                                   few_columns_at_once;
static_assert(columns_at_once + most_sums <= roundings_in_a_panel);

// Calls add(at) with each register of so many values of some columns; zeros follow the last ones.
template <std::int64_t n_columns, class Add>
inline void by_registers(const float* (&own)[n_columns], std::int64_t count, const Add& add) {
    const std::int64_t rest = count % floats_in_a_register;
    for (std::int64_t at = 0; at < count - rest; at += floats_in_a_register) add(at);
    if (rest == 0) return;
    float padded[n_columns][floats_in_a_register] = {};
    for (std::int64_t c = 0; c < n_columns; ++c) {
        for (std::int64_t at = 0; at < rest; ++at) padded[c][at] = own[c][count - rest + at];
        own[c] = padded[c] - (count - rest);
    }
    add(count - rest);
}

// Adds at most columns_at_once columns that lie `stride` values apart, or begins with them.
template <class Term, bool squared, std::int64_t n_columns>
SURESHOT_ALONE void add_columns_at_once(const float* values, std::int64_t stride, const float* query,
                                        std::int64_t count, bool begun, float* sums, float* squares) {
    const float* own[n_columns];
    Floats asked[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        own[c] = values + c * stride;
        asked[c] = query[c] - Floats{};
    }
    const auto add = [&](std::int64_t at) {
        Floats sum = {}, square = {};
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            fetch_nearest(own[c] + at + floats_ahead);
            const Floats value = loaded(own[c] + at);
            sum = Term::add(value, asked[c], sum);
            if constexpr (squared) square = fused(value, value, square);
        }
        if (begun) sum += loaded(sums + at);
        copy_bytes(sums + at, &sum, sizeof(sum));
        if constexpr (!squared) return;
        if (begun) square += loaded(squares + at);
        copy_bytes(squares + at, &square, sizeof(square));
    };
    by_registers(own, count, add);
}

// Adds at most columns_screened columns to the sums of at most arms_at_once arms.
template <class Term, bool squared>
void add_few_columns(const float* values, std::int64_t stride, std::int64_t n_columns, const float* query,
                     std::int64_t count, double* __restrict sums, double* __restrict squares) {
    float own_sums[arms_at_once], own_squares[squared ? arms_at_once : 1];
    std::int64_t c = 0;
    for (; c + columns_at_once <= n_columns; c += columns_at_once) {
        add_columns_at_once<Term, squared, columns_at_once>(values + c * stride, stride, query + c, count, c > 0,
                                                            own_sums, own_squares);
    }
    for (; c + few_columns_at_once <= n_columns; c += few_columns_at_once) {
        add_columns_at_once<Term, squared, few_columns_at_once>(values + c * stride, stride, query + c, count, c > 0,
                                                                own_sums, own_squares);
    }
    for (; c < n_columns; ++c) {
        add_columns_at_once<Term, squared, 1>(values + c * stride, stride, query + c, count, c > 0, own_sums,
                                              own_squares);
    }
    for (std::int64_t at = 0; at < count; ++at) sums[at] += static_cast<double>(own_sums[at]);
    if constexpr (squared) {
        for (std::int64_t at = 0; at < count; ++at) squares[at] += static_cast<double>(own_squares[at]);
    }
}

// The same for some queries, that share the values while these are in registers: few columns at once, so that there is
// room for all.
#if defined(__AVX512F__)
constexpr std::int64_t queries_by_column = 4;
#else
constexpr std::int64_t queries_by_column = 2;
#endif
constexpr std::int64_t columns_of_queries = 4;

template <class Term, std::int64_t n_columns>
SURESHOT_ALONE void add_columns_for_queries(const float* values, std::int64_t stride, const float* const* queries,
                                            std::int64_t count, bool begun,
                                            float (&sums)[queries_by_column][arms_at_once]) {
    const float* own[n_columns];
    Floats asked[queries_by_column][n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        own[c] = values + c * stride;
        for (std::int64_t q = 0; q < queries_by_column; ++q) asked[q][c] = queries[q][c] - Floats{};
    }
    const auto add = [&](std::int64_t at) {
        Floats found[queries_by_column];
        SURESHOT_UNROLLED
        for (std::int64_t q = 0; q < queries_by_column; ++q) found[q] = begun ? loaded(sums[q] + at) : Floats{};
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            const Floats value = loaded_once(own[c] + at);
            SURESHOT_UNROLLED
            for (std::int64_t q = 0; q < queries_by_column; ++q) found[q] = Term::add(value, asked[q][c], found[q]);
        }
        SURESHOT_UNROLLED
        for (std::int64_t q = 0; q < queries_by_column; ++q) copy_bytes(sums[q] + at, &found[q], sizeof(found[q]));
    };
    by_registers(own, count, add);
}

template <class Term>
void add_few_columns_for_queries(const float* values, std::int64_t stride, std::int64_t n_columns,
                                 const Asked& asked, std::int64_t first, std::int64_t j, std::int64_t count,
                                 double* sums, std::int64_t sums_stride) {
    float own_sums[queries_by_column][arms_at_once];
    const float* queries[queries_by_column];
    std::int64_t c = 0;
    const auto add = [&]<std::int64_t together>() {
        for (std::int64_t q = 0; q < queries_by_column; ++q) {
            queries[q] = asked.queries + (first + q) * asked.stride + j + c;
        }
        add_columns_for_queries<Term, together>(values + c * stride, stride, queries, count, c > 0, own_sums);
        c += together;
    };
    while (c + columns_of_queries <= n_columns) add.template operator()<columns_of_queries>();
    while (c < n_columns) add.template operator()<1>();
    for (std::int64_t q = 0; q < queries_by_column; ++q) {
        double* __restrict const out = sums + (first + q) * sums_stride;
        for (std::int64_t at = 0; at < count; ++at) out[at] += static_cast<double>(own_sums[q][at]);
    }
}

// Whether columns of some places are read as they lie.
bool read_in_place(const Matrix& matrix, const Places& places) {
    return matrix.element == Element::float32 && places.ids == nullptr && matrix.row_stride == 1;
}

// Calls f(values, stride, arm, count) with the values of some arms in the columns from j on, as they are or widened.
template <class F>
void with_few_columns(const Matrix& matrix, const Places& places, std::int64_t j, std::int64_t n_columns, F&& f) {
    if (read_in_place(matrix, places)) {
        const auto* values = reinterpret_cast<const float*>(address_of(matrix, places.first, j));
        for (std::int64_t arm = 0; arm < places.count; arm += arms_at_once) {
            f(values + arm, matrix.column_stride, arm, smaller(arms_at_once, places.count - arm));
        }
        return;
    }
    float numbers[columns_screened][arms_widened];
    for (std::int64_t arm = 0; arm < places.count; arm += arms_widened) {
        const std::int64_t count = smaller(arms_widened, places.count - arm);
        for (std::int64_t c = 0; c < n_columns; ++c) {
            widen_column(matrix, j + c, places, arm, count, numbers[c]);
        }
        f(&numbers[0][0], arms_widened, arm, count);
    }
}

}  // namespace

void screen_rows(const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, std::int64_t begin,
                 std::int64_t end, double* sums, double* squares) noexcept {
    with_term(metric, [&]<class Term>() {
        const auto add = [&]<std::int64_t n_rows>(std::int64_t arm) {
            const RowSums out{sums + arm, arms.count, squares == nullptr ? nullptr : squares + arm};
            in_panels<n_rows>(matrix, {arms.ids + arm, arms.count - arm}, begin, end,
                              [&](const Panel<n_rows>& panel, std::int64_t j, std::int64_t count) {
                                  add_for_queries<Term, n_rows>(panel, asked, j, count, out);
                              });
        };
        std::int64_t arm = 0;
        if (asked.count == 1 && (squares == nullptr || room_for_squares)) {
            constexpr std::int64_t more = 2 * rows_screened;
            for (; arm + more <= arms.count; arm += more) add.template operator()<more>(arm);
        }
        for (; arm + rows_screened <= arms.count; arm += rows_screened) add.template operator()<rows_screened>(arm);
        for (; arm < arms.count; ++arm) add.template operator()<1>(arm);
    });
}

void screen_columns(const Matrix& matrix, Metric metric, const Asked& asked, const Places& places,
                    std::int64_t begin, std::int64_t end, double* sums, double* squares) noexcept {
    const bool alone = asked.count == 1 && read_in_place(matrix, places);
    const std::int64_t together = alone ? columns_screened_alone : columns_screened;
    with_term(metric, [&]<class Term>() {
        for (std::int64_t j = begin; j < end; j += together) {
            const std::int64_t n_columns = smaller(together, end - j);
            with_few_columns(matrix, places, j, n_columns,
                             [&](const float* values, std::int64_t stride, std::int64_t arm, std::int64_t count) {
                                 std::int64_t q = 0;
                                 const auto alone = [&]<bool squared>() {
                                     add_few_columns<Term, squared>(values, stride, n_columns,
                                                                    asked.queries + q * asked.stride + j, count,
                                                                    sums + q * places.count + arm,
                                                                    squared ? squares + arm : nullptr);
                                     ++q;
                                 };
                                 if (squares != nullptr) alone.template operator()<true>();
                                 for (; q + queries_by_column <= asked.count; q += queries_by_column) {
                                     add_few_columns_for_queries<Term>(values, stride, n_columns, asked, q, j, count,
                                                                       sums + arm, places.count);
                                 }
                                 while (q < asked.count) alone.template operator()<false>();
                             });
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
