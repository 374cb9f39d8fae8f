#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"
#include "widen.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Cache lines that are on their way: more than elsewhere, since columns that follow each other have fewer pages.
constexpr std::int64_t lines_of_columns = 64;

// One half of the lanes of a few rows of coordinate-major data, of any columns [begin, end): every value comes in a
// cache line of its own. Rows that are read side by side share pages, and lines if they are neighbours. Places without
// a row repeat the first one.
template <class Value, class Reward, std::int64_t n_rows>
SURESHOT_ALONE void add_scattered(const Matrix& matrix, const double* query, Arms arms, std::int64_t first,
                                  std::int64_t begin, std::int64_t end, double* sums) {
    constexpr std::int64_t half = lanes / 2, ahead = lines_of_columns / (half * n_rows) * lanes;
    // The columns of the half come in pieces, of which the first and the last may not be whole.
    std::int64_t start = begin - begin % lanes + first;
    if (start + half <= begin) start += lanes;
    if (start >= end) return;
    const std::int64_t stride = matrix.column_stride;
    const Value* rows[n_rows];
    double own[n_rows][half];
    for (std::int64_t r = 0; r < n_rows; ++r) {
        const std::int64_t arm = r < arms.count ? r : 0;
        rows[r] = static_cast<const Value*>(matrix.data) + arms.ids[arm] * matrix.row_stride;
        for (std::int64_t lane = 0; lane < half; ++lane) own[r][lane] = sums[arm * lanes + first + lane];
    }
    const auto fetch = [&](std::int64_t j) {
        for (std::int64_t r = 0; r < n_rows; ++r) fetch_ahead(rows[r] + j * stride);
    };
    const auto add = [&](std::int64_t j, std::int64_t lane) {
        for (std::int64_t r = 0; r < n_rows; ++r) own[r][lane] += Reward::reward(number(rows[r][j * stride]), query[j]);
    };
    for (std::int64_t piece = start; piece < smaller(start + ahead, end); piece += lanes) {
        for (std::int64_t j = larger(piece, begin); j < smaller(piece + half, end); ++j) fetch(j);
    }
    for (; start < end; start += lanes) {
        if (begin <= start && start + ahead + half <= end) {
            for (std::int64_t lane = 0; lane < half; ++lane) {
                fetch(start + ahead + lane);
                add(start + lane, lane);
            }
        } else {
            for (std::int64_t j = larger(start, begin); j < smaller(start + half, end); ++j) {
                if (j + ahead < end) fetch(j + ahead);
                add(j, j - start);
            }
        }
    }
    for (std::int64_t r = 0; r < arms.count; ++r) {
        for (std::int64_t lane = 0; lane < half; ++lane) sums[r * lanes + first + lane] = own[r][lane];
    }
}

}  // namespace

void add_half(const Matrix& matrix, Metric metric, const double* query, Arms arms, std::int64_t half,
              std::int64_t begin, std::int64_t end, double* sums) noexcept {
    const std::int64_t first = half * (lanes / 2);
    with_reward(metric, [&]<class Reward>() {
        with_values(matrix.element, [&]<class Value>() {
            const auto add = arms.count == 1   ? add_scattered<Value, Reward, 1>
                             : arms.count <= 4 ? add_scattered<Value, Reward, 4>
                                               : add_scattered<Value, Reward, scattered_rows>;
            add(matrix, query, arms, first, begin, end, sums);
        });
    });
}

}  // namespace sureshot::SURESHOT_ISA
