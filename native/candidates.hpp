// Which arms can be among the k best, by scores that are known within errors.
#pragma once

#include <cstdint>
#include <vector>

namespace sureshot {

// Scores as they are ranked: `scale` times the sum, or times its absolute value. A sum is off by at most
// fixed + of_root * sqrt(magnitude) + of_score * |sum|; without magnitudes the sums themselves are taken.
struct Uncertain {
    const double* sums;
    const double* magnitudes;  // may be null
    const double* scale;
    std::int64_t count;
    bool absolute;
    double fixed, of_root, of_score;
};

// The entries whose upper end is at least the k-th largest of all lower ends and of `best`, and all those with an
// end that is not finite, in ascending order.
std::vector<std::int64_t> candidates(const Uncertain& scores, const double* best, std::int64_t n_best,
                                     std::int64_t k);

}  // namespace sureshot
