#include <cmath>

#include "kernels.hpp"
#include "rewards.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

constexpr std::int64_t lanes = 16;
constexpr std::int64_t rows_per_tile = 4096;

// Written as a comparison that the compiler turns into a vector maximum. A NaN is not kept, but it
// makes the squared norm NaN, which the caller sees.
inline void keep_larger(double& largest, double value) { largest = value > largest ? value : largest; }

template <class Value>
void scan_contiguous(const Matrix& matrix, const double* middle, const double* unit,
                     std::int64_t row, double* reach, double* squares) {
    const Value* values = static_cast<const Value*>(matrix.data) + row * matrix.row_stride;
    double largest[lanes] = {};
    double sums[lanes] = {};
    const std::int64_t whole = matrix.n_columns - matrix.n_columns % lanes;
    for (std::int64_t j = 0; j < whole; j += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const double value = number(values[j + lane]);
            keep_larger(largest[lane], std::fabs(value - middle[j + lane]) * unit[j + lane]);
            sums[lane] += value * value;
        }
    }
    for (std::int64_t j = whole; j < matrix.n_columns; ++j) {
        const double value = number(values[j]);
        keep_larger(largest[j - whole], std::fabs(value - middle[j]) * unit[j]);
        sums[j - whole] += value * value;
    }
    reach[row] = 0.0;
    for (const double value : largest) keep_larger(reach[row], value);
    squares[row] = 0.0;
    for (const double sum : sums) squares[row] += sum;
}

template <class Value>
void scan_strided(const Matrix& matrix, const double* middle, const double* unit,
                  std::int64_t begin, std::int64_t end, double* reach, double* squares) {
    for (std::int64_t row = begin; row < end; ++row) reach[row] = squares[row] = 0.0;
    for (std::int64_t j = 0; j < matrix.n_columns; ++j) {
        const Value* column = static_cast<const Value*>(matrix.data) + j * matrix.column_stride;
        const double middle_value = middle[j];
        const double unit_value = unit[j];
        // Written twice so that the common case, columns of contiguous values, becomes vectors.
        const auto scan_value = [&](std::int64_t row, double value) {
            keep_larger(reach[row], std::fabs(value - middle_value) * unit_value);
            squares[row] += value * value;
        };
        if (matrix.row_stride == 1) {
            for (std::int64_t row = begin; row < end; ++row) {
                scan_value(row, number(column[row]));
            }
            continue;
        }
        for (std::int64_t row = begin; row < end; ++row) {
            scan_value(row, number(column[row * matrix.row_stride]));
        }
    }
}

}  // namespace

void scan_rows(const Matrix& matrix, const double* middle, const double* unit, std::int64_t begin,
               std::int64_t end, double* reach, double* squares) noexcept {
    with_types(matrix.element, Metric::inner_product, [&]<class Value, class Reward>() {
        if (matrix.column_stride == 1) {
            for (std::int64_t row = begin; row < end; ++row) {
                scan_contiguous<Value>(matrix, middle, unit, row, reach, squares);
            }
            return;
        }
        for (std::int64_t tile = begin; tile < end; tile += rows_per_tile) {
            scan_strided<Value>(matrix, middle, unit, tile, smaller(tile + rows_per_tile, end), reach,
                                squares);
        }
    });
}

}  // namespace sureshot::SURESHOT_ISA
