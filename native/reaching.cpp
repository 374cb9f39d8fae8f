#include <limits>

#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Scores between two questions whether any of them reaches its threshold.
constexpr std::int64_t together = 16;

// One arm against some queries: adds to `found` those that it may be among the best of.
template <class Score, bool both_signs>
SURESHOT_ALONE std::int64_t reached_by(const Score* scores, const Score of_threshold, const Score of_unit,
                                       const Score of_length, const QueryCuts<Score> cuts, std::int64_t count,
                                       std::int32_t arm, std::int64_t found, Reaching& out) {
    const auto reaches = [&](std::int64_t q) {
        const Score score = both_signs ? (scores[q] < 0 ? -scores[q] : scores[q]) : scores[q];
        const Score of_errors = cuts.unit[q] * of_unit + cuts.length[q] * of_length - cuts.slack[q];
        return !(score < cuts.threshold[q] * of_threshold + of_errors);
    };
    // Without a branch, which would be predicted wrongly as often as a score reaches its threshold. There is room:
    // no more were found than scores lie before this one.
    const auto take = [&](std::int64_t q, std::int32_t taken) {
        out.arm[found] = arm;
        out.query[found] = static_cast<std::int32_t>(q);
        found += taken;
    };
    std::int64_t start = 0;
    for (; start + together <= count; start += together) {
        std::int32_t any = 0, each[together];
        SURESHOT_ONE_VECTOR
        for (std::int64_t at = 0; at < together; ++at) {
            each[at] = reaches(start + at) ? 1 : 0;
            any |= each[at];
        }
        if (any == 0) continue;
        for (std::int64_t at = 0; at < together; ++at) take(start + at, each[at]);
    }
    for (; start < count; ++start) take(start, reaches(start) ? 1 : 0);
    return found;
}

template <class Score>
std::int64_t reaching_of(const ScoreTable<Score>& table, const ArmCuts<Score>& arms, const QueryCuts<Score>& queries,
                         Reaching& out) {
    std::int64_t found = 0;
    for (std::int64_t arm = 0; arm < table.arms; ++arm) {
        const Score* scores = table.scores + arm * table.stride;
        const auto run = [&]<bool both_signs>() {
            return reached_by<Score, both_signs>(scores, arms.of_threshold[arm], arms.of_unit[arm],
                                                 arms.of_length[arm], queries, table.queries,
                                                 static_cast<std::int32_t>(arm), found, out);
        };
        found = table.both_signs ? run.template operator()<true>() : run.template operator()<false>();
    }
    return found;
}

// Compares one arm with the largest so far, and takes its place where it has more. Numbers of arms are scores, too: so
// they lie side by side with these.
template <class Score, bool both_signs>
SURESHOT_ALONE void compare(const Score* __restrict scores, const Score scale, const Score offset,
                            const Score* __restrict units, std::int64_t count, const Score arm,
                            Score* __restrict largest, Score* __restrict its_arm) {
    for (std::int64_t q = 0; q < count; ++q) {
        const Score score = both_signs ? (scores[q] < 0 ? -scores[q] : scores[q]) : scores[q];
        const Score value = scale * score + offset * units[q];
        const bool larger = value > largest[q];
        largest[q] = larger ? value : largest[q];
        its_arm[q] = larger ? arm : its_arm[q];
    }
}

template <class Score>
void largest_of(const ScoreTable<Score>& table, const Score* scales, const Score* offsets, const Score* units,
                std::int32_t* arms) {
    Score largest[queries_reaching], its_arm[queries_reaching] = {};
    for (std::int64_t q = 0; q < table.queries; ++q) largest[q] = -std::numeric_limits<Score>::infinity();
    for (std::int64_t arm = 0; arm < table.arms; ++arm) {
        const auto run = [&]<bool both_signs>() {
            compare<Score, both_signs>(table.scores + arm * table.stride, scales[arm], offsets[arm], units,
                                       table.queries, static_cast<Score>(arm), largest, its_arm);
        };
        table.both_signs ? run.template operator()<true>() : run.template operator()<false>();
    }
    for (std::int64_t q = 0; q < table.queries; ++q) arms[q] = static_cast<std::int32_t>(its_arm[q]);
}

// Halvings of the range of the scores, after which hardly another score lies within it.
constexpr int times_halved = 0xc;

// The same for as many queries as lie side by side. Counts are scores, too.
template <class Score, bool both_signs>
SURESHOT_ALONE void rank(const ScoreTable<Score>& table, const Score* scales, const Score* offsets, const Score* units,
                         std::int64_t k, Score* ranked) {
    Score values[few_arms * together], low[together] = {}, high[together] = {};
    for (std::int64_t arm = 0; arm < table.arms; ++arm) {
        const Score* const scores = table.scores + arm * table.stride;
        Score* const own = values + arm * together;
        for (std::int64_t q = 0; q < table.queries; ++q) {
            const Score score = both_signs ? (scores[q] < 0 ? -scores[q] : scores[q]) : scores[q];
            own[q] = scales[arm] * score + offsets[arm] * units[q];
        }
        for (std::int64_t q = table.queries; q < together; ++q) own[q] = 0;
    }
    for (std::int64_t q = 0; q < together; ++q) low[q] = high[q] = values[q];
    for (const Score* own = values; own < values + table.arms * together; own += together) {
        SURESHOT_ONE_VECTOR
        for (std::int64_t q = 0; q < together; ++q) {
            low[q] = own[q] < low[q] ? own[q] : low[q];
            high[q] = own[q] > high[q] ? own[q] : high[q];
        }
    }
    const Score enough = static_cast<Score>(k);
    for (int time = 0; time < times_halved; ++time) {
        Score middle[together], count[together] = {};
        for (std::int64_t q = 0; q < together; ++q) middle[q] = low[q] + (high[q] - low[q]) / 2;
        for (const Score* own = values; own < values + table.arms * together; own += together) {
            SURESHOT_ONE_VECTOR
            for (std::int64_t q = 0; q < together; ++q) count[q] += own[q] >= middle[q] ? Score{1} : Score{0};
        }
        for (std::int64_t q = 0; q < together; ++q) {
            low[q] = count[q] >= enough ? middle[q] : low[q];
            high[q] = count[q] >= enough ? high[q] : middle[q];
        }
    }
    for (std::int64_t q = 0; q < table.queries; ++q) ranked[q] = low[q];
}

template <class Score>
void rank_all(const ScoreTable<Score>& table, const Score* scales, const Score* offsets, const Score* units,
              std::int64_t k, Score* ranked) {
    for (std::int64_t query = 0; query < table.queries; query += together) {
        const ScoreTable<Score> few{table.scores + query, table.stride, table.arms,
                                    smaller(together, table.queries - query), table.both_signs};
        table.both_signs ? rank<Score, true>(few, scales, offsets, units + query, k, ranked + query)
                         : rank<Score, false>(few, scales, offsets, units + query, k, ranked + query);
    }
}

}  // namespace

std::int64_t reaching_floats(const ScoreTable<float>& table, const ArmCuts<float>& arms,
                             const QueryCuts<float>& queries, Reaching& out) noexcept {
    return reaching_of(table, arms, queries, out);
}

std::int64_t reaching_doubles(const ScoreTable<double>& table, const ArmCuts<double>& arms,
                              const QueryCuts<double>& queries, Reaching& out) noexcept {
    return reaching_of(table, arms, queries, out);
}

void largest_floats(const ScoreTable<float>& table, const float* scales, const float* offsets, const float* units,
                    std::int32_t* arms) noexcept {
    largest_of(table, scales, offsets, units, arms);
}

void largest_doubles(const ScoreTable<double>& table, const double* scales, const double* offsets,
                     const double* units, std::int32_t* arms) noexcept {
    largest_of(table, scales, offsets, units, arms);
}

void ranked_floats(const ScoreTable<float>& table, const float* scales, const float* offsets, const float* units,
                   std::int64_t k, float* ranked) noexcept {
    rank_all(table, scales, offsets, units, k, ranked);
}

void ranked_doubles(const ScoreTable<double>& table, const double* scales, const double* offsets,
                    const double* units, std::int64_t k, double* ranked) noexcept {
    rank_all(table, scales, offsets, units, k, ranked);
}

}  // namespace sureshot::SURESHOT_ISA
