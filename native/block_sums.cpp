#include "block_sums.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "threads.hpp"

namespace sureshot {
namespace {

// Arms that one pass over coordinate-major data handles together: their sums stay in cache.
constexpr std::int64_t arms_per_tile = 1024;

bool coordinate_major(const Matrix& matrix) {
    return std::abs(matrix.row_stride) < std::abs(matrix.column_stride);
}

struct Range {
    std::int64_t begin;
    std::int64_t end;
};

Range coordinates_of(const Matrix& matrix, const Blocks& blocks, std::int64_t position) {
    const std::int64_t begin = blocks.ids[position] * blocks.size;
    return {begin, std::min(begin + blocks.size, matrix.n_columns)};
}

template <class Value, class Reward>
double sum_of_block(const Matrix& matrix, const Value* row, const double* query, Range range) {
    double sum = 0.0;
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        sum += Reward::reward(static_cast<double>(row[j * matrix.column_stride]), query[j]);
    }
    return sum;
}

// Adds the rewards of one block, column by column, to the sums of the arms [begin, end).
template <class Value, class Reward>
void sum_columns(const Matrix& matrix, const double* query, Arms arms, Range range,
                 std::int64_t begin, std::int64_t end, double* sums) {
    const Value* data = static_cast<const Value*>(matrix.data);
    std::fill(sums, sums + (end - begin), 0.0);
    for (std::int64_t j = range.begin; j < range.end; ++j) {
        const Value* column = data + j * matrix.column_stride;
        const double query_value = query[j];
        for (std::int64_t arm = begin; arm < end; ++arm) {
            const double value = static_cast<double>(column[arms.ids[arm] * matrix.row_stride]);
            sums[arm - begin] += Reward::reward(value, query_value);
        }
    }
}

template <class Value>
const Value* row_of(const Matrix& matrix, std::int64_t row) {
    return static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
}

bool inside(double sum, double low, double high) { return sum >= low && sum <= high; }

// Keeps the offender that comes first by arm, then by block, so that threads cannot change it.
void keep_first(Offender& first, const Offender& found) {
    const bool earlier = first.arm < 0 || found.arm < first.arm ||
                         (found.arm == first.arm && found.block < first.block);
    if (found.arm >= 0 && earlier) first = found;
}

template <class Value, class Reward>
Offender totals_by_row(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                       const double* low, const double* high, std::int64_t begin, std::int64_t end,
                       double* totals) {
    Offender first;
    for (std::int64_t arm = begin; arm < end; ++arm) {
        const Value* row = row_of<Value>(matrix, arms.ids[arm]);
        double total = 0.0;
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            const double sum =
                sum_of_block<Value, Reward>(matrix, row, query, coordinates_of(matrix, blocks, b));
            if (!inside(sum, low[b], high[b])) {
                keep_first(first, {arm, b, sum});
                break;
            }
            total += sum;
        }
        totals[arm] = total;
    }
    return first;
}

template <class Value, class Reward>
Offender totals_by_column(const Matrix& matrix, const double* query, Arms arms, Blocks blocks,
                          const double* low, const double* high, std::int64_t begin,
                          std::int64_t end, double* totals) {
    Offender first;
    std::vector<double> sums(arms_per_tile);
    for (std::int64_t tile = begin; tile < end; tile += arms_per_tile) {
        const std::int64_t tile_end = std::min(tile + arms_per_tile, end);
        std::fill(totals + tile, totals + tile_end, 0.0);
        for (std::int64_t b = 0; b < blocks.count; ++b) {
            sum_columns<Value, Reward>(matrix, query, arms, coordinates_of(matrix, blocks, b), tile,
                                       tile_end, sums.data());
            bool all_inside = true;
            for (std::int64_t arm = tile; arm < tile_end; ++arm) {
                all_inside &= inside(sums[arm - tile], low[b], high[b]);
                totals[arm] += sums[arm - tile];
            }
            if (all_inside) continue;
            for (std::int64_t arm = tile; arm < tile_end; ++arm) {
                const double sum = sums[arm - tile];
                if (!inside(sum, low[b], high[b])) keep_first(first, {arm, b, sum});
            }
        }
    }
    return first;
}

}  // namespace

void block_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, Blocks blocks,
                int threads, double* sums) {
    const std::int64_t cost = blocks.count * blocks.size;
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        parallel_for(arms.count, cost, threads, [&](std::int64_t begin, std::int64_t end) {
            if (coordinate_major(matrix)) {
                for (std::int64_t b = 0; b < blocks.count; ++b) {
                    sum_columns<Value, Reward>(matrix, query, arms,
                                               coordinates_of(matrix, blocks, b), begin, end,
                                               sums + b * arms.count + begin);
                }
                return;
            }
            for (std::int64_t arm = begin; arm < end; ++arm) {
                const Value* row = row_of<Value>(matrix, arms.ids[arm]);
                for (std::int64_t b = 0; b < blocks.count; ++b) {
                    sums[b * arms.count + arm] = sum_of_block<Value, Reward>(
                        matrix, row, query, coordinates_of(matrix, blocks, b));
                }
            }
        });
    });
}

Offender checked_totals(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                        Blocks blocks, const double* low, const double* high, int threads,
                        double* totals) {
    Offender first;
    std::mutex guard;
    const std::int64_t cost = blocks.count * blocks.size;
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        parallel_for(arms.count, cost, threads, [&](std::int64_t begin, std::int64_t end) {
            const Offender found =
                coordinate_major(matrix)
                    ? totals_by_column<Value, Reward>(matrix, query, arms, blocks, low, high, begin,
                                                      end, totals)
                    : totals_by_row<Value, Reward>(matrix, query, arms, blocks, low, high, begin,
                                                   end, totals);
            const std::lock_guard lock(guard);
            keep_first(first, found);
        });
    });
    return first;
}

}  // namespace sureshot
