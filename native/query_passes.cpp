#include "query_passes.hpp"

#include <algorithm>
#include <vector>

#include "isa.hpp"

namespace sureshot {
namespace {

// Blocks that one thread adds up before it takes others. Always the same, so that the total does not depend on the
// threads.
constexpr std::int64_t blocks_at_once = 512;

}  // namespace

double query_sums(Team& team, const QueryTerms& terms, std::int64_t blocks, double* sums) {
    const std::int64_t parts = (blocks + blocks_at_once - 1) / blocks_at_once;
    std::vector<double> totals(static_cast<std::size_t>(parts));
    team.run(parts, blocks_at_once * terms.size, [&](std::int64_t first, std::int64_t last) noexcept {
        for (std::int64_t part = first; part < last; ++part) {
            double sizes[blocks_at_once];
            const std::int64_t begin = part * blocks_at_once, end = std::min(begin + blocks_at_once, blocks);
            kernels().query_sums(terms, begin, end, sums, sizes);
            constexpr std::int64_t side_by_side = 8;  // additions that do not wait for each other
            double total[side_by_side] = {};
            for (std::int64_t at = 0; at < end - begin; ++at) total[at % side_by_side] += sizes[at];
            double all = 0.0;
            for (const double some : total) all += some;
            totals[static_cast<std::size_t>(part)] = all;
        }
    });
    double total = 0.0;
    for (const double some : totals) total += some;
    return total;
}

}  // namespace sureshot
