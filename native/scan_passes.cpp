// The passes that look at the values of the data alone.
#include <algorithm>

#include "isa.hpp"
#include "parts.hpp"
#include "passes.hpp"

namespace sureshot {

void scan_rows(Team& team, const Matrix& matrix, const double* middle, const double* unit, Arms arms,
               double* reach, double* squares) {
    if (!coordinate_major(matrix)) {
        const std::int64_t together = rows_at_once(matrix.n_columns);
        return team.run(arms.count, matrix.n_columns, [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t some = begin; some < end; some += together) {
                const Arms few{arms.ids + some, std::min(together, end - some)};
                double sums[most_rows * lanes] = {};
                std::fill(reach + some, reach + some + few.count, 0.0);
                const bool done = in_parts(team, matrix.n_columns, few.count, [&](std::int64_t from, std::int64_t to) {
                    kernels().scan_rows(matrix, middle, unit, few, from, to, reach + some, sums);
                });
                if (!done) return;
                kernels().join_rows(sums, few.count, squares + some);
            }
        });
    }
    const Workspaces spaces(team, ArmTile::most_places(arms) * (lanes + 2));
    team.run(arms.count, matrix.n_columns,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 for (std::int64_t arm = begin; arm < end;) {
                     const ArmTile tile(matrix, {arms.ids, end}, arm);
                     const std::int64_t places = tile.places.count;
                     double* found = spaces.of(thread);
                     double* farthest = found + places;
                     double* sums = farthest + places;
                     std::fill(farthest, sums + places * lanes, 0.0);
                     const bool done = in_parts(team, matrix.n_columns, places, [&](std::int64_t from, std::int64_t to) {
                         kernels().scan_columns(matrix, middle, unit, tile.places, from, to, farthest, sums);
                     });
                     if (!done) return;
                     kernels().join_columns(sums, places, found);
                     tile.pick(found, arms.ids, squares + arm);
                     tile.pick(farthest, arms.ids, reach + arm);
                     arm += tile.count;
                 }
             },
             arms_per_thread);
}

void column_limits(Team& team, const Matrix& matrix, Arms arms, double* low, double* high) {
    team.run(matrix.n_columns, arms.count, [&](std::int64_t begin, std::int64_t end) noexcept {
        kernels().column_limits(matrix, arms, begin, end, low, high);
    });
}

}  // namespace sureshot
