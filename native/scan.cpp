#include <cmath>

#include "elements.hpp"
#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Rows that a sample has side by side.
constexpr std::int64_t run = 8;
constexpr double infinite = __builtin_inf();

// Written as a comparison that the compiler turns into a vector maximum. A NaN is not kept, but it
// makes the squared norm NaN, which the caller sees.
inline void keep_larger(double& largest, double value) { largest = value > largest ? value : largest; }
inline void keep_smaller(double& smallest, double value) { smallest = value < smallest ? value : smallest; }

template <class Value, std::int64_t n_rows, class Step>
void scan_together(const Matrix& matrix, Step step, const double* middle, const double* unit,
                   const std::int64_t* ids, double* reach, double* squares) {
    const Value* rows[n_rows];
    double largest[n_rows][lanes] = {};
    double sums[n_rows][lanes] = {};
    for (std::int64_t r = 0; r < n_rows; ++r) {
        rows[r] = static_cast<const Value*>(matrix.data) + ids[r] * matrix.row_stride;
    }
    const std::int64_t whole = matrix.n_columns - matrix.n_columns % columns_together;
    for (std::int64_t start = 0; start < whole; start += columns_together) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const Piece<Value, Step> piece{rows[r] + start * step, step};
            SURESHOT_ONE_VECTOR
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                double farthest = largest[r][lane], sum = sums[r][lane];
                SURESHOT_UNROLLED
                for (std::int64_t c = 0; c < columns_together; c += lanes) {
                    const std::int64_t j = start + c + lane;
                    const double value = piece[c + lane];
                    keep_larger(farthest, std::fabs(value - middle[j]) * unit[j]);
                    sum += value * value;
                }
                largest[r][lane] = farthest;
                sums[r][lane] = sum;
            }
        }
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        for (std::int64_t j = whole; j < matrix.n_columns; ++j) {
            const double value = number(rows[r][j * step]);
            keep_larger(largest[r][0], std::fabs(value - middle[j]) * unit[j]);
            sums[r][j % lanes] += value * value;
        }
        reach[r] = 0.0;
        for (const double value : largest[r]) keep_larger(reach[r], value);
        squares[r] = sum_of_lanes(sums[r]);
    }
}

template <class Value, class Step>
void scan_by_row(const Matrix& matrix, Step step, const double* middle, const double* unit,
                 Arms arms, double* reach, double* squares) {
    std::int64_t arm = 0;
    for (; arm + rows_together <= arms.count; arm += rows_together) {
        scan_together<Value, rows_together>(matrix, step, middle, unit, arms.ids + arm, reach + arm,
                                            squares + arm);
    }
    for (; arm < arms.count; ++arm) {
        scan_together<Value, 1>(matrix, step, middle, unit, arms.ids + arm, reach + arm, squares + arm);
    }
}

template <class Value, std::int64_t n_columns, class Where>
void scan_columns(const Matrix& matrix, const double* middle, const double* unit, std::int64_t j,
                  Where where, std::int64_t count, double* __restrict reach, double* __restrict sums) {
    const Value* columns[n_columns];
    double middles[n_columns], units[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        columns[c] = column_of<Value>(matrix, j + c * lanes);
        middles[c] = middle[j + c * lanes];
        units[c] = unit[j + c * lanes];
    }
    for (std::int64_t at = 0; at < count; ++at) {
        double sum = sums[at];
        double largest = reach[at];
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            const double value = number(columns[c][where(at)]);
            keep_larger(largest, std::fabs(value - middles[c]) * units[c]);
            sum += value * value;
        }
        sums[at] = sum;
        reach[at] = largest;
    }
}

template <class Value, class Where>
void scan_by_column(const Matrix& matrix, const double* middle, const double* unit, Where where,
                    std::int64_t count, double* reach, double* squares) {
    double sums[lanes][arms_per_tile];
    for (auto& lane : sums) {
        for (std::int64_t at = 0; at < count; ++at) lane[at] = 0.0;
    }
    for (std::int64_t at = 0; at < count; ++at) reach[at] = 0.0;
    lane_by_lane(matrix.n_columns, [&]<std::int64_t n_columns>(std::int64_t j, std::int64_t lane) {
        fetch_next<Value>(matrix, j, where, count);
        scan_columns<Value, n_columns>(matrix, middle, unit, j, where, count, reach, sums[lane]);
    });
    add_lanes(sums, count, squares);
}

// Whether the arms come in runs of neighbours in memory.
bool in_runs(const Matrix& matrix, Arms arms) {
    if (matrix.row_stride != 1 || arms.count % run != 0) return false;
    for (std::int64_t at = 0; at < arms.count; ++at) {
        if (arms.ids[at] != arms.ids[at - at % run] + at % run) return false;
    }
    return true;
}

// The limits of one column, kept in as many lanes as a run is long.
template <class Value, std::int64_t n_runs>
void limit_runs(const Value* column, const std::int64_t* ids, double* low, double* high) {
    const Value* runs[n_runs];
    for (std::int64_t r = 0; r < n_runs; ++r) runs[r] = column + ids[r * run];
    SURESHOT_ONE_VECTOR
    for (std::int64_t lane = 0; lane < run; ++lane) {
        double smallest = low[lane], largest = high[lane];
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_runs; ++r) {
            const double value = number(runs[r][lane]);
            keep_smaller(smallest, value);
            keep_larger(largest, value);
        }
        low[lane] = smallest;
        high[lane] = largest;
    }
}

template <class Value>
void limit_column(const Matrix& matrix, Arms arms, bool runs, std::int64_t j, double* low,
                  double* high) {
    constexpr std::int64_t runs_together = 8;
    const Value* column = column_of<Value>(matrix, j);
    double lows[run], highs[run];
    for (std::int64_t lane = 0; lane < run; ++lane) lows[lane] = infinite, highs[lane] = -infinite;
    std::int64_t at = 0;
    for (; runs && at + run * runs_together <= arms.count; at += run * runs_together) {
        limit_runs<Value, runs_together>(column, arms.ids + at, lows, highs);
    }
    for (; at < arms.count; ++at) {
        const double value = number(column[arms.ids[at] * matrix.row_stride]);
        keep_smaller(lows[0], value);
        keep_larger(highs[0], value);
    }
    for (std::int64_t lane = 1; lane < run; ++lane) {
        keep_smaller(lows[0], lows[lane]);
        keep_larger(highs[0], highs[lane]);
    }
    *low = lows[0];
    *high = highs[0];
}

template <class Value, std::int64_t n_rows, class Step>
void limit_together(const Matrix& matrix, Step step, const std::int64_t* ids, std::int64_t begin,
                    std::int64_t end, double* __restrict low, double* __restrict high) {
    const Value* rows[n_rows];
    for (std::int64_t r = 0; r < n_rows; ++r) {
        rows[r] = static_cast<const Value*>(matrix.data) + ids[r] * matrix.row_stride;
    }
    for (std::int64_t j = begin; j < end; ++j) {
        double smallest = low[j], largest = high[j];
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const double value = number(rows[r][j * step]);
            keep_smaller(smallest, value);
            keep_larger(largest, value);
        }
        low[j] = smallest;
        high[j] = largest;
    }
}

template <class Value, class Step>
void limit_by_row(const Matrix& matrix, Step step, Arms arms, std::int64_t begin, std::int64_t end,
                  double* low, double* high) {
    for (std::int64_t j = begin; j < end; ++j) low[j] = infinite, high[j] = -infinite;
    std::int64_t arm = 0;
    for (; arm + run <= arms.count; arm += run) {
        limit_together<Value, run>(matrix, step, arms.ids + arm, begin, end, low, high);
    }
    for (; arm < arms.count; ++arm) {
        limit_together<Value, 1>(matrix, step, arms.ids + arm, begin, end, low, high);
    }
}

}  // namespace

void scan_rows(const Matrix& matrix, const double* middle, const double* unit, Arms arms, double* reach,
               double* squares) noexcept {
    with_values(matrix.element, [&]<class Value>() {
        if (!coordinate_major(matrix)) {
            return with_step(matrix, [&](auto step) {
                scan_by_row<Value>(matrix, step, middle, unit, arms, reach, squares);
            });
        }
        for (std::int64_t arm = 0; arm < arms.count; arm += arms_per_tile) {
            const Arms tile{arms.ids + arm, smaller(arms_per_tile, arms.count - arm)};
            with_places(matrix, tile, [&](auto where) {
                scan_by_column<Value>(matrix, middle, unit, where, tile.count, reach + arm,
                                      squares + arm);
            });
        }
    });
}

void column_limits(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, double* low,
                   double* high) noexcept {
    with_values(matrix.element, [&]<class Value>() {
        if (!coordinate_major(matrix)) {
            return with_step(matrix, [&](auto step) {
                limit_by_row<Value>(matrix, step, arms, begin, end, low, high);
            });
        }
        const bool runs = in_runs(matrix, arms);
        for (std::int64_t j = begin; j < end; ++j) {
            // Two columns ahead: the runs are too short for the processor to see what comes next.
            for (std::int64_t at = 0; at < arms.count && j + 2 < end; at += runs ? run : 1) {
                fetch_ahead(column_of<Value>(matrix, j + 2) + arms.ids[at] * matrix.row_stride);
            }
            limit_column<Value>(matrix, arms, runs, j, low + j, high + j);
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
