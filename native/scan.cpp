#include <cmath>

#include "kernels.hpp"
#include "lanes.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Written as a comparison that the compiler turns into a vector maximum. A NaN is not kept, but it
// makes the squared norm NaN, which the caller checks.
inline void keep_larger(double& largest, double value) { largest = value > largest ? value : largest; }
inline void keep_smaller(double& smallest, double value) { smallest = value < smallest ? value : smallest; }

inline Register larger_of(const Register& values, const Register& others) {
#if defined(SURESHOT_EXTENSIONS)
    return values > others ? values : others;
#else
    Register found = others;
    for (std::int64_t lane = 0; lane < register_lanes; ++lane) {
        if (values[lane] > others[lane]) found[lane] = values[lane];
    }
    return found;
#endif
}

// Adds whole numbers of lanes. The rows side by side: each sum, and each largest value, waits for the one before.
template <class Value, std::int64_t n_rows>
inline void scan_registers(const Value* const (&own)[n_rows], const double* middle, const double* unit,
                           std::int64_t count, double (&largest)[n_rows][lanes], double (&sums)[n_rows][lanes]) {
    for (std::int64_t part = 0; part < lanes; part += register_lanes) {
        Register farthest[n_rows] = {}, sum[n_rows];
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) load(sums[r] + part, sum[r]);
        for (std::int64_t at = part; at < count; at += lanes) {
            Register from, by;
            load(middle + at, from);
            load(unit + at, by);
            SURESHOT_UNROLLED
            for (std::int64_t r = 0; r < n_rows; ++r) {
                Register value;
                load(own[r] + at, value);
                farthest[r] = larger_of(magnitude_of(value - from) * by, farthest[r]);
                sum[r] += value * value;
            }
        }
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) {
            copy_bytes(largest[r] + part, &farthest[r], sizeof(farthest[r]));
            copy_bytes(sums[r] + part, &sum[r], sizeof(sum[r]));
        }
    }
}

// Adds `count` columns to what is known of some rows.
template <class Value, std::int64_t n_rows>
SURESHOT_ALONE void scan_values(const Value* const* rows, const double* middle, const double* unit,
                                std::int64_t count, double* reach, double* lanes_of_rows) {
    const Value* own[n_rows];
    double largest[n_rows][lanes] = {};
    double sums[n_rows][lanes];
    for (std::int64_t r = 0; r < n_rows; ++r) {
        own[r] = rows[r];
        for (std::int64_t lane = 0; lane < lanes; ++lane) sums[r][lane] = lanes_of_rows[r * lanes + lane];
    }
    std::int64_t whole;
    if constexpr (sizeof(Value) > 2) {
        whole = count - count % lanes;
        scan_registers<Value, n_rows>(own, middle, unit, whole, largest, sums);
    } else {
        whole = count - count % columns_together;
        for (std::int64_t start = 0; start < whole; start += columns_together) {
            for (std::int64_t r = 0; r < n_rows; ++r) {
                const Few<Value> values{own[r] + start};
                SURESHOT_ONE_VECTOR
                for (std::int64_t lane = 0; lane < lanes; ++lane) {
                    double farthest = largest[r][lane], sum = sums[r][lane];
                    SURESHOT_UNROLLED
                    for (std::int64_t c = 0; c < columns_together; c += lanes) {
                        const std::int64_t j = start + c + lane;
                        const double value = values[c + lane];
                        keep_larger(farthest, std::fabs(value - middle[j]) * unit[j]);
                        sum += value * value;
                    }
                    largest[r][lane] = farthest;
                    sums[r][lane] = sum;
                }
            }
        }
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        for (std::int64_t j = whole; j < count; ++j) {
            const double value = number(own[r][j]);
            keep_larger(largest[r][0], std::fabs(value - middle[j]) * unit[j]);
            sums[r][j % lanes] += value * value;
        }
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            keep_larger(reach[r], largest[r][lane]);
            lanes_of_rows[r * lanes + lane] = sums[r][lane];
        }
    }
}

template <std::int64_t n_rows>
void scan_some_rows(const Matrix& matrix, const double* middle, const double* unit, const std::int64_t* ids,
                    std::int64_t begin, std::int64_t end, double* reach, double* sums) {
    with_row_values<n_rows>(matrix, ids, begin, end,
                            [&]<class Value>(const Value* const* rows, std::int64_t j, std::int64_t count) {
                                scan_values<Value, n_rows>(rows, middle + j, unit + j, count, reach, sums);
                            });
}

// Adds some columns of one lane to what is known of some arms.
template <class Value, std::int64_t n_columns>
SURESHOT_ALONE void scan_lane(const Value* const* columns, const double* middle, const double* unit,
                              std::int64_t count, double* __restrict reach, double* __restrict sums) {
    const Value* own[n_columns];
    double middles[n_columns], units[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        own[c] = columns[c];
        middles[c] = middle[c * lanes];
        units[c] = unit[c * lanes];
    }
    for (std::int64_t at = 0; at < count; ++at) {
        double sum = sums[at];
        double largest = reach[at];
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            const double value = number(own[c][at]);
            keep_larger(largest, std::fabs(value - middles[c]) * units[c]);
            sum += value * value;
        }
        sums[at] = sum;
        reach[at] = largest;
    }
}

// Whether the arms come in runs of neighbours in memory, as a sample has them.
bool in_runs(const Matrix& matrix, Arms arms) {
    if (matrix.row_stride != 1 || arms.count % run != 0) return false;
    for (std::int64_t at = 0; at < arms.count; ++at) {
        if (arms.ids[at] != arms.ids[at - at % run] + at % run) return false;
    }
    return true;
}

// The limits of one column, kept in as many lanes as a run is long.
void limit_column(const Matrix& matrix, Arms arms, bool runs, std::int64_t j, double* low, double* high) {
    constexpr std::int64_t most = 512;
    double lows[run], highs[run];
    for (std::int64_t lane = 0; lane < run; ++lane) lows[lane] = infinite, highs[lane] = -infinite;
    for (std::int64_t start = 0; start < arms.count; start += most) {
        double numbers[most];
        const std::int64_t count = smaller(most, arms.count - start), whole = count - count % run;
        const char* column = address_of(matrix, 0, j);
        if (runs) {
            gather_runs(matrix.element, column, arms.ids + start, count, numbers);
        } else {
            gather(matrix.element, column, arms.ids + start, matrix.row_stride, count, numbers);
        }
        for (std::int64_t at = 0; at < whole; at += run) {
            SURESHOT_ONE_VECTOR
            for (std::int64_t lane = 0; lane < run; ++lane) {
                keep_smaller(lows[lane], numbers[at + lane]);
                keep_larger(highs[lane], numbers[at + lane]);
            }
        }
        for (std::int64_t at = whole; at < count; ++at) {
            keep_smaller(lows[0], numbers[at]);
            keep_larger(highs[0], numbers[at]);
        }
    }
    for (std::int64_t lane = 1; lane < run; ++lane) {
        keep_smaller(lows[0], lows[lane]);
        keep_larger(highs[0], highs[lane]);
    }
    *low = lows[0];
    *high = highs[0];
}

template <class Value, std::int64_t n_rows>
SURESHOT_ALONE void limit_values(const Value* const* rows, std::int64_t count, double* __restrict low,
                                 double* __restrict high) {
    const Value* own[n_rows];
    for (std::int64_t r = 0; r < n_rows; ++r) own[r] = rows[r];
    for (std::int64_t j = 0; j < count; ++j) {
        double smallest = low[j], largest = high[j];
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const double value = number(own[r][j]);
            keep_smaller(smallest, value);
            keep_larger(largest, value);
        }
        low[j] = smallest;
        high[j] = largest;
    }
}

template <std::int64_t n_rows>
void limit_some_rows(const Matrix& matrix, const std::int64_t* ids, std::int64_t begin, std::int64_t end,
                     double* low, double* high) {
    with_row_values<n_rows>(matrix, ids, begin, end,
                            [&]<class Value>(const Value* const* rows, std::int64_t j, std::int64_t count) {
                                limit_values<Value, n_rows>(rows, count, low + j, high + j);
                            });
}

}  // namespace

void scan_rows(const Matrix& matrix, const double* middle, const double* unit, Arms arms, std::int64_t begin,
               std::int64_t end, double* reach, double* sums) noexcept {
    std::int64_t arm = 0;
    for (; arm + rows_together <= arms.count; arm += rows_together) {
        scan_some_rows<rows_together>(matrix, middle, unit, arms.ids + arm, begin, end, reach + arm,
                                      sums + arm * lanes);
    }
    for (; arm < arms.count; ++arm) {
        scan_some_rows<1>(matrix, middle, unit, arms.ids + arm, begin, end, reach + arm, sums + arm * lanes);
    }
}

void scan_columns(const Matrix& matrix, const double* middle, const double* unit, const Places& places,
                  std::int64_t begin, std::int64_t end, double* reach, double* sums) noexcept {
    lane_by_lane(matrix, places, {0, lanes}, begin, end,
                 [&]<class Value, std::int64_t n_columns>(const Value* const* columns, std::int64_t j,
                                                          std::int64_t arm, std::int64_t count) {
                     scan_lane<Value, n_columns>(columns, middle + j, unit + j, count, reach + arm,
                                                 sums + j % lanes * places.count + arm);
                 });
}

void column_limits(const Matrix& matrix, Arms arms, std::int64_t begin, std::int64_t end, double* low,
                   double* high) noexcept {
    if (!coordinate_major(matrix)) {
        for (std::int64_t j = begin; j < end; ++j) low[j] = infinite, high[j] = -infinite;
        std::int64_t arm = 0;
        for (; arm + run <= arms.count; arm += run) {
            limit_some_rows<run>(matrix, arms.ids + arm, begin, end, low, high);
        }
        for (; arm < arms.count; ++arm) limit_some_rows<1>(matrix, arms.ids + arm, begin, end, low, high);
        return;
    }
    const bool runs = in_runs(matrix, arms);
    const std::int64_t size = size_of(matrix.element);
    for (std::int64_t j = begin; j < end; ++j) {
        // Two columns ahead: the runs are too short for the processor to prefetch them.
        const char* ahead = address_of(matrix, 0, j + 2);
        for (std::int64_t at = 0; at < arms.count && j + 2 < end; at += runs ? run : 1) {
            fetch_ahead(ahead + arms.ids[at] * matrix.row_stride * size);
        }
        limit_column(matrix, arms, runs, j, low + j, high + j);
    }
}

}  // namespace sureshot::SURESHOT_ISA
