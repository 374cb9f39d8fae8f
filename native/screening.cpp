#include "screening.hpp"

#include <algorithm>
#include <vector>

#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// Takes sums as scores: distances are negated.
void take(Metric metric, const double* sums, std::int64_t count, double* scores) {
    const bool negated = metric != Metric::inner_product;
    for (std::int64_t at = 0; at < count; ++at) scores[at] = negated ? -sums[at] : sums[at];
}

void screen_by_row(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms, double* scores,
                   double* squares) {
    const std::int64_t tables = asked.count + (squares == nullptr ? 0 : 1);
    const std::int64_t together = rows_at_once(matrix);
    const Workspaces spaces(team, tables * together);
    team.run(arms.count, asked.count * matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 double* const sums = spaces.of(thread);
                 for (std::int64_t some = begin; some < end; some += together) {
                     const Arms few{arms.ids + some, std::min(together, end - some)};
                     double* const square_sums = squares == nullptr ? nullptr : sums + asked.count * few.count;
                     std::fill(sums, sums + tables * few.count, 0.0);
                     const bool done = in_parts(
                         team, matrix.n_columns, few.count * tables, [&](std::int64_t from, std::int64_t to) {
                             kernels().screen_rows(matrix, metric, asked, few, from, to, sums, square_sums);
                         });
                     if (!done) return;
                     for (std::int64_t q = 0; q < asked.count; ++q) {
                         take(metric, sums + q * few.count, few.count, scores + q * arms.count + some);
                     }
                     if (squares != nullptr) std::copy_n(square_sums, few.count, squares + some);
                 }
             });
}

void screen_by_column(Team& team, const Matrix& matrix, Metric metric, const Asked& asked, Arms arms,
                      double* scores, double* squares) {
    const std::int64_t tables = asked.count + (squares == nullptr ? 0 : 1);
    const Workspaces spaces(team, ArmTile::most_places(arms) * tables);
    team.run(arms.count, asked.count * matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 double* const sums = spaces.of(thread);
                 for (std::int64_t arm = begin; arm < end;) {
                     const ArmTile tile(matrix, {arms.ids + arm, end - arm});
                     const std::int64_t places = tile.places.count;
                     double* const square_sums = squares == nullptr ? nullptr : sums + asked.count * places;
                     std::fill(sums, sums + tables * places, 0.0);
                     const bool done = in_parts(
                         team, matrix.n_columns, places * tables, [&](std::int64_t from, std::int64_t to) {
                             kernels().screen_columns(matrix, metric, asked, tile.places, from, to, sums, square_sums);
                         });
                     if (!done) return;
                     for (std::int64_t q = 0; q < asked.count; ++q) {
                         double* const own = scores + q * arms.count + arm;
                         tile.pick(sums + q * places, arms.ids + arm, own);
                         take(metric, own, tile.count, own);
                     }
                     if (squares != nullptr) tile.pick(square_sums, arms.ids + arm, squares + arm);
                     arm += tile.count;
                 }
             },
             arms_per_thread);
}

}  // namespace

void screen(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
            Arms arms, double* scores, double* squares) {
    const std::int64_t stride = (matrix.n_columns + screen_lanes - 1) / screen_lanes * screen_lanes;
    std::vector<float> padded(static_cast<std::size_t>(n_queries * stride));
    for (std::int64_t q = 0; q < n_queries; ++q) {
        std::copy_n(queries + q * matrix.n_columns, matrix.n_columns, padded.data() + q * stride);
    }
    const Asked asked{padded.data(), n_queries, stride};
    if (coordinate_major(matrix)) {
        screen_by_column(team, matrix, metric, asked, arms, scores, squares);
    } else {
        screen_by_row(team, matrix, metric, asked, arms, scores, squares);
    }
}

}  // namespace sureshot
