#include "screen_alone.hpp"

#include "screen_sums.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Long rows are read side by side: as many streams as the processor fetches ahead by itself. It does so into the caches behind
// the first one: to fetch them into that takes up to a tenth less. From farther ahead here, it took longer.
constexpr std::int64_t bytes_ahead = 512;

template <class Term, std::int64_t n_rows, bool squared>
void add_long_rows(const Matrix& matrix, const float* query, const std::int64_t* ids, std::int64_t begin,
                   std::int64_t end, const RowSums& out) {
    Panel<n_rows> panel{};
    panel.ahead = bytes_ahead;
    for (std::int64_t j = begin; j < end; j += columns_in_a_long_panel) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            panel.rows[r] = reinterpret_cast<const float*>(address_of(matrix, ids[r], j));
        }
        const float* const asked = query + j;
        add_panel<Term, n_rows, 1, squared>(panel, &asked, smaller(columns_in_a_long_panel, end - j), out);
    }
}

// Short rows are read one after the other, each with several registers of sums: where they follow each other in
// memory, all of them are one stream, which the processor fetches beyond the end of a row by itself. Side by side they
// would be streams that end before it has noticed them, and took up to twice as long. Rows that lie apart are fetched
// here: for those of one stream that took a quarter to a half more time.
constexpr std::int64_t fewest_columns_of_long_rows = 2048;
constexpr std::int64_t sums_of_a_row = 4;
constexpr std::int64_t lanes_of_a_row = sums_of_a_row * floats_in_a_register;
constexpr std::int64_t floats_in_a_line = 16;
constexpr std::int64_t floats_ahead = 1024;
// A lane has one more term at the end of a row, and the lanes are added in pairs.
constexpr std::int64_t pairings = lanes_of_a_row == 64 ? 6 : lanes_of_a_row == 32 ? 5 : 4;
static_assert(std::int64_t{1} << pairings == lanes_of_a_row);
static_assert(screen_lanes / lanes_of_a_row + 1 + pairings <= roundings_in_a_long_panel(screen_lanes));
static_assert(lanes_of_a_row >= screen_lanes);

// The lanes of a row, folded into four.
inline FourFloats folded_all(const Floats (&sums)[sums_of_a_row]) {
    Floats left[registers];
    if constexpr (registers == 1) {
        left[0] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    } else if constexpr (registers == 2) {
        left[0] = sums[0] + sums[2];
        left[1] = sums[1] + sums[3];
    } else {
        for (std::int64_t at = 0; at < registers; ++at) left[at] = sums[at];
    }
    return folded(left);
}

// At most columns_in_a_long_panel columns of a row, while as many are fetched from `next` on, if any are. If they are
// no whole number of registers, the last ones are read together with some before them, which are left out.
template <class Term, bool squared, bool fetching>
inline void sum_row(const float* own, const float* query, std::int64_t count, const float* next, FourFloats& sum,
                    FourFloats& square) {
    Floats sums[sums_of_a_row] = {}, squares[sums_of_a_row] = {};
    const auto add = [&](std::int64_t to, std::int64_t at, const auto& taken) {
        const Floats value = taken(loaded_once(own + at));
        sums[to] = Term::add(value, taken(loaded(query + at)), sums[to]);
        if constexpr (squared) squares[to] = fused(value, value, squares[to]);
    };
    const auto whole = [](Floats values) { return values; };
    std::int64_t at = 0;
    for (; at + lanes_of_a_row <= count; at += lanes_of_a_row) {
        SURESHOT_UNROLLED
        for (std::int64_t to = 0; to < sums_of_a_row; ++to) {
            const std::int64_t here = at + to * floats_in_a_register;
            if constexpr (fetching) {
                if (to * floats_in_a_register % floats_in_a_line == 0) fetch_nearest(next + here);
            }
            add(to, here, whole);
        }
    }
    // Unrolled, too: with places that are counted the sums would have to lie in memory.
    SURESHOT_UNROLLED
    for (std::int64_t to = 0; to < sums_of_a_row - 1; ++to) {
        if (at + floats_in_a_register > count) break;
        if constexpr (fetching) fetch_nearest(next + at);
        add(to, at, whole);
        at += floats_in_a_register;
    }
    if (at < count) {
        const std::int32_t* wanted = last_lanes + screen_lanes - floats_in_a_register + (count - at);
        add(sums_of_a_row - 1, count - floats_in_a_register, [wanted](Floats values) { return chosen(values, wanted); });
    }
    sum = folded_all(sums);
    if constexpr (squared) square = folded_all(squares);
}

template <class Term, bool squared, bool fetching>
SURESHOT_ALONE void add_short_rows(const Matrix& matrix, const float* query, Arms arms, std::int64_t begin,
                                   std::int64_t end, const RowSums& out) {
    constexpr std::int64_t at_once = 4;
    const std::int64_t rows_ahead = (floats_ahead + end - begin - 1) / (end - begin);
    const auto values_of = [&](std::int64_t arm, std::int64_t j) {
        return reinterpret_cast<const float*>(address_of(matrix, arms.ids[arm], j));
    };
    for (std::int64_t arm = 0; arm < arms.count; arm += at_once) {
        const std::int64_t n_rows = smaller(at_once, arms.count - arm);
        for (std::int64_t j = begin; j < end; j += columns_in_a_long_panel) {
            const std::int64_t count = smaller(columns_in_a_long_panel, end - j);
            FourFloats sums[at_once] = {}, squares[at_once] = {};
            for (std::int64_t r = 0; r < n_rows; ++r) {
                const std::int64_t next = smaller(arm + r + rows_ahead, arms.count - 1);
                sum_row<Term, squared, fetching>(values_of(arm + r, j), query + j, count, values_of(next, j), sums[r],
                                                 squares[r]);
            }
            if (n_rows == at_once) {
                add_sums<at_once>(sums, out.sums + arm);
                if constexpr (squared) add_sums<at_once>(squares, out.squares + arm);
            } else {
                for (std::int64_t r = 0; r < n_rows; ++r) {
                    add_sums<1>(sums + r, out.sums + arm + r);
                    if constexpr (squared) add_sums<1>(squares + r, out.squares + arm + r);
                }
            }
        }
    }
}

// Whether so many columns of some rows follow each other in memory. Arms ascend.
bool are_one_stream(const Matrix& matrix, Arms arms, std::int64_t n_columns) {
    if (arms.count == 0) return true;
    return matrix.row_stride == n_columns && arms.ids[arms.count - 1] - arms.ids[0] == arms.count - 1;
}

template <class Term, bool squared>
void add_rows(const Matrix& matrix, const float* query, Arms arms, std::int64_t begin, std::int64_t end,
              const RowSums& out) {
    const auto from = [&](std::int64_t arm) {
        return RowSums{out.sums + arm, 0, squared ? out.squares + arm : nullptr};
    };
    std::int64_t arm = 0;
    if (end - begin >= fewest_columns_of_long_rows) {
        const auto add = [&]<std::int64_t n_rows>() {
            for (; arm + n_rows <= arms.count; arm += n_rows) {
                add_long_rows<Term, n_rows, squared>(matrix, query, arms.ids + arm, begin, end, from(arm));
            }
        };
        if constexpr (!squared || room_for_squares) add.template operator()<2 * rows_screened>();
        add.template operator()<rows_screened>();
    }
    const Arms rest{arms.ids + arm, arms.count - arm};
    if (are_one_stream(matrix, rest, end - begin)) {
        add_short_rows<Term, squared, false>(matrix, query, rest, begin, end, from(arm));
    } else {
        add_short_rows<Term, squared, true>(matrix, query, rest, begin, end, from(arm));
    }
}

}  // namespace

void screen_alone(const Matrix& matrix, Metric metric, const float* query, Arms arms, std::int64_t begin,
                  std::int64_t end, double* sums, double* squares) noexcept {
    with_term(metric, [&]<class Term>() {
        if (squares != nullptr) return add_rows<Term, true>(matrix, query, arms, begin, end, {sums, 0, squares});
        add_rows<Term, false>(matrix, query, arms, begin, end, {sums, 0, nullptr});
    });
}

}  // namespace sureshot::SURESHOT_ISA
