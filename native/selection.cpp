#include "selection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "isa.hpp"

namespace sureshot {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Queries of a piece, if there are so many: the scores of an arm are read in whole cache lines.
constexpr std::int64_t fewest_queries = 64;

// To compare a score takes as long as to read so many numbers, and to sort a candidate.
constexpr std::int64_t numbers_of_a_score = 8;
constexpr std::int64_t numbers_of_a_candidate = 16;

// Arms that a first threshold is found from, if there are so many: then few of the others reach it.
constexpr std::int64_t arms_of_first_threshold = 4096;

// What a threshold is lowered by because it is computed in the precision of the scores: more than the rounding of
// a dozen operations, a share of each term, and than what each number can lose to underflow. Nothing is compared
// with a threshold of numbers beyond `largest`.
template <class Score>
struct Precision;
template <>
struct Precision<float> {
    static constexpr double share = 0x1p-19, lost = 0x1p-120, largest = 0x1p60;
};
template <>
struct Precision<double> {
    static constexpr double share = 0x1p-48, lost = 0x1p-1000, largest = 0x1p480;
};

// How many arms a list has when it is next looked through, if it has so many now.
std::size_t full_at(std::size_t count, std::size_t k, std::size_t most) {
    constexpr std::size_t fewest = 64;
    return std::min(std::max({2 * count, 4 * k, fewest}), most);
}

template <class Score>
std::vector<Score> rounded(const std::vector<double>& values) {
    return {values.begin(), values.end()};
}

}  // namespace

Selection::Selection(std::vector<double> units, std::vector<double> lengths, std::int64_t k, std::int64_t most)
    : k_(static_cast<std::size_t>(k)),
      most_(static_cast<std::size_t>(std::max(most, 2 * k) + 1)),
      units_(std::move(units)),
      lengths_(std::move(lengths)),
      // What the jobs of a team fill is allocated before: they must not throw.
      room_(static_cast<std::int64_t>(units_.size() * most_)) {
    own_.reserve(units_.size());
    for (std::size_t query = 0; query < units_.size(); ++query) {
        own_.push_back({room_.data() + query * most_, 0, full_at(0, k_, most_), -infinity});
    }
}

// scale * (score + unit * offset) + unit * fixed + length * factor < threshold, solved for the score.
template <class Score>
Selection::Cuts<Score> Selection::cuts_of(const ScoreErrors& errors) const {
    const auto count = static_cast<std::size_t>(errors.count), queries = own_.size();
    Cuts<Score> cuts{std::vector<Score>(queries),
                     rounded<Score>(units_),
                     rounded<Score>(lengths_),
                     std::vector<Score>(queries),
                     std::vector<Score>(count),
                     std::vector<Score>(count),
                     std::vector<Score>(count),
                     {},
                     {},
                     0.0,
                     0.0,
                     0.0,
                     0.0,
                     0.0};
    for (std::size_t at = 0; at < count; ++at) {
        const double of_threshold = 1.0 / errors.scale[at];
        const double of_unit = -(errors.offset[at] + errors.fixed[at] * of_threshold);
        const double of_length = -errors.factor[at] * of_threshold;
        cuts.most_fixed = std::max(cuts.most_fixed, errors.fixed[at]);
        cuts.most_factor = std::max(cuts.most_factor, errors.factor[at]);
        cuts.most_of_threshold = std::max(cuts.most_of_threshold, of_threshold);
        cuts.most_of_unit = std::max(cuts.most_of_unit, std::fabs(of_unit));
        cuts.most_of_length = std::max(cuts.most_of_length, std::fabs(of_length));
        cuts.of_threshold[at] = static_cast<Score>(of_threshold);
        cuts.of_unit[at] = static_cast<Score>(of_unit);
        cuts.of_length[at] = static_cast<Score>(of_length);
    }
    for (std::size_t query = 0; query < queries; ++query) set_cut(cuts, query);
    return cuts;
}

template <class Score>
void Selection::set_cut(Cuts<Score>& cuts, std::size_t query) const noexcept {
    using Its = Precision<Score>;
    if (own_[query].given_up) {  // no score reaches it
        cuts.threshold[query] = static_cast<Score>(infinity);
        cuts.slack[query] = 0;
        return;
    }
    const double threshold = own_[query].threshold, size = std::fabs(threshold);
    const double unit = units_[query], length = lengths_[query];
    const bool moderate = std::max({size, unit, length, cuts.most_of_threshold, cuts.most_of_unit,
                                    cuts.most_of_length}) < Its::largest;
    const double terms =
        size * cuts.most_of_threshold + unit * cuts.most_of_unit + length * cuts.most_of_length;
    const double lost = 1.0 + size + unit + length + cuts.most_of_threshold + cuts.most_of_unit + cuts.most_of_length;
    cuts.threshold[query] = static_cast<Score>(threshold);
    cuts.slack[query] = static_cast<Score>(moderate ? Its::share * terms + Its::lost * lost : infinity);
}

template <class Score>
void Selection::set_first_thresholds(const Score* scores, std::int64_t stride, const ScoreErrors& errors,
                                     Cuts<Score>& cuts, std::int64_t begin, std::int64_t end) noexcept {
    FindLargest<Score>* find;
    if constexpr (sizeof(Score) == sizeof(float)) {
        find = kernels().largest_floats;
    } else {
        find = kernels().largest_doubles;
    }
    const std::size_t arms = cuts.scale.size(), groups = 2 * k_;
    for (std::size_t group = 0; group < groups; ++group) {
        const std::size_t from = arms * group / groups, to = arms * (group + 1) / groups;
        const auto row = static_cast<std::int64_t>(from);
        for (std::int64_t some = begin; some < end; some += queries_reaching) {
            const std::int64_t count = std::min(queries_reaching, end - some);
            std::int32_t found[queries_reaching];
            find({scores + row * stride + some, stride, static_cast<std::int64_t>(to - from), count, errors.both_signs},
                 cuts.scale.data() + from, cuts.offset.data() + from, cuts.unit.data() + some, found);
            for (std::int64_t at = 0; at < count; ++at) {
                const std::int64_t arm = row + found[at];
                const auto index = static_cast<std::size_t>(some + at);
                own_[index].kept[group] = candidate(index, scores[arm * stride + some + at], arm, errors);
            }
        }
    }
    for (std::int64_t query = begin; query < end; ++query) {
        const auto index = static_cast<std::size_t>(query);
        own_[index].count = groups;
        raise(own_[index]);
        own_[index].count = 0;  // They come again with all arms.
        set_cut(cuts, index);
    }
}

template <class Score>
void Selection::guess_thresholds(const Score* scores, std::int64_t stride, const ScoreErrors& errors,
                                 Cuts<Score>& cuts, std::int64_t begin, std::int64_t end) noexcept {
    FindRanked<Score>* find;
    if constexpr (sizeof(Score) == sizeof(float)) {
        find = kernels().ranked_floats;
    } else {
        find = kernels().ranked_doubles;
    }
    for (std::int64_t some = begin; some < end; some += queries_reaching) {
        const std::int64_t count = std::min(queries_reaching, end - some);
        Score ranked[queries_reaching];
        find({scores + some, stride, errors.count, count, errors.both_signs}, cuts.scale.data(), cuts.offset.data(),
             cuts.unit.data() + some, static_cast<std::int64_t>(k_), ranked);
        for (std::int64_t at = 0; at < count; ++at) {
            const auto index = static_cast<std::size_t>(some + at);
            const double middle = static_cast<double>(ranked[at]);
            const double error = units_[index] * cuts.most_fixed + lengths_[index] * cuts.most_factor;
            const double guess = middle - error - Precision<Score>::share * std::fabs(middle);
            own_[index].threshold = guess > -infinity ? guess : -infinity;
            set_cut(cuts, index);
        }
    }
}

bool Selection::confirmed(const Query& query) const noexcept {
    if (query.given_up || query.threshold == -infinity) return true;
    const auto reaches = [&](const Candidate& one) { return one.low >= query.threshold; };
    return static_cast<std::size_t>(std::count_if(query.kept, query.kept + query.count, reaches)) >= k_;
}

template <class Score>
void Selection::add(Team& team, const Score* scores, std::int64_t stride, std::int64_t first,
                    const ScoreErrors& errors) {
    Cuts<Score> cuts = cuts_of<Score>(errors);
    const ArmCuts<Score> of_arms{cuts.of_threshold.data(), cuts.of_unit.data(), cuts.of_length.data()};
    const QueryCuts<Score> of_queries{cuts.threshold.data(), cuts.unit.data(), cuts.length.data(), cuts.slack.data()};
    FindReaching<Score>* find;
    if constexpr (sizeof(Score) == sizeof(float)) {
        find = kernels().reaching_floats;
    } else {
        find = kernels().reaching_doubles;
    }
    const auto some_reach = [&](std::int64_t arm, std::int64_t n_arms, std::int64_t query, std::int64_t n_queries) {
        const ScoreTable<Score> table{scores + arm * stride + query, stride, n_arms, n_queries, errors.both_signs};
        Reaching reaching;
        const std::int64_t found = find(table, of_arms.from(arm), of_queries.from(query), reaching);
        for (std::int64_t at = 0; at < found; ++at) {
            const std::int64_t its_arm = arm + reaching.arm[at], its_query = query + reaching.query[at];
            const auto index = static_cast<std::size_t>(its_query);
            if (take(own_[index], index, scores[its_arm * stride + its_query], its_arm, first, errors)) {
                set_cut(cuts, index);
            }
        }
    };
    const std::int64_t fewest = 4 * static_cast<std::int64_t>(k_);  // two for each group
    const bool begins = !begun_ && k_ > 0 && errors.count >= fewest;
    if (begins) {
        const std::int64_t arms = std::min(errors.count, std::max(arms_of_first_threshold, fewest));
        cuts.scale.resize(static_cast<std::size_t>(arms));
        cuts.offset.resize(static_cast<std::size_t>(arms));
        for (std::size_t arm = 0; arm < cuts.scale.size(); ++arm) {
            cuts.scale[arm] = static_cast<Score>(errors.scale[arm]);
            cuts.offset[arm] = static_cast<Score>(errors.scale[arm] * errors.offset[arm]);
        }
    }
    begun_ = true;
    const bool few = begins && errors.count <= few_arms;
    team.run(
        queries(), numbers_of_a_score * errors.count,
        [&](std::int64_t begin, std::int64_t end) noexcept {
            if (few) {
                guess_thresholds(scores, stride, errors, cuts, begin, end);
            } else if (begins) {
                set_first_thresholds(scores, stride, errors, cuts, begin, end);
            }
            for (std::int64_t arm = 0; arm < errors.count && !team.cancelled(); arm += arms_reaching) {
                const std::int64_t n_arms = std::min(arms_reaching, errors.count - arm);
                for (std::int64_t query = begin; query < end; query += queries_reaching) {
                    some_reach(arm, n_arms, query, std::min(queries_reaching, end - query));
                }
            }
            for (std::int64_t query = begin; few && query < end; ++query) {
                const auto index = static_cast<std::size_t>(query);
                Query& own = own_[index];
                if (confirmed(own)) continue;
                own.count = 0;
                own.threshold = -infinity;
                set_cut(cuts, index);
                for (std::int64_t arm = 0; arm < errors.count; arm += arms_reaching) {
                    some_reach(arm, std::min(arms_reaching, errors.count - arm), query, 1);
                }
            }
        },
        fewest_queries);
}

template void Selection::add(Team&, const float*, std::int64_t, std::int64_t, const ScoreErrors&);
template void Selection::add(Team&, const double*, std::int64_t, std::int64_t, const ScoreErrors&);

template <class Score>
Selection::Candidate Selection::candidate(std::size_t query, Score score, std::int64_t arm,
                                          const ScoreErrors& errors) const noexcept {
    const double x = static_cast<double>(score) + units_[query] * errors.offset[arm];
    const double middle = errors.scale[arm] * (errors.both_signs ? std::fabs(x) : x);
    const double error = units_[query] * errors.fixed[arm] + lengths_[query] * errors.factor[arm];
    const double low = middle - error;
    return {arm, low > -infinity ? low : -infinity, middle + error};
}

template <class Score>
bool Selection::take(Query& query, std::size_t at, Score score, std::int64_t arm, std::int64_t first,
                     const ScoreErrors& errors) noexcept {
    if (query.given_up) return false;
    Candidate next = candidate(at, score, arm, errors);
    if (next.high < query.threshold) return false;  // A score that is no number stays a candidate.
    next.arm += first;
    query.kept[query.count++] = next;
    if (query.count < query.full) return false;
    drop(query);
    // Half of the room must be free again, or this would be done too often.
    query.given_up = query.full == most_ && 2 * query.count > most_;
    if (query.given_up) query.count = 0;
    query.full = full_at(query.count, k_, most_);
    return true;
}

void Selection::raise(Query& query) const noexcept {
    if (query.count < k_ || k_ == 0) return;
    const auto lower = [](const Candidate& a, const Candidate& b) { return a.low < b.low; };
    Candidate *const end = query.kept + query.count, *last = query.kept + (k_ - 1);
    if (query.count == k_) {
        last = std::min_element(query.kept, end, lower);
    } else {
        std::nth_element(query.kept, last, end, [&](const Candidate& a, const Candidate& b) { return lower(b, a); });
    }
    query.threshold = std::max(query.threshold, last->low);
}

void Selection::drop(Query& query) const noexcept {
    raise(query);
    Candidate* const end = query.kept + query.count;
    const double threshold = query.threshold;
    Candidate* const left =
        std::remove_if(query.kept, end, [threshold](const Candidate& one) { return one.high < threshold; });
    query.count = static_cast<std::size_t>(left - query.kept);
}

Left Selection::candidates(Team& team) {
    team.run(
        queries(), numbers_of_a_candidate * static_cast<std::int64_t>(4 * k_),
        [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t at = begin; at < end; ++at) {
                Query& query = own_[static_cast<std::size_t>(at)];
                drop(query);
                const auto before = [](const Candidate& a, const Candidate& b) { return a.arm < b.arm; };
                if (std::is_sorted(query.kept, query.kept + query.count, before)) continue;
                std::sort(query.kept, query.kept + query.count, before);
            }
        },
        fewest_queries);
    Left left{{}, {0}};
    left.starts.reserve(own_.size() + 1);
    left.arms.reserve(own_.size() * 2 * k_);
    for (const Query& query : own_) {
        for (std::size_t at = 0; at < query.count; ++at) left.arms.push_back(query.kept[at].arm);
        left.starts.push_back(static_cast<std::int64_t>(left.arms.size()));
    }
    return left;
}

}  // namespace sureshot
