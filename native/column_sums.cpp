#include "column_sums.hpp"

#include <algorithm>
#include <vector>

#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// Scattered arms whose values in the next columns are fetched while others are added up: they stay in the caches.
constexpr std::int64_t scattered_arms = 128;
// Arms, at least, that a thread takes of scattered ones.
constexpr std::int64_t scattered_arms_of_thread = 16;

struct Chosen {
    std::vector<std::int64_t> columns;
    std::vector<double> values;  // of the query

    Chosen(const QueryValues& query, std::int64_t n_columns, Blocks blocks) {
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            const std::int64_t first = blocks.ids[b] * blocks.size - blocks.shift;
            const std::int64_t end = std::min(first + blocks.size, n_columns);
            for (std::int64_t j = std::max<std::int64_t>(first, 0); j < end; ++j) columns.push_back(j);
        }
        values.resize(columns.size());
        for (std::size_t at = 0; at < columns.size(); ++at) query.copy(columns[at], columns[at] + 1, &values[at]);
    }

    std::int64_t count() const { return static_cast<std::int64_t>(columns.size()); }
};

}  // namespace

void column_sums(Team& team, const Matrix& matrix, Metric metric, const QueryValues& query, Arms arms, Blocks blocks,
                 double* sums) {
    const Chosen chosen(query, matrix.n_columns, blocks);
    const Workspaces spaces(team, ArmTile::most_places(arms));
    const bool scattered = far_apart(matrix, arms);
    team.run(
        arms.count, chosen.count(),
        [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
            double* const found = spaces.of(thread);
            for (std::int64_t arm = begin; arm < end;) {
                const std::int64_t stop = scattered ? std::min(arm + scattered_arms, end) : end;
                const ArmTile tile(matrix, {arms.ids, stop}, arm);
                std::fill(found, found + tile.places.count, 0.0);
                const bool done = in_parts(
                    team, chosen.count(), tile.places.count, [&](std::int64_t from, std::int64_t to) {
                        kernels().add_chosen_columns(matrix, metric, chosen.values.data() + from, tile.places,
                                                     chosen.columns.data() + from, to - from, found);
                    });
                if (!done) return;
                tile.pick(found, arms.ids, sums + arm);
                arm += tile.count;
            }
        },
        scattered ? scattered_arms_of_thread : arms_per_thread);
}

}  // namespace sureshot
