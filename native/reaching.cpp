#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Scores between two questions whether any of them reaches the threshold.
constexpr std::int64_t together = 32;

template <class Score, bool both_signs>
struct Ends {
    const Score* scores;
    const double *offset, *scale, *fixed, *factor;
    double unit, length;

    double middle(std::int64_t at) const {
        const double sum = static_cast<double>(scores[at]) + unit * offset[at];
        return scale[at] * (both_signs ? __builtin_fabs(sum) : sum);
    }
    double error(std::int64_t at) const { return unit * fixed[at] + length * factor[at]; }
};

template <class Score, bool both_signs>
SURESHOT_ALONE std::int64_t reaching_scores(const Ends<Score, both_signs> ends, std::int64_t count,
                                            double threshold, Reaching& out) {
    std::int64_t found = 0;
    for (std::int64_t start = 0; start < count; start += together) {
        const std::int64_t stop = smaller(start + together, count);
        std::int64_t any = 0;
        for (std::int64_t at = start; at < stop; ++at) {
            any += !(ends.middle(at) + ends.error(at) < threshold);
        }
        if (any == 0) continue;
        for (std::int64_t at = start; at < stop; ++at) {
            const double middle = ends.middle(at), error = ends.error(at);
            if (middle + error < threshold) continue;
            out.at[found] = at;
            out.low[found] = middle - error;
            out.high[found] = middle + error;
            ++found;
        }
    }
    return found;
}

template <class Score>
std::int64_t reaching_of(const QueryScores& query, const ScoreErrors& errors, std::int64_t from,
                         std::int64_t count, double threshold, Reaching& out) {
    const auto* scores = static_cast<const Score*>(query.scores);
    const auto run = [&]<bool both_signs>() {
        const Ends<Score, both_signs> ends{scores,
                                           errors.offset + from,
                                           errors.scale + from,
                                           errors.fixed + from,
                                           errors.factor + from,
                                           query.unit,
                                           query.length};
        return reaching_scores(ends, count, threshold, out);
    };
    return errors.both_signs ? run.template operator()<true>() : run.template operator()<false>();
}

}  // namespace

std::int64_t reaching(const QueryScores& query, const ScoreErrors& errors, std::int64_t from, std::int64_t count,
                      double threshold, Reaching& out) noexcept {
    return query.doubles ? reaching_of<double>(query, errors, from, count, threshold, out)
                         : reaching_of<float>(query, errors, from, count, threshold, out);
}

}  // namespace sureshot::SURESHOT_ISA
