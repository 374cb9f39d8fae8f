#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// The squares from one place on, where there are any.
template <class Reward>
double* from(double* squares, std::int64_t at) {
    return Reward::squared ? squares + at : nullptr;
}

// A reward that is squared makes all of these fill `squares`, too: sums of the squared values, made as the
// sums of the rewards are. Otherwise it is null.
template <class Value, class Reward, std::int64_t n_rows, class Step>
void add_rows(const Matrix& matrix, Step step, const double* query, const std::int64_t* ids,
              double* scores, double* squares) {
    const Value* rows[n_rows];
    double sums[n_rows][lanes] = {};
    double square_sums[n_rows][lanes] = {};
    for (std::int64_t r = 0; r < n_rows; ++r) {
        rows[r] = static_cast<const Value*>(matrix.data) + ids[r] * matrix.row_stride;
    }
    const std::int64_t whole = matrix.n_columns - matrix.n_columns % columns_together;
    for (std::int64_t start = 0; start < whole; start += columns_together) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const Piece<Value, Step> piece{rows[r] + start * step, step};
            SURESHOT_ONE_VECTOR
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                double sum = sums[r][lane], square = square_sums[r][lane];
                SURESHOT_UNROLLED
                for (std::int64_t j = 0; j < columns_together; j += lanes) {
                    const double value = piece[j + lane];
                    sum += Reward::reward(value, query[start + j + lane]);
                    if constexpr (Reward::squared) square += value * value;
                }
                sums[r][lane] = sum;
                if constexpr (Reward::squared) square_sums[r][lane] = square;
            }
        }
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        for (std::int64_t j = whole; j < matrix.n_columns; ++j) {
            const double value = number(rows[r][j * step]);
            sums[r][j % lanes] += Reward::reward(value, query[j]);
            if constexpr (Reward::squared) square_sums[r][j % lanes] += value * value;
        }
        scores[r] = sum_of_lanes(sums[r]);
        if constexpr (Reward::squared) squares[r] = sum_of_lanes(square_sums[r]);
    }
}

template <class Value, class Reward, class Step>
void score_rows(const Matrix& matrix, Step step, const double* query, Arms arms, double* scores,
                double* squares) {
    std::int64_t arm = 0;
    for (; arm + rows_together <= arms.count; arm += rows_together) {
        add_rows<Value, Reward, rows_together>(matrix, step, query, arms.ids + arm, scores + arm,
                                               from<Reward>(squares, arm));
    }
    for (; arm < arms.count; ++arm) {
        add_rows<Value, Reward, 1>(matrix, step, query, arms.ids + arm, scores + arm,
                                   from<Reward>(squares, arm));
    }
}

// Adds the columns j, j + lanes, ... to the sums of their lane.
template <class Value, class Reward, std::int64_t n_columns, class Where>
void add_columns(const Matrix& matrix, const double* query, std::int64_t j, Where where,
                 std::int64_t count, double* __restrict sums, double* __restrict square_sums) {
    const Value* columns[n_columns];
    double query_values[n_columns];
    for (std::int64_t c = 0; c < n_columns; ++c) {
        columns[c] = column_of<Value>(matrix, j + c * lanes);
        query_values[c] = query[j + c * lanes];
    }
    for (std::int64_t at = 0; at < count; ++at) {
        double sum = sums[at];
        double square = Reward::squared ? square_sums[at] : 0.0;
        SURESHOT_UNROLLED
        for (std::int64_t c = 0; c < n_columns; ++c) {
            const double value = number(columns[c][where(at)]);
            sum += Reward::reward(value, query_values[c]);
            if constexpr (Reward::squared) square += value * value;
        }
        sums[at] = sum;
        if constexpr (Reward::squared) square_sums[at] = square;
    }
}

// Two tables of sums take the room of one: half as many arms at a time.
template <class Reward>
constexpr std::int64_t tile = Reward::squared ? arms_per_tile / 2 : arms_per_tile;

template <class Value, class Reward, class Where>
void score_columns(const Matrix& matrix, const double* query, Where where, std::int64_t count,
                   double* scores, double* squares) {
    double sums[Reward::squared ? 2 * lanes : lanes][tile<Reward>];
    for (auto& lane : sums) {
        for (std::int64_t at = 0; at < count; ++at) lane[at] = 0.0;
    }
    lane_by_lane(matrix.n_columns, [&]<std::int64_t n_columns>(std::int64_t j, std::int64_t lane) {
        fetch_next<Value>(matrix, j, where, count);
        double* square_sums = Reward::squared ? sums[lanes + lane] : nullptr;
        add_columns<Value, Reward, n_columns>(matrix, query, j, where, count, sums[lane], square_sums);
    });
    add_lanes(sums, count, scores);
    if constexpr (Reward::squared) add_lanes(sums + lanes, count, squares);
}

// `count` lanes of a row of coordinate-major data: every value comes in a cache line of its own.
template <class Value, class Reward, std::int64_t count>
void sum_scattered(const Matrix& matrix, const double* query, std::int64_t row, std::int64_t first,
                   double* sums, double* square_sums) {
    constexpr std::int64_t ahead = lines_ahead * (lanes / count);
    const std::int64_t stride = matrix.column_stride, n_columns = matrix.n_columns;
    const Value* values = static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
    for (std::int64_t start = first; start < smaller(ahead, n_columns); start += lanes) {
        for (std::int64_t j = start; j < smaller(start + count, n_columns); ++j) {
            fetch_ahead(values + j * stride);
        }
    }
    const auto add = [&](std::int64_t lane, std::int64_t j) {
        const double value = number(values[j * stride]);
        sums[lane] += Reward::reward(value, query[j]);
        if constexpr (Reward::squared) square_sums[lane] += value * value;
    };
    for (std::int64_t lane = 0; lane < count; ++lane) {
        sums[lane] = 0.0;
        if constexpr (Reward::squared) square_sums[lane] = 0.0;
    }
    std::int64_t start = first;
    for (; start + ahead + count <= n_columns; start += lanes) {
        for (std::int64_t lane = 0; lane < count; ++lane) {
            const std::int64_t j = start + lane;
            fetch_ahead(values + (j + ahead) * stride);
            add(lane, j);
        }
    }
    for (; start < n_columns; start += lanes) {
        for (std::int64_t j = start; j < smaller(start + count, n_columns); ++j) add(j - start, j);
    }
}

// Scores the first of the given arms and returns how many. Ascending arms that lie close together are
// read with all those between them: the cache lines are the same, and vectors are faster than gathers.
template <class Value, class Reward>
std::int64_t score_tile(const Matrix& matrix, const double* query, Arms arms, double* scores,
                        double* squares) {
    const std::int64_t first = arms.ids[0];
    std::int64_t count = 1;
    while (count < arms.count && arms.ids[count] > arms.ids[count - 1] &&
           arms.ids[count] < first + tile<Reward>) {
        ++count;
    }
    const std::int64_t span = arms.ids[count - 1] - first + 1;
    if (matrix.row_stride == 1 && span <= 4 * count) {
        double all[Reward::squared ? 2 : 1][tile<Reward>];
        double* all_squares = Reward::squared ? all[1] : nullptr;
        score_columns<Value, Reward>(matrix, query, Neighbours{first}, span, all[0], all_squares);
        for (std::int64_t at = 0; at < count; ++at) {
            scores[at] = all[0][arms.ids[at] - first];
            if constexpr (Reward::squared) squares[at] = all[1][arms.ids[at] - first];
        }
        return count;
    }
    count = smaller(tile<Reward>, arms.count);
    score_columns<Value, Reward>(matrix, query, Scattered{arms.ids, matrix.row_stride}, count, scores,
                                 squares);
    return count;
}

// Calls f.template operator()<Value, Reward>(), with squares of inner products where they are wanted.
template <class F>
void with_rewards(Element element, Metric metric, bool squared, F&& f) {
    if (!squared) return with_types(element, metric, f);
    with_values(element, [&]<class Value>() { f.template operator()<Value, InnerProductAndSquare>(); });
}

}  // namespace

void row_scores(const Matrix& matrix, Metric metric, const double* query, Arms arms, double* scores,
                double* squares) noexcept {
    with_rewards(matrix.element, metric, squares != nullptr, [&]<class Value, class Reward>() {
        if (!coordinate_major(matrix)) {
            return with_step(matrix, [&](auto step) {
                score_rows<Value, Reward>(matrix, step, query, arms, scores, squares);
            });
        }
        for (std::int64_t arm = 0; arm < arms.count;) {
            const Arms rest{arms.ids + arm, arms.count - arm};
            arm += score_tile<Value, Reward>(matrix, query, rest, scores + arm,
                                             from<Reward>(squares, arm));
        }
    });
}

void half_sums(const Matrix& matrix, Metric metric, const double* query, Arms arms, std::int64_t begin,
               std::int64_t end, double* sums, double* squares) noexcept {
    with_rewards(matrix.element, metric, squares != nullptr, [&]<class Value, class Reward>() {
        constexpr std::int64_t half = lanes / 2;
        for (std::int64_t at = begin; at < end;) {
            const std::int64_t row = arms.ids[at / 2], first = at % 2 * half;
            if (first == 0 && at + 1 < end) {
                sum_scattered<Value, Reward, lanes>(matrix, query, row, 0, sums + at * half,
                                                    from<Reward>(squares, at * half));
                at += 2;
            } else {
                sum_scattered<Value, Reward, half>(matrix, query, row, first, sums + at * half,
                                                   from<Reward>(squares, at * half));
                at += 1;
            }
        }
    });
}

void join_lanes(const double* sums, std::int64_t n_arms, double* scores) noexcept {
    for (std::int64_t arm = 0; arm < n_arms; ++arm) scores[arm] = sum_of_lanes(sums + arm * lanes);
}

}  // namespace sureshot::SURESHOT_ISA
