#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

template <class Value, class Reward, std::int64_t n_rows, class Step>
void add_rows(const Matrix& matrix, Step step, const double* query, const std::int64_t* ids,
              double* scores) {
    const Value* rows[n_rows];
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
                double sum = sums[r][lane];
                SURESHOT_UNROLLED
                for (std::int64_t j = 0; j < columns_together; j += lanes) {
                    sum += Reward::reward(piece[j + lane], query[start + j + lane]);
                }
                sums[r][lane] = sum;
            }
        }
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        for (std::int64_t j = whole; j < matrix.n_columns; ++j) {
            sums[r][j % lanes] += Reward::reward(number(rows[r][j * step]), query[j]);
        }
        scores[r] = sum_of_lanes(sums[r]);
    }
}

template <class Value, class Reward, class Step>
void score_rows(const Matrix& matrix, Step step, const double* query, Arms arms, double* scores) {
    std::int64_t arm = 0;
    for (; arm + rows_together <= arms.count; arm += rows_together) {
        add_rows<Value, Reward, rows_together>(matrix, step, query, arms.ids + arm, scores + arm);
    }
    for (; arm < arms.count; ++arm) {
        add_rows<Value, Reward, 1>(matrix, step, query, arms.ids + arm, scores + arm);
    }
}

// Adds the columns j, j + lanes, ... to the sums of their lane.
template <class Value, class Reward, std::int64_t n_columns, class Where>
void add_columns(const Matrix& matrix, const double* query, std::int64_t j, Where where,
                 std::int64_t count, double* __restrict sums) {
    const Value* columns[n_columns];
    double query_values[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        columns[c] = column_of<Value>(matrix, j + c * lanes);
        query_values[c] = query[j + c * lanes];
    }
    for (std::int64_t at = 0; at < count; ++at) {
        double sum = sums[at];
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            sum += Reward::reward(number(columns[c][where(at)]), query_values[c]);
        }
        sums[at] = sum;
    }
}

template <class Value, class Reward, class Where>
void score_columns(const Matrix& matrix, const double* query, Where where, std::int64_t count,
                   double* scores) {
    double sums[lanes][arms_per_tile];
    for (auto& lane : sums) {
        for (std::int64_t at = 0; at < count; ++at) lane[at] = 0.0;
    }
    lane_by_lane(matrix.n_columns, [&]<std::int64_t n_columns>(std::int64_t j, std::int64_t lane) {
        fetch_next<Value>(matrix, j, where, count);
        add_columns<Value, Reward, n_columns>(matrix, query, j, where, count, sums[lane]);
    });
    add_lanes(sums, count, scores);
}

// `count` lanes of a row of coordinate-major data: every value comes in a cache line of its own.
template <class Value, class Reward, std::int64_t count>
void sum_scattered(const Matrix& matrix, const double* query, std::int64_t row, std::int64_t first,
                   double* sums) {
    constexpr std::int64_t ahead = lines_ahead * (lanes / count);
    const std::int64_t stride = matrix.column_stride, n_columns = matrix.n_columns;
    const Value* values = static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
    for (std::int64_t start = first; start < smaller(ahead, n_columns); start += lanes) {
        for (std::int64_t j = start; j < smaller(start + count, n_columns); ++j) {
            fetch_ahead(values + j * stride);
        }
    }
    for (std::int64_t lane = 0; lane < count; ++lane) sums[lane] = 0.0;
    std::int64_t start = first;
    for (; start + ahead + count <= n_columns; start += lanes) {
        for (std::int64_t lane = 0; lane < count; ++lane) {
            const std::int64_t j = start + lane;
            fetch_ahead(values + (j + ahead) * stride);
            sums[lane] += Reward::reward(number(values[j * stride]), query[j]);
        }
    }
    for (; start < n_columns; start += lanes) {
        for (std::int64_t j = start; j < smaller(start + count, n_columns); ++j) {
            sums[j - start] += Reward::reward(number(values[j * stride]), query[j]);
        }
    }
}

// Scores the first of the given arms and returns how many. Ascending arms that lie close together are
// read with all those between them: the cache lines are the same, and vectors are faster than gathers.
template <class Value, class Reward>
std::int64_t score_tile(const Matrix& matrix, const double* query, Arms arms, double* scores) {
    const std::int64_t first = arms.ids[0];
    std::int64_t count = 1;
    while (count < arms.count && arms.ids[count] > arms.ids[count - 1] &&
           arms.ids[count] < first + arms_per_tile) {
        ++count;
    }
    const std::int64_t span = arms.ids[count - 1] - first + 1;
    if (matrix.row_stride == 1 && span <= 4 * count) {
        double all[arms_per_tile];
        score_columns<Value, Reward>(matrix, query, Neighbours{first}, span, all);
        for (std::int64_t at = 0; at < count; ++at) scores[at] = all[arms.ids[at] - first];
        return count;
    }
    count = smaller(arms_per_tile, arms.count);
    score_columns<Value, Reward>(matrix, query, Scattered{arms.ids, matrix.row_stride}, count, scores);
    return count;
}

}  // namespace

void row_scores(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                double* scores) noexcept {
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        if (!coordinate_major(matrix)) {
            return with_step(matrix, [&](auto step) {
                score_rows<Value, Reward>(matrix, step, query, arms, scores);
            });
        }
        for (std::int64_t arm = 0; arm < arms.count;) {
            const Arms rest{arms.ids + arm, arms.count - arm};
            arm += score_tile<Value, Reward>(matrix, query, rest, scores + arm);
        }
    });
}

void half_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, std::int64_t begin,
               std::int64_t end, double* sums) noexcept {
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        constexpr std::int64_t half = lanes / 2;
        for (std::int64_t at = begin; at < end;) {
            const std::int64_t row = arms.ids[at / 2], first = at % 2 * half;
            if (first == 0 && at + 1 < end) {
                sum_scattered<Value, Reward, lanes>(matrix, query, row, 0, sums + at * half);
                at += 2;
            } else {
                sum_scattered<Value, Reward, half>(matrix, query, row, first, sums + at * half);
                at += 1;
            }
        }
    });
}

void join_lanes(const double* sums, std::int64_t n_arms, double* scores) noexcept {
    for (std::int64_t arm = 0; arm < n_arms; ++arm) scores[arm] = sum_of_lanes(sums + arm * lanes);
}

}  // namespace sureshot::SURESHOT_ISA
