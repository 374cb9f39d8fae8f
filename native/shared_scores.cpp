#include "shared_scores.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "compiler.hpp"
#include "copied_rows.hpp"
#include "division.hpp"
#include "isa.hpp"
#include "parts.hpp"
#include "scoring.hpp"

namespace sureshot {
namespace {

// Columns that all queries read before the next ones: those of some rows and queries are in the first-level cache.
constexpr std::int64_t columns_shared = 512;
// Queries lie so far apart: no power of two, so that they do not share lines of the caches.
constexpr std::int64_t query_stride = columns_shared + 8;
// Queries that read these columns of some rows one after the other: theirs, in double, stay in the first-level cache
// meanwhile, and the rows in the second-level cache.
constexpr std::int64_t queries_together = 4;
constexpr std::int64_t line_floats = 16;
// Rows and queries of a piece, at most: so many of their sums are in the caches. And queries of a piece, at least, if few
// rows leave threads without one.
constexpr std::int64_t most_rows = 64, most_queries = 512, most_sums = 16384, fewest_queries = 16;

// How rows and queries are divided among threads: as few pieces as can be, about equal.
struct Division {
    std::int64_t rows, queries;  // of a piece
    std::int64_t pieces_of_rows, pieces_of_queries;

    // `copied`: each piece copies its rows, and so would another piece of the queries.
    Division(std::int64_t n_rows, std::int64_t n_queries, std::int64_t threads, bool copied) {
        const std::int64_t most = std::min(most_sums / std::min(n_queries, most_queries), most_rows);
        const bool few_rows = n_rows < most * threads && !copied;
        const std::int64_t shared = few_rows ? std::clamp<std::int64_t>(n_queries / fewest_queries, 1, threads) : 1;
        const std::int64_t parts = std::max(shared, divided_up(n_queries, most_queries));
        const std::int64_t sharing = parts < threads ? threads : 1;
        rows = divided_up(n_rows, sharing * divided_up(n_rows, sharing * most));
        pieces_of_rows = divided_up(n_rows, rows);
        queries = rounded_up(divided_up(n_queries, parts), queries_together);
        pieces_of_queries = divided_up(n_queries, queries);
    }
};

// Whether kernels read the values of a row as they lie: others are copied, since all queries read them.
bool read_as_they_lie(const Matrix& matrix) {
    const bool wide = matrix.element == Element::float32 || matrix.element == Element::float64;
    return wide && matrix.column_stride == 1;
}

}  // namespace

template <class Query>
void shared_scores(Team& team, const Matrix& matrix, Metric metric, const Query* queries, std::int64_t n_queries, Arms arms,
                   double* scores, double* squares) {
    constexpr bool floats = std::is_same_v<Query, float>;
    if (n_queries == 0 || arms.count == 0) return;
    const std::int64_t width = matrix.n_columns;
    const bool copied = !read_as_they_lie(matrix);
    const Division division(arms.count, n_queries, team.threads(), copied);
    const std::int64_t room_of_sums = (division.queries + 1) * division.rows * lanes;
    const std::vector<double> zeros(squares == nullptr ? 0 : static_cast<std::size_t>(columns_shared));
    const Workspaces spaces(team, room_of_sums + (floats ? queries_together * query_stride : 0));
    std::vector<CopiedRows> copies(static_cast<std::size_t>(team.threads()),
                                   {matrix, copied, division.rows, columns_shared});
    const auto score = [&](std::int64_t row, std::int64_t first, double* sums, CopiedRows& copy) {
        const Arms few{arms.ids + row, std::min(division.rows, arms.count - row)};
        const std::int64_t end = std::min(first + division.queries, n_queries);
        double* const square_sums = sums + (end - first) * few.count * lanes;
        double* const values = sums + room_of_sums;
        double* const its_squares = first == 0 ? squares : nullptr;
        std::fill(sums, square_sums + few.count * lanes, 0.0);
        for (std::int64_t from = 0; from < width; from += columns_shared) {
            if (team.cancelled()) return false;
            const std::int64_t columns = std::min(columns_shared, width - from), after = width - from - columns;
            const Matrix part = copied ? copy.copy(matrix, few, from, from + columns) : matrix;
            const Arms rows = copied ? copy.first(few.count) : few;
            const std::int64_t begin = copied ? 0 : from;
            for (std::int64_t q = first; q < end; q += queries_together) {
                const bool fetches = !copied && q == first && after >= columns_shared;
                SharedQueries shared{nullptr, std::min(queries_together, end - q), width, floats,
                                     fetches ? columns_shared : 0};
                const Query* const own = queries + q * width + from;
                if constexpr (floats) {
                    for (std::int64_t at = 0; at < shared.count; ++at) {
                        const Query* const its = own + at * width;
                        for (std::int64_t j = 0; j < std::min(columns, after); j += line_floats) {
                            fetch_ahead(its + columns + j);
                        }
                        std::copy_n(its, columns, values + at * query_stride);
                    }
                    shared.values = values;
                    shared.stride = query_stride;
                } else {
                    shared.values = own;
                }
                kernels().add_shared_rows(part, metric, shared, rows, begin, begin + columns,
                                          sums + (q - first) * few.count * lanes);
            }
            if (its_squares == nullptr) continue;
            kernels().add_shared_rows(part, Metric::squared_euclidean, {zeros.data(), 1, 0, false, 0}, rows, begin,
                                      begin + columns, square_sums);
        }
        for (std::int64_t q = first; q < end; ++q) {
            kernels().join_rows(sums + (q - first) * few.count * lanes, few.count, scores + q * arms.count + row);
        }
        if (its_squares != nullptr) {
            kernels().join_rows(square_sums, few.count, its_squares + row);
            negate(its_squares + row, few.count);
        }
        return true;
    };
    team.run(division.pieces_of_rows * division.pieces_of_queries, division.rows * division.queries * width,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 for (std::int64_t piece = begin; piece < end; ++piece) {
                     const std::int64_t row = piece % division.pieces_of_rows * division.rows;
                     const std::int64_t query = piece / division.pieces_of_rows * division.queries;
                     if (!score(row, query, spaces.of(thread), copies[static_cast<std::size_t>(thread)])) return;
                 }
             });
}

template void shared_scores(Team&, const Matrix&, Metric, const float*, std::int64_t, Arms, double*, double*);
template void shared_scores(Team&, const Matrix&, Metric, const double*, std::int64_t, Arms, double*, double*);

}  // namespace sureshot
