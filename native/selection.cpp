#include "selection.hpp"

#include <algorithm>

#include "isa.hpp"

namespace sureshot {

Selection::Selection(std::int64_t queries, std::int64_t k, std::int64_t most)
    : most_(static_cast<std::size_t>(std::max(most, 2 * k) + reaching_at_once)) {
    // What the jobs of a team fill is allocated before: they must not throw.
    own_.reserve(static_cast<std::size_t>(queries));
    for (std::int64_t query = 0; query < queries; ++query) {
        own_.push_back({Largest(k), {}});
        own_.back().kept.reserve(most_);
    }
}

template <class Score>
void Selection::add(Team& team, const Score* scores, std::int64_t stride, std::int64_t first,
                    const ScoreErrors& errors, const double* units, const double* lengths) {
    team.run(queries(), errors.count, [&](std::int64_t begin, std::int64_t end) noexcept {
        Reaching reaching;
        for (std::int64_t q = begin; q < end && !team.cancelled(); ++q) {
            Query& query = own_[static_cast<std::size_t>(q)];
            for (std::int64_t from = 0; from < errors.count && !query.given_up; from += reaching_at_once) {
                const std::int64_t count = std::min(reaching_at_once, errors.count - from);
                const QueryScores own{scores + q * stride + from, sizeof(Score) == sizeof(double), units[q],
                                      lengths[q]};
                const std::int64_t found =
                    kernels().reaching(own, errors, from, count, query.lows.last(), reaching);
                if (found > 0) take(query, reaching, found, first + from);
            }
        }
    });
}

template void Selection::add(Team&, const float*, std::int64_t, std::int64_t, const ScoreErrors&, const double*,
                             const double*);
template void Selection::add(Team&, const double*, std::int64_t, std::int64_t, const ScoreErrors&, const double*,
                             const double*);

void Selection::take(Query& query, const Reaching& reaching, std::int64_t count, std::int64_t first) noexcept {
    for (std::int64_t at = 0; at < count; ++at) {
        // The threshold may have risen since these were found. A score that is no number stays a candidate.
        if (reaching.high[at] < query.lows.last()) continue;
        query.kept.push_back({first + reaching.at[at], reaching.high[at]});
        query.lows.show(reaching.low[at], 0);
    }
    if (query.kept.size() + reaching_at_once > most_) {
        forget_beaten(query);
        // Half of the room must be free again, or this would be done too often.
        query.given_up = 2 * query.kept.size() > most_;
        if (query.given_up) query.kept.clear();
    }
}

void Selection::forget_beaten(Query& query) const noexcept {
    const double theta = query.lows.last();
    std::erase_if(query.kept, [theta](const Candidate& one) { return one.high < theta; });
}

std::vector<std::int64_t> Selection::candidates(std::int64_t query) const {
    const Query& own = own_[static_cast<std::size_t>(query)];
    const double theta = own.lows.last();
    std::vector<std::int64_t> found;
    for (const Candidate& one : own.kept) {
        if (!(one.high < theta)) found.push_back(one.arm);
    }
    return found;
}

}  // namespace sureshot
