#include "pair_scores.hpp"

#include <algorithm>
#include <vector>

#include "compiler.hpp"
#include "copied_rows.hpp"
#include "isa.hpp"
#include "parts.hpp"
#include "rows_adder.hpp"
#include "scoring.hpp"

namespace sureshot {
namespace {

// Columns that are read before the next ones, and pairs whose sums a thread keeps meanwhile.
constexpr std::int64_t columns_of_pairs = 4 * columns_in_a_part;
constexpr std::int64_t most_pairs = 16384;
// Pieces of the queries that a thread has, if there are so many: the fewer, the more queries ask for a row that was read.
constexpr std::int64_t pieces_of_a_thread = 4;

// Pairs [begin, end), which are those of the queries [first, last), and room for their sums.
struct Piece {
    std::int64_t first, last;
    std::int64_t begin, end;
    double* sums;
};

template <class Query>
struct Pairs {
    const Matrix& matrix;
    Metric metric;
    const Query* queries;
    const std::int64_t* starts;
    const std::int64_t* arms;

    std::int64_t width() const { return matrix.n_columns; }
    const Query* query(std::int64_t q) const { return queries + q * width(); }

    // Calls f(q, arms of the query, their sums) for each query of a piece; returns false if the team was cancelled.
    template <class F>
    bool for_queries(Team& team, const Piece& piece, const F& f) const {
        for (std::int64_t q = piece.first; q < piece.last; ++q) {
            if (team.cancelled()) return false;
            const std::int64_t begin = std::max(starts[q], piece.begin), end = std::min(starts[q + 1], piece.end);
            if (begin < end) f(q, Arms{arms + begin, end - begin}, piece.sums + (begin - piece.begin) * lanes);
        }
        return true;
    }
};

// The same rows without their first columns.
Matrix columns_from(const Matrix& matrix, std::int64_t first) {
    Matrix rest = matrix;
    rest.data = address_of(matrix, 0, first);
    rest.n_columns -= first;
    return rest;
}

// Fetches values that lie side by side.
template <class Value>
void fetch_values(const Value* values, std::int64_t count) {
    constexpr std::int64_t line = 64 / sizeof(Value);
    for (std::int64_t at = 0; at < count; at += line) fetch_ahead(values + at);
}

// The columns of one part after the other: while the queries of a thread read it, the rows
// that several of them ask for stay in the caches.
template <class Query>
bool add_rows(Team& team, const Pairs<Query>& pairs, const Piece& piece) {
    for (std::int64_t from = 0; from < pairs.width(); from += columns_of_pairs) {
        const std::int64_t columns = std::min(columns_of_pairs, pairs.width() - from);
        const Matrix part = columns_from(pairs.matrix, from);
        const bool done = pairs.for_queries(team, piece, [&](std::int64_t q, Arms its, double* sums) {
            if (q + 1 < piece.last) fetch_values(pairs.query(q + 1) + from, columns);
            rows_adder<Query>()(part, pairs.metric, pairs.query(q) + from, its, most_rows_side_by_side, 0, columns,
                                sums);
        });
        if (!done) return false;
    }
    return true;
}

// By column a row is scattered, and many queries may ask for it: the rows that a thread's queries ask for are copied, some
// columns at a time.
constexpr std::int64_t numbers_copied = std::int64_t{1} << 18;
constexpr std::int64_t fewest_columns_copied = 2 * lanes;
// Pairs of all threads after which no other thread is given some: a query may have very many.
constexpr std::int64_t most_pairs_copied = std::int64_t{1} << 18;

// The queries [first, last) of a thread: the rows that they ask for, each once, and at which of these each pair finds its own.
struct RowsOfPairs {
    std::int64_t first, last;
    std::vector<std::int64_t> rows, places;
    std::int64_t columns;  // that are copied at once
    CopiedRows copies;
    std::vector<double> sums;

    RowsOfPairs(const Matrix& matrix, std::int64_t first, std::int64_t last, const std::int64_t* arms, std::int64_t count)
        : first(first),
          last(last),
          rows(unique(arms, count)),
          places(static_cast<std::size_t>(count)),
          columns(columns_of(matrix, static_cast<std::int64_t>(rows.size()))),
          copies(matrix, true, static_cast<std::int64_t>(rows.size()), columns),
          sums(static_cast<std::size_t>(count * lanes), 0.0) {
        for (std::size_t pair = 0; pair < places.size(); ++pair) {
            places[pair] = std::lower_bound(rows.begin(), rows.end(), arms[pair]) - rows.begin();
        }
    }

 private:
    static std::vector<std::int64_t> unique(const std::int64_t* arms, std::int64_t count) {
        std::vector<std::int64_t> found(arms, arms + count);
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }
    static std::int64_t columns_of(const Matrix& matrix, std::int64_t n_rows) {
        const std::int64_t most = numbers_copied / std::max<std::int64_t>(n_rows, 1) / lanes * lanes;
        return std::min(std::clamp(most, fewest_columns_copied, columns_of_pairs), matrix.n_columns);
    }
};

// Fills in the scores of these pairs.
template <class Query>
void score_copied(Team& team, const Pairs<Query>& pairs, RowsOfPairs& own, double* scores) {
    const std::int64_t begin = pairs.starts[own.first];
    const Arms rows{own.rows.data(), static_cast<std::int64_t>(own.rows.size())};
    for (std::int64_t from = 0; from < pairs.width(); from += own.columns) {
        if (team.cancelled()) return;
        const std::int64_t columns = std::min(own.columns, pairs.width() - from);
        const Matrix copy = own.copies.copy(pairs.matrix, rows, from, from + columns);
        for (std::int64_t q = own.first; q < own.last; ++q) {
            const std::int64_t at = pairs.starts[q] - begin;
            if (q + 1 < own.last) fetch_values(pairs.query(q + 1) + from, columns);
            const Arms its{own.places.data() + at, pairs.starts[q + 1] - pairs.starts[q]};
            rows_adder<Query>()(copy, pairs.metric, pairs.query(q) + from, its, most_rows_side_by_side, 0, columns,
                                own.sums.data() + at * lanes);
        }
    }
    kernels().join_rows(own.sums.data(), pairs.starts[own.last] - begin, scores + begin);
}

template <class Query>
void score_by_column(Team& team, const Pairs<Query>& pairs, std::int64_t n_queries, double* scores) {
    // As many pairs for each thread, in whole queries.
    const std::int64_t equal = (pairs.starts[n_queries] + team.threads() - 1) / team.threads();
    const std::int64_t each = std::min(equal, most_pairs);
    for (std::int64_t next = 0; next < n_queries;) {
        std::vector<RowsOfPairs> parts;
        const std::int64_t before = pairs.starts[next];
        while (next < n_queries && static_cast<std::int64_t>(parts.size()) < team.threads() &&
               pairs.starts[next] - before < most_pairs_copied) {
            const std::int64_t first = next++, begin = pairs.starts[first];
            while (next < n_queries && pairs.starts[next] - begin < each) ++next;
            parts.emplace_back(pairs.matrix, first, next, pairs.arms + begin, pairs.starts[next] - begin);
        }
        const auto count = static_cast<std::int64_t>(parts.size());
        team.run(count, each * pairs.width(), [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t at = begin; at < end; ++at) {
                score_copied(team, pairs, parts[static_cast<std::size_t>(at)], scores);
            }
        });
    }
}

}  // namespace

template <class Query>
void pair_scores(Team& team, const Matrix& matrix, Metric metric, const Query* queries, std::int64_t n_queries,
                 const std::int64_t* starts, const std::int64_t* arms, double* scores) {
    const Pairs<Query> pairs{matrix, metric, queries, starts, arms};
    if (coordinate_major(matrix)) return score_by_column(team, pairs, n_queries, scores);
    const std::int64_t n_pairs = starts[n_queries], kept = std::min(n_pairs, most_pairs);
    const Workspaces spaces(team, kept * lanes);
    const std::int64_t each = n_pairs / std::max<std::int64_t>(n_queries, 1) + 1;
    team.run(n_queries, each * matrix.n_columns, [&](std::int64_t first, std::int64_t last, std::int64_t thread) noexcept {
        double* const sums = spaces.of(thread);
        for (std::int64_t begin = starts[first], q = first; begin < starts[last];) {
            const std::int64_t end = std::min(begin + kept, starts[last]);
            std::int64_t next = q;  // the query that the pair behind the last belongs to
            while (starts[next + 1] < end) ++next;
            std::fill_n(sums, (end - begin) * lanes, 0.0);
            if (!add_rows(team, pairs, {q, next + 1, begin, end, sums})) return;
            kernels().join_rows(sums, end - begin, scores + begin);
            begin = end;
            q = next;
        }
    }, std::max<std::int64_t>(n_queries / (pieces_of_a_thread * team.threads()), 1));
}

template void pair_scores(Team&, const Matrix&, Metric, const float*, std::int64_t, const std::int64_t*,
                          const std::int64_t*, double*);
template void pair_scores(Team&, const Matrix&, Metric, const double*, std::int64_t, const std::int64_t*,
                          const std::int64_t*, double*);

}  // namespace sureshot
