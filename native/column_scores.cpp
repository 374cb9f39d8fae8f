#include "column_scores.hpp"

#include <algorithm>
#include <vector>

#include "compiler.hpp"
#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// Adds up some lanes of a tile of arms column by column: sums[lane][place], and the squares behind them. Returns false if the
// team was cancelled.
bool add_tile(Team& team, const Matrix& matrix, const Scoring<double>& scoring, const Places& places, LaneSpan span,
              double* sums) {
    double* const square_sums = sums + places.count * lanes;
    const std::int64_t begin = span.first * places.count, end = span.end * places.count;
    std::fill(sums + begin, sums + end, 0.0);
    if (scoring.squared()) std::fill(square_sums + begin, square_sums + end, 0.0);
    return in_runs(
        team, scoring.runs, places.count * scoring.readers(), [&](std::int64_t from, std::int64_t to) {
            scoring.each(sums, square_sums, [&](Metric metric, const double* query, double* out) {
                kernels().add_columns(matrix, metric, query, places, span, from, to, out);
            });
        },
        1, [](Run) {});
}

// Writes the scores of a tile of the arms from its sums in all lanes. `space` has room for its places.
void join_tile(const Scoring<double>& scoring, const ArmTile& tile, const std::int64_t* ids, const double* sums,
               double* space) {
    const std::int64_t places = tile.places.count;
    kernels().join_columns(sums, places, space);
    tile.pick(space, ids, scoring.scores + tile.begin);
    if (!scoring.squared()) return;
    kernels().join_columns(sums + places * lanes, places, space);
    tile.pick(space, ids, scoring.squares + tile.begin);
    negate(scoring.squares + tile.begin, tile.count);
}

// In how many parts the lanes of a tile are added up. Threads that share the lanes of a tile read whole columns, and longer
// pieces of memory than if they shared its arms: short ones take up to a half longer. Where there are many tiles, each
// thread has tiles of its own, and needs room for the sums of one.
std::int64_t lane_parts(std::int64_t tiles, std::int64_t threads) {
    constexpr std::int64_t many = 64;
    if (tiles >= std::min(4 * threads, many)) return 1;
    std::int64_t parts = 1;
    while (parts < std::min(threads, lanes)) parts *= 2;
    return parts;
}

}  // namespace

// As few groups of arms as have room side by side, but one half of a group for each thread.
void score_few(Team& team, const Matrix& matrix, const Scoring<double>& scoring, Arms arms) {
    constexpr std::int64_t half = lanes / 2;
    const auto size = static_cast<std::size_t>(arms.count * lanes);
    std::vector<double> sums(size), square_sums(scoring.squared() ? size : 0);
    const std::int64_t columns = scoring.runs.columns();
    // Columns that a run has for each half.
    const std::int64_t mean = columns / std::max<std::int64_t>(2 * scoring.runs.count, 1);
    const std::int64_t fewest = (arms.count + scattered_rows - 1) / scattered_rows;
    const std::int64_t groups = std::max(fewest, std::min((team.threads() + 1) / 2, arms.count));
    team.run(2 * groups, columns * arms.count / (2 * groups), [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t at = begin; at < end; ++at) {
            const std::int64_t first = arms.count * (at / 2) / groups, next = arms.count * (at / 2 + 1) / groups;
            const Arms its{arms.ids + first, next - first};
            const auto add = [&](std::int64_t from, std::int64_t to) {
                scoring.each(sums.data(), square_sums.data(), [&](Metric metric, const double* query, double* out) {
                    kernels().add_half(matrix, metric, query, its, at % 2, from, to, out + first * lanes);
                });
            };
            const std::int64_t begun = std::clamp<std::int64_t>(lines_on_their_way / its.count, 1, mean + 1);
            const auto fetch = [&](Run run) {
                for (std::int64_t j = run.begin; j < std::min(run.begin + 2 * begun, run.end); ++j) {
                    if (j % lanes / half != at % 2) continue;
                    for (std::int64_t arm = 0; arm < its.count; ++arm) fetch_ahead(address_of(matrix, its.ids[arm], j));
                }
            };
            in_runs(team, scoring.runs, 4 * its.count * scoring.readers(), add, its.count * begun, fetch);
        }
    });
    kernels().join_rows(sums.data(), arms.count, scoring.scores);
    if (!scoring.squared()) return;
    kernels().join_rows(square_sums.data(), arms.count, scoring.squares);
    negate(scoring.squares, arms.count);
}

void score_by_column(Team& team, const Matrix& matrix, const Scoring<double>& scoring, Arms arms) {
    if (arms.count == 0) return;
    const std::vector<ArmTile> tiles = ArmTile::all(matrix, arms);
    const auto n_tiles = static_cast<std::int64_t>(tiles.size());
    const std::int64_t parts = lane_parts(n_tiles, team.threads()), tables = scoring.squared() ? 2 : 1;
    const std::int64_t room = ArmTile::most_places(arms) * (tables * lanes + 1);
    const Workspaces spaces(parts > 1 ? n_tiles : team.threads(), room);
    const auto join = [&](std::int64_t at, double* space) {
        const ArmTile& tile = tiles[static_cast<std::size_t>(at)];
        join_tile(scoring, tile, arms.ids, space + tile.places.count, space);
    };
    team.run(n_tiles * parts, arms.count * scoring.runs.columns() / (n_tiles * parts),
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 for (std::int64_t item = begin; item < end; ++item) {
                     const std::int64_t at = item / parts, part = item % parts;
                     const Places& places = tiles[static_cast<std::size_t>(at)].places;
                     double* const space = spaces.of(parts > 1 ? at : thread);
                     const LaneSpan span{lanes * part / parts, lanes * (part + 1) / parts};
                     if (!add_tile(team, matrix, scoring, places, span, space + places.count)) return;
                     if (parts == 1) join(at, space);
                 }
             });
    if (parts == 1) return;
    for (std::int64_t at = 0; at < n_tiles; ++at) join(at, spaces.of(at));
}

}  // namespace sureshot
