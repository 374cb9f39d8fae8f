#include <cmath>

#include "kernels.hpp"

namespace sureshot::SURESHOT_ISA {

BlockSums block_sums;

namespace {

// Arms and blocks whose sums are made at a time: they stay in the first-level cache.
constexpr std::int64_t arms_per_tile = 32;
constexpr std::int64_t blocks_per_tile = 32;

// Adds one number to an unevaluated sum of two doubles (Knuth's exact addition).
void add_exactly(double& high, double& low, double term) {
    const double sum = high + term;
    const double part = sum - high;
    low += (high - (sum - part)) + (term - part);
    high = sum;
}

// A maximum would lose a NaN.
void keep_larger(double& largest, double value) {
    if (!(value <= largest)) largest = value;
}

std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

}  // namespace

void totals(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, Totals out) noexcept {
    double sums[blocks_per_tile][arms_per_tile];
    double squares[blocks_per_tile][arms_per_tile];
    for (std::int64_t arm = 0; arm < arms.count; ++arm) {
        out.high[arm] = out.low[arm] = out.largest[arm] = 0.0;
        if (out.squares != nullptr) out.squares[arm] = 0.0;
    }
    for (std::int64_t tile = 0; tile < arms.count; tile += arms_per_tile) {
        const Arms some{arms.ids + tile, smaller(arms_per_tile, arms.count - tile)};
        for (std::int64_t start = 0; start < blocks.count; start += blocks_per_tile) {
            const Blocks few{blocks.ids + start, smaller(blocks_per_tile, blocks.count - start),
                             blocks.size, blocks.shift};
            block_sums(matrix, metric, query, some, few, sums[0], arms_per_tile,
                       out.squares != nullptr ? squares[0] : nullptr);
            for (std::int64_t b = 0; b < few.count; ++b) {
                for (std::int64_t at = 0; at < some.count; ++at) {
                    const std::int64_t arm = tile + at;
                    add_exactly(out.high[arm], out.low[arm], sums[b][at]);
                    const double distance = std::fabs(sums[b][at] - centre[start + b]);
                    keep_larger(out.largest[arm], distance / weight[start + b]);
                    if (out.squares != nullptr) out.squares[arm] += squares[b][at];
                }
            }
        }
    }
}

}  // namespace sureshot::SURESHOT_ISA
