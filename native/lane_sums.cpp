#include "lane_sums.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// Rows and columns that the queries read one after the other: they stay in the caches meanwhile.
constexpr std::int64_t rows_in_cache = 8, columns_in_cache = 4096;

// Copies what was found of some rows, [row][lane], to [lane][row].
void turn(const double* sums, std::int64_t rows, double* turned) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) turned[lane * rows + row] = sums[row * lanes + lane];
    }
}

void turn_back(const double* turned, std::int64_t rows, double* sums) {
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) sums[row * lanes + lane] = turned[lane * rows + row];
    }
}

void add_by_row(Team& team, const Matrix& matrix, Metric metric, const double* queries, std::int64_t n_queries,
                double* sums) {
    std::vector<std::int64_t> ids(static_cast<std::size_t>(matrix.n_rows));
    std::iota(ids.begin(), ids.end(), 0);
    team.run(matrix.n_rows, n_queries * matrix.n_columns, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t some = begin; some < end; some += rows_in_cache) {
            const Arms few{ids.data() + some, std::min(rows_in_cache, end - some)};
            for (std::int64_t from = 0; from < matrix.n_columns; from += columns_in_cache) {
                if (team.cancelled()) return;
                const std::int64_t to = std::min(from + columns_in_cache, matrix.n_columns);
                for (std::int64_t q = 0; q < n_queries; ++q) {
                    kernels().add_rows(matrix, metric, queries + q * matrix.n_columns, few,
                                       most_rows_side_by_side, from, to, sums + (q * matrix.n_rows + some) * lanes);
                }
            }
        }
    }, 2 * rows_in_cache);
}

void add_by_column(Team& team, const Matrix& matrix, Metric metric, const double* queries, std::int64_t n_queries,
                   double* sums) {
    const std::int64_t most = std::min(arms_per_tile, matrix.n_rows);
    const Workspaces spaces(team, most * lanes);
    team.run(matrix.n_rows, n_queries * matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 double* const turned = spaces.of(thread);
                 for (std::int64_t some = begin; some < end; some += most) {
                     const Places places{nullptr, some, std::min(most, end - some)};
                     for (std::int64_t q = 0; q < n_queries; ++q) {
                         double* const own = sums + (q * matrix.n_rows + some) * lanes;
                         turn(own, places.count, turned);
                         const bool done =
                             in_parts(team, matrix.n_columns, places.count, [&](std::int64_t from, std::int64_t to) {
                                 kernels().add_columns(matrix, metric, queries + q * matrix.n_columns, places,
                                                       {0, lanes}, from, to, turned);
                             });
                         if (!done) return;
                         turn_back(turned, places.count, own);
                     }
                 }
             },
             arms_per_thread);
}

}  // namespace

void add_scores(Team& team, const Matrix& matrix, Metric metric, const double* queries, std::int64_t n_queries,
                double* sums) {
    const bool by_column = coordinate_major(matrix) && matrix.row_stride == 1;
    (by_column ? add_by_column : add_by_row)(team, matrix, metric, queries, n_queries, sums);
}

}  // namespace sureshot
