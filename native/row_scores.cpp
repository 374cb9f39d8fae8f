#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Rows of coordinate-major data that are read one after the other.
constexpr std::int64_t few_arms = 32;

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

// One row of coordinate-major data: every value comes in a cache line of its own.
template <class Value, class Reward>
double score_scattered(const Matrix& matrix, const double* query, std::int64_t row) {
    const Value* values = static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
    const std::int64_t stride = matrix.column_stride, n_columns = matrix.n_columns;
    double sums[lanes] = {};
    for (std::int64_t j = 0; j < smaller(lines_ahead, n_columns); ++j) fetch_ahead(values + j * stride);
    const std::int64_t whole = n_columns - n_columns % lanes;
    for (std::int64_t start = 0; start < whole; start += lanes) {
        const bool more = start + lines_ahead + lanes <= n_columns;
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const std::int64_t j = start + lane;
            if (more) fetch_ahead(values + (j + lines_ahead) * stride);
            sums[lane] += Reward::reward(number(values[j * stride]), query[j]);
        }
    }
    for (std::int64_t j = whole; j < n_columns; ++j) {
        sums[j % lanes] += Reward::reward(number(values[j * stride]), query[j]);
    }
    return sum_of_lanes(sums);
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
    if (arms.count <= few_arms) {
        for (count = 0; count < arms.count; ++count) {
            scores[count] = score_scattered<Value, Reward>(matrix, query, arms.ids[count]);
        }
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

}  // namespace sureshot::SURESHOT_ISA
