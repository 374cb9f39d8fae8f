#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

template <bool absolute, bool squared, bool scaled>
SURESHOT_ALONE void fill(const Uncertain& scores, Ends* out) {
    const double unit = scores.unit, fixed = scores.fixed, of_root = scores.of_root, of_score = scores.of_score;
    const double* const sums = scores.sums;
    const double* const squares = scores.squares;
    const double* const scale = scores.scale;
    double* const lower = out->lower;
    double* const upper = out->upper;
    for (std::int64_t at = 0; at < scores.count; ++at) {
        const double sum = unit * sums[at], size = magnitude_of(sum);
        const double magnitude = squared ? squares[at] : size;
        const double error = fixed + of_root * square_root(magnitude) + of_score * size;
        const double ranked = absolute ? size : sum, factor = scaled ? scale[at] : 1.0;
        lower[at] = factor * (ranked - error);
        upper[at] = factor * (ranked + error);
    }
}

}  // namespace

std::int64_t ends(const Uncertain& scores, double threshold, Ends& out) noexcept {
    const auto with_scale = [&]<bool absolute, bool squared>() {
        scores.scale == nullptr ? fill<absolute, squared, false>(scores, &out)
                                : fill<absolute, squared, true>(scores, &out);
    };
    const auto with_squares = [&]<bool absolute>() {
        scores.squares == nullptr ? with_scale.template operator()<absolute, false>()
                                  : with_scale.template operator()<absolute, true>();
    };
    scores.absolute ? with_squares.template operator()<true>() : with_squares.template operator()<false>();
    if (scores.norms != nullptr) {
        for (std::int64_t at = 0; at < scores.count; ++at) {
            const double norm = scores.norms[at], leeway = norm * scores.leeway, square = scores.squares[at];
            const double least = norm - leeway, most = norm + leeway;
            const bool right = square >= least * least && square <= most * most;
            out.lower[at] = right ? out.lower[at] : -infinite;
        }
    }
    std::int64_t reaching = 0;
    for (std::int64_t at = 0; at < scores.count; ++at) {
        // Minus infinity for the lower end if an end is no finite number: nothing is known of that score.
        const double both = out.lower[at] - out.upper[at];
        const bool known = both - both == 0.0;
        out.lower[at] = known ? out.lower[at] : -infinite;
        out.upper[at] = known ? out.upper[at] : infinite;
        reaching += !(out.upper[at] < threshold);
    }
    return reaching;
}

}  // namespace sureshot::SURESHOT_ISA
