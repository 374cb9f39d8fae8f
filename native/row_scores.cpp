#include "kernels.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// A row is summed in this many interleaved partial sums, so that the compiler can use vectors
// without reassociating; the same number everywhere keeps every score independent of the caller.
constexpr std::int64_t lanes = 16;
// Rows read side by side share each query value: without this the query, in double, costs more
// cache bandwidth than the data.
constexpr std::int64_t rows_together = 4;
// Coordinate-major data: enough rows for each piece of a column to be worth fetching, few enough for
// their partial sums to stay in the second-level cache.
constexpr std::int64_t rows_per_tile = 2048;

template <class Value, class Reward, std::int64_t n_rows>
void contiguous_rows(const Matrix& matrix, const double* query, const std::int64_t* ids,
                     double* scores) {
    const Value* rows[n_rows];
    double sums[n_rows][lanes] = {};
    for (std::int64_t r = 0; r < n_rows; ++r) {
        rows[r] = static_cast<const Value*>(matrix.data) + ids[r] * matrix.row_stride;
    }
    const std::int64_t whole = matrix.n_columns - matrix.n_columns % lanes;
    for (std::int64_t j = 0; j < whole; j += lanes) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                sums[r][lane] += Reward::reward(number(rows[r][j + lane]), query[j + lane]);
            }
        }
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        for (std::int64_t j = whole; j < matrix.n_columns; ++j) {
            sums[r][j - whole] += Reward::reward(number(rows[r][j]), query[j]);
        }
        double score = 0.0;
        for (const double sum : sums[r]) score += sum;
        scores[r] = score;
    }
}

// Any strides: a tile of rows, column by column, with the same lanes and so the same rounding.
template <class Value, class Reward>
void strided_rows(const Matrix& matrix, const double* query, const std::int64_t* ids,
                  std::int64_t n_rows, double* scores) {
    double sums[lanes * rows_per_tile] = {};
    const bool neighbours = contiguous(matrix, {ids, n_rows});
    for (std::int64_t j = 0; j < matrix.n_columns; ++j) {
        const Value* column = static_cast<const Value*>(matrix.data) + j * matrix.column_stride;
        const double query_value = query[j];
        double* sum = sums + (j % lanes) * n_rows;
        if (neighbours) {
            const Value* values = column + ids[0];
            for (std::int64_t r = 0; r < n_rows; ++r) {
                sum[r] += Reward::reward(number(values[r]), query_value);
            }
            continue;
        }
        for (std::int64_t r = 0; r < n_rows; ++r) {
            const double value = number(column[ids[r] * matrix.row_stride]);
            sum[r] += Reward::reward(value, query_value);
        }
    }
    for (std::int64_t r = 0; r < n_rows; ++r) {
        double score = 0.0;
        for (std::int64_t lane = 0; lane < lanes; ++lane) score += sums[lane * n_rows + r];
        scores[r] = score;
    }
}

}  // namespace

void row_scores(const Matrix& matrix, Metric metric, const double* query, Arms arms,
                double* scores) noexcept {
    with_types(matrix.element, metric, [&]<class Value, class Reward>() {
        std::int64_t arm = 0;
        if (matrix.column_stride != 1) {
            for (; arm < arms.count; arm += rows_per_tile) {
                strided_rows<Value, Reward>(matrix, query, arms.ids + arm,
                                            smaller(rows_per_tile, arms.count - arm), scores + arm);
            }
            return;
        }
        for (; arm + rows_together <= arms.count; arm += rows_together) {
            contiguous_rows<Value, Reward, rows_together>(matrix, query, arms.ids + arm, scores + arm);
        }
        for (; arm < arms.count; ++arm) {
            contiguous_rows<Value, Reward, 1>(matrix, query, arms.ids + arm, scores + arm);
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
