#include <cmath>

#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {

BlockSums block_sums;

namespace {

// What has been summed of some arms so far. In local arrays, so that the compiler knows that no two of them
// are the same memory.
struct Account {
    double high[totals_arms] = {};
    double low[totals_arms] = {};
    double largest[totals_arms] = {};

    // Adds one block sum of each arm to an unevaluated sum of two doubles (Knuth's exact addition).
    void add(const double* __restrict sums, std::int64_t count) {
        for (std::int64_t at = 0; at < count; ++at) {
            const double sum = high[at] + sums[at];
            const double part = sum - high[at];
            low[at] += (high[at] - (sum - part)) + (sums[at] - part);
            high[at] = sum;
        }
    }

    // Keeps the largest distance from the centre. A NaN may be replaced by a later distance; the sum is
    // then NaN, which the caller checks.
    void compare(const double* __restrict sums, std::int64_t count, double centre, double weight) {
        for (std::int64_t at = 0; at < count; ++at) {
            const double distance = std::fabs(sums[at] - centre) / weight;
            largest[at] = distance <= largest[at] ? largest[at] : distance;
        }
    }
};

}  // namespace

void totals(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, Totals out, double* space) noexcept {
    double* const sums = space;
    // Many blocks of a row at a time, which lie in one piece of memory; few of coordinate-major data.
    const std::int64_t most = coordinate_major(matrix) ? 32 : 128;
    Account account;
    for (std::int64_t at = 0; at < arms.count; ++at) {
        account.high[at] = out.high[at];
        account.low[at] = out.low[at];
        account.largest[at] = out.largest[at];
    }
    for (std::int64_t start = 0; start < blocks.count; start += most) {
        const Blocks few{blocks.ids + start, smaller(most, blocks.count - start), blocks.size, blocks.shift};
        block_sums(matrix, metric, query + start * blocks.size, arms, few, sums, arms.count, nullptr);
        for (std::int64_t b = 0; b < few.count; ++b) {
            const double* own = sums + b * arms.count;
            account.add(own, arms.count);
            account.compare(own, arms.count, centre[start + b], weight[start + b]);
        }
    }
    for (std::int64_t at = 0; at < arms.count; ++at) {
        out.high[at] = account.high[at];
        out.low[at] = account.low[at];
        out.largest[at] = account.largest[at];
    }
}

}  // namespace sureshot::SURESHOT_ISA
