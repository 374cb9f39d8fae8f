#include "candidates.hpp"

#include <cmath>

#include "largest.hpp"

namespace sureshot {
namespace {

struct Ends {
    double lower, upper;
};

Ends ends_of(const Uncertain& scores, std::int64_t at) {
    const double sum = scores.sums[at], size = std::fabs(sum);
    const double magnitude = scores.magnitudes == nullptr ? size : scores.magnitudes[at];
    const double error = scores.fixed + scores.of_root * std::sqrt(magnitude) + scores.of_score * size;
    const double ranked = scores.absolute ? size : sum;
    return {scores.scale[at] * (ranked - error), scores.scale[at] * (ranked + error)};
}

}  // namespace

std::vector<std::int64_t> candidates(const Uncertain& scores, const double* best, std::int64_t n_best,
                                     std::int64_t k) {
    Largest lower_ends(k);
    for (std::int64_t at = 0; at < n_best; ++at) lower_ends.show(best[at], -1);
    for (std::int64_t at = 0; at < scores.count; ++at) lower_ends.show(ends_of(scores, at).lower, at);
    const double threshold = lower_ends.last();
    std::vector<std::int64_t> found;
    for (std::int64_t at = 0; at < scores.count; ++at) {
        const Ends ends = ends_of(scores, at);
        const bool known = std::isfinite(ends.lower) && std::isfinite(ends.upper);
        if (!known || ends.upper >= threshold) found.push_back(at);
    }
    return found;
}

}  // namespace sureshot
