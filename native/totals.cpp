#include <cmath>

#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {

BlockSums block_sums;

namespace {

// Arms and blocks whose sums are made at a time: they stay in the caches, and are many along the memory,
// which is read piece by piece, and few across it.
struct Tile {
    std::int64_t arms;
    std::int64_t blocks;
};
constexpr Tile by_rows{16, 128};
constexpr Tile by_columns{256, 32};
constexpr std::int64_t most_arms = 256;
constexpr std::int64_t most_sums = 8192;

// What the arms of a tile have so far. In local arrays, so that the compiler knows that no two of them
// are the same memory.
struct Account {
    double high[most_arms] = {};
    double low[most_arms] = {};
    double largest[most_arms] = {};
    double squares[most_arms] = {};

    // Adds one block sum of each arm to an unevaluated sum of two doubles (Knuth's exact addition).
    void add(const double* __restrict sums, std::int64_t count) {
        for (std::int64_t at = 0; at < count; ++at) {
            const double sum = high[at] + sums[at];
            const double part = sum - high[at];
            low[at] += (high[at] - (sum - part)) + (sums[at] - part);
            high[at] = sum;
        }
    }

    // Keeps the largest distance from the centre. A distance that is no number may be forgotten again;
    // the sum is none then, which tells.
    void compare(const double* __restrict sums, std::int64_t count, double centre, double weight) {
        for (std::int64_t at = 0; at < count; ++at) {
            const double distance = std::fabs(sums[at] - centre) / weight;
            largest[at] = distance <= largest[at] ? largest[at] : distance;
        }
    }

    void add_squares(const double* __restrict sums, std::int64_t count) {
        for (std::int64_t at = 0; at < count; ++at) squares[at] += sums[at];
    }
};

}  // namespace

void totals(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, Totals out) noexcept {
    const Tile tile = coordinate_major(matrix) ? by_columns : by_rows;
    const bool with_squares = out.squares != nullptr;
    double sums[most_sums];
    double squares[most_sums];
    for (std::int64_t first = 0; first < arms.count; first += tile.arms) {
        const Arms some{arms.ids + first, smaller(tile.arms, arms.count - first)};
        Account account;
        for (std::int64_t start = 0; start < blocks.count; start += tile.blocks) {
            const Blocks few{blocks.ids + start, smaller(tile.blocks, blocks.count - start),
                             blocks.size, blocks.shift};
            block_sums(matrix, metric, query, some, few, sums, tile.arms,
                       with_squares ? squares : nullptr);
            for (std::int64_t b = 0; b < few.count; ++b) {
                const double* own = sums + b * tile.arms;
                account.add(own, some.count);
                account.compare(own, some.count, centre[start + b], weight[start + b]);
                if (with_squares) account.add_squares(squares + b * tile.arms, some.count);
            }
        }
        for (std::int64_t at = 0; at < some.count; ++at) {
            out.high[first + at] = account.high[at];
            out.low[first + at] = account.low[at];
            out.largest[first + at] = account.largest[at];
            if (with_squares) out.squares[first + at] = account.squares[at];
        }
    }
}

}  // namespace sureshot::SURESHOT_ISA
