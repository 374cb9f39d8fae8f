#include "shared_scores.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "compiler.hpp"
#include "copied_rows.hpp"
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
// Rows of a thread that are read side by side, at most and at least; so many of their sums are in the caches.
constexpr std::int64_t most_rows_together = 64, fewest_rows_together = 5, most_sums = 16384;

}  // namespace

template <class Query>
void shared_scores(Team& team, const Matrix& matrix, Metric metric, const Query* queries, std::int64_t n_queries, Arms arms,
                   double* scores, double* squares) {
    constexpr bool floats = std::is_same_v<Query, float>;
    const std::int64_t width = matrix.n_columns;
    const std::int64_t together = std::clamp(most_sums / n_queries, fewest_rows_together, most_rows_together);
    const std::int64_t widened = floats ? std::min(queries_together, n_queries) * query_stride : 0;
    const std::vector<double> zeros(squares == nullptr ? 0 : static_cast<std::size_t>(columns_shared));
    const Workspaces spaces(team, (n_queries + 1) * together * lanes + widened);
    // By column the values of a row lie far apart: they are copied, since all queries read them.
    const bool copied = coordinate_major(matrix);
    std::vector<CopiedRows> copies(static_cast<std::size_t>(team.threads()), {matrix, copied, together, columns_shared});
    const auto score_rows = [&](Arms few, std::int64_t some, double* sums, CopiedRows& copy) {
        double* const square_sums = sums + n_queries * few.count * lanes;
        double* const values = square_sums + few.count * lanes;
        std::fill(sums, values, 0.0);
        for (std::int64_t from = 0; from < width; from += columns_shared) {
            if (team.cancelled()) return false;
            const std::int64_t columns = std::min(columns_shared, width - from);
            const Matrix part = copied ? copy.copy(matrix, few, from, from + columns) : matrix;
            const Arms rows = copied ? copy.first(few.count) : few;
            const std::int64_t begin = copied ? 0 : from;
            for (std::int64_t q = 0; q < n_queries; q += queries_together) {
                const bool fetches = !copied && q == 0 && from + 2 * columns_shared <= width;
                SharedQueries shared{nullptr, std::min(queries_together, n_queries - q), width, floats, fetches ? columns_shared : 0};
                const Query* const own = queries + q * width + from;
                if constexpr (floats) {
                    for (std::int64_t at = 0; at < shared.count; ++at) {
                        for (std::int64_t j = columns; j < std::min(2 * columns, width - from); j += 16) {
                            fetch_ahead(own + at * width + j);
                        }
                        std::copy_n(own + at * width, columns, values + at * query_stride);
                    }
                    shared.values = values;
                    shared.stride = query_stride;
                } else {
                    shared.values = own;
                }
                kernels().add_shared_rows(part, metric, shared, rows, begin, begin + columns, sums + q * few.count * lanes);
            }
            if (squares == nullptr) continue;
            kernels().add_shared_rows(part, Metric::squared_euclidean, {zeros.data(), 1, 0, false, 0}, rows, begin,
                                      begin + columns, square_sums);
        }
        for (std::int64_t q = 0; q < n_queries; ++q) {
            kernels().join_rows(sums + q * few.count * lanes, few.count, scores + q * arms.count + some);
        }
        if (squares != nullptr) {
            kernels().join_rows(square_sums, few.count, squares + some);
            negate(squares + some, few.count);
        }
        return true;
    };
    team.run(arms.count, n_queries * width,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 for (std::int64_t some = begin; some < end; some += together) {
                     const Arms few{arms.ids + some, std::min(together, end - some)};
                     CopiedRows& copy = copies[static_cast<std::size_t>(thread)];
                     if (!score_rows(few, some, spaces.of(thread), copy)) return;
                 }
             },
             std::clamp(arms.count / team.threads(), fewest_rows_together, together));
}

template void shared_scores(Team&, const Matrix&, Metric, const float*, std::int64_t, Arms, double*, double*);
template void shared_scores(Team&, const Matrix&, Metric, const double*, std::int64_t, Arms, double*, double*);

}  // namespace sureshot
