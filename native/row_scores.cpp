#include <type_traits>

#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"
#include "widen.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Values are fetched into the first-level cache well before they are read: the processor does so, too, but later, and not
// beyond the end of a row.
constexpr std::int64_t bytes_ahead_in_rows = 2048;
constexpr std::int64_t bytes_of_short_rows = 4096;

// Adds the rewards of some values. Products of two numbers of float32, and of shorter types, are numbers of float64.
template <class Value, class Query, class Reward>
inline Lanes added(Lanes sums, Lanes values, Lanes asked) {
    if constexpr (std::is_same_v<Reward, InnerProduct> && std::is_same_v<Query, float> &&
                  !std::is_same_v<Value, double>) {
        return fused(values, asked, sums);
    } else {
        return sums + Reward::reward(values, asked);
    }
}

// Adds `count` columns to the lanes of some rows, while values of four bytes or more are fetched that lie so many bytes ahead.
template <class Value, class Query, class Reward, std::int64_t n_rows>
SURESHOT_ALONE void add_values(const Value* const* rows, const Query* query, std::int64_t count, std::int64_t ahead,
                               double* lanes_of_rows) {
    const Value* own[n_rows];
    Lanes sums[n_rows];
    for (std::int64_t r = 0; r < n_rows; ++r) {
        own[r] = rows[r];
        sums[r] = lanes_of(lanes_of_rows + r * lanes);
    }
    const auto add = [&](std::int64_t start) {
        const Lanes asked = lanes_of(query + start);
        if constexpr (sizeof(Value) >= 4) {
            if (start * sizeof(Value) % 64 == 0) {
                SURESHOT_UNROLLED
                for (std::int64_t r = 0; r < n_rows; ++r) {
                    fetch_nearest(reinterpret_cast<const char*>(own[r] + start) + ahead);
                }
            }
        }
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) {
            sums[r] = added<Value, Query, Reward>(sums[r], lanes_of(own[r] + start), asked);
        }
    };
    std::int64_t start = 0;
    for (; start + columns_together <= count; start += columns_together) {
        if constexpr (sizeof(Value) <= 2) {
            for (std::int64_t r = 0; r < n_rows; ++r) {
                const Few<Value> values{own[r] + start};
                SURESHOT_UNROLLED
                for (std::int64_t j = 0; j < columns_together; j += lanes) {
                    sums[r] = added<Value, Query, Reward>(sums[r], lanes_of(values.numbers + j),
                                                          lanes_of(query + start + j));
                }
            }
        } else {
            for (std::int64_t j = 0; j < columns_together; j += lanes) add(start + j);
        }
    }
    // Short rows consist of what follows to a large part: one column of each lane at a time, and then the last ones.
    for (; start + lanes <= count; start += lanes) add(start);
    for (std::int64_t r = 0; r < n_rows; ++r) {
        copy_bytes(lanes_of_rows + r * lanes, &sums[r], sizeof(sums[r]));
        for (std::int64_t j = start; j < count; ++j) {
            lanes_of_rows[r * lanes + j - start] += Reward::reward(number(own[r][j]), number(query[j]));
        }
    }
}

template <class Reward, std::int64_t n_rows, class Query>
void add_some_rows(const Matrix& matrix, const Query* query, const std::int64_t* ids, std::int64_t ahead,
                   std::int64_t begin, std::int64_t end, double* sums) {
    with_row_values<n_rows>(matrix, ids, begin, end,
                            [&]<class Value>(const Value* const* rows, std::int64_t j, std::int64_t count) {
                                add_values<Value, Query, Reward, n_rows>(rows, query + j, count, ahead, sums);
                            });
}

// Adds some columns, of one lane, say, to the sums of some arms; the values of the query lie `step` apart.
template <class Value, class Reward, std::int64_t n_columns>
SURESHOT_ALONE void add_lane(const Value* const* columns, const double* query, std::int64_t step, std::int64_t count,
                             double* __restrict sums) {
    const Value* own[n_columns];
    double query_values[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        own[c] = columns[c];
        query_values[c] = query[c * step];
    }
    for (std::int64_t at = 0; at < count; ++at) {
        double sum = sums[at];
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            sum += Reward::reward(number(own[c][at]), query_values[c]);
        }
        sums[at] = sum;
    }
}

// How far ahead values are fetched: where short rows are read side by side, those of the next rows.
std::int64_t bytes_ahead(const Matrix& matrix, Arms arms, std::int64_t arm, std::int64_t some, std::int64_t n_columns) {
    const std::int64_t size = size_of(matrix.element);
    const bool next_rows = some > 1 && n_columns * size <= bytes_of_short_rows && arm + some < arms.count;
    if (!next_rows) return bytes_ahead_in_rows;
    return (arms.ids[arm + some] - arms.ids[arm]) * matrix.row_stride * size;
}

template <class Query>
void add_rows_for(const Matrix& matrix, Metric metric, const Query* query, Arms arms, std::int64_t side_by_side,
                  std::int64_t begin, std::int64_t end, double* sums) {
    with_reward(metric, [&]<class Reward>() {
        // About as many each time: the sums of one or two wait for each other.
        for (std::int64_t arm = 0, some; arm < arms.count; arm += some) {
            const std::int64_t left = arms.count - arm, times = (left + side_by_side - 1) / side_by_side;
            some = (left + times - 1) / times;
            const auto add = [&]<std::int64_t n_rows>() {
                const std::int64_t ahead = bytes_ahead(matrix, arms, arm, some, end - begin);
                add_some_rows<Reward, n_rows>(matrix, query, arms.ids + arm, ahead, begin, end, sums + arm * lanes);
            };
            switch (some) {
                case 5: add.template operator()<5>(); break;
                case 4: add.template operator()<4>(); break;
                case 3: add.template operator()<3>(); break;
                case 2: add.template operator()<2>(); break;
                default: add.template operator()<1>();
            }
        }
    });
}

}  // namespace

void add_rows(const Matrix& matrix, Metric metric, const double* query, Arms arms, std::int64_t side_by_side,
              std::int64_t begin, std::int64_t end, double* sums) noexcept {
    add_rows_for(matrix, metric, query, arms, side_by_side, begin, end, sums);
}

void add_rows_of_floats(const Matrix& matrix, Metric metric, const float* query, Arms arms,
                        std::int64_t side_by_side, std::int64_t begin, std::int64_t end, double* sums) noexcept {
    add_rows_for(matrix, metric, query, arms, side_by_side, begin, end, sums);
}

void add_columns(const Matrix& matrix, Metric metric, const double* query, const Places& places, LaneSpan span,
                 std::int64_t begin, std::int64_t end, double* sums) noexcept {
    with_reward(metric, [&]<class Reward>() {
        lane_by_lane(matrix, places, span, begin, end,
                     [&]<class Value, std::int64_t n_columns>(const Value* const* columns, std::int64_t j,
                                                              std::int64_t arm, std::int64_t count) {
                         add_lane<Value, Reward, n_columns>(columns, query + j, lanes, count,
                                                            sums + j % lanes * places.count + arm);
                     });
    });
}

void add_chosen_columns(const Matrix& matrix, Metric metric, const double* values, const Places& places,
                        const std::int64_t* chosen, std::int64_t n_chosen, double* sums) noexcept {
    with_reward(metric, [&]<class Reward>() {
        each_chosen_column(matrix, places, chosen, n_chosen,
                           [&]<class Value, std::int64_t n_columns>(const Value* const* columns, std::int64_t at,
                                                                    std::int64_t arm, std::int64_t count) {
                               add_lane<Value, Reward, n_columns>(columns, values + at, 1, count, sums + arm);
                           });
    });
}

void join_rows(const double* sums, std::int64_t n_arms, double* scores) noexcept {
    for (std::int64_t arm = 0; arm < n_arms; ++arm) scores[arm] = sum_of_lanes(sums + arm * lanes);
}

void join_columns(const double* sums, std::int64_t n_arms, double* scores) noexcept {
    add_lanes(sums, n_arms, n_arms, scores);
}

}  // namespace sureshot::SURESHOT_ISA
