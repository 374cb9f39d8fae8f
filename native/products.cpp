#include "products.hpp"

#include <algorithm>

#include "division.hpp"
#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// If there are no more rows than these, queries are packed by panel.
constexpr std::int64_t rows_by_panel = 1024;

// As they are: columns of so many rows and queries stay in the second-level cache, and those of a few of them in the first.
constexpr std::int64_t rows_in_cache = 128;
constexpr std::int64_t queries_in_cache = 64;
// Queries for which a thread multiplies the same rows, at most, and rows that it takes at least: so often what it reads
// from memory is used.
constexpr std::int64_t queries_of_a_piece = 256;
constexpr std::int64_t fewest_rows = 16;
constexpr std::int64_t line_floats = 16;

// Columns of rows as they are that are added up before they are added to a score.
std::int64_t panel_of(std::int64_t width) { return std::min(product_columns, width); }

}  // namespace

std::int64_t queries_together(std::int64_t count, std::int64_t width, std::int64_t n_rows) {
    const std::int64_t most = packed_together(width);
    return n_rows <= rows_by_panel || most == 0 ? count : std::min(count, most);
}

Operand::Operand(Team& team, const float* queries, std::int64_t count, std::int64_t width, std::int64_t n_rows)
    : queries_(queries), count_(count), width_(width) {
    if (count < fewest_packed || width == 0) return;
    if (n_rows <= rows_by_panel) {
        by_panel_ = true;
    } else if (count <= packed_together(width)) {
        strips_.emplace(team, queries, count, width);
    }
}

std::int64_t Operand::roundings() const {
    if (strips_ || by_panel_) return roundings_of_strips(width_);
    constexpr std::int64_t joined = 4;  // the logarithm of the lanes
    static_assert(most_product_lanes == 1 << joined);
    const std::int64_t panel = panel_of(width_), panels = divided_up(width_, std::max<std::int64_t>(panel, 1));
    return divided_up(panel, fewest_product_lanes) + joined + panels;
}

void Operand::multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    if (arms.count == 0 || count_ == 0) return;
    if (strips_) {
        strips_->multiply(team, matrix, arms, scores, squares);
    } else if (by_panel_) {
        const auto multiply = arms.count < count_ ? multiply_packed_rows : multiply_by_panel;
        multiply(team, queries_, count_, matrix, arms, scores, squares);
    } else {
        multiply_as_they_are(team, matrix, arms, scores, squares);
    }
}

void Operand::multiply_as_they_are(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    const std::int64_t width = width_, n_queries = count_;
    const float* const queries = queries_;
    const std::int64_t groups = divided_up(n_queries, queries_of_a_piece);
    const std::int64_t pieces = divided_up(2 * team.threads(), groups);  // for all threads to have something to do
    const std::int64_t rows =
        std::clamp(rounded_up(divided_up(arms.count, pieces), 4), fewest_rows, rows_in_cache);
    const bool as_is = matrix.element == Element::float32 && matrix.column_stride == 1;
    const std::int64_t panel = panel_of(width);
    const std::int64_t stride = panel + line_floats;  // no power of two: rows do not share lines of the caches
    // For each thread: squares that are not wanted, and rows that are widened, two floats to a double.
    const Workspaces spaces(team, rows_in_cache + (as_is ? 0 : divided_up(rows_in_cache * stride, 2)));
    team.run(
        divided_up(arms.count, rows) * groups, rows * std::min(n_queries, queries_of_a_piece) * width,
        [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
            double* const ignored = spaces.of(thread);
            float* const numbers = reinterpret_cast<float*>(ignored + rows_in_cache);
            for (std::int64_t piece = begin; piece < end; ++piece) {
                const std::int64_t row = piece / groups * rows, query = piece % groups * queries_of_a_piece;
                const Arms few{arms.ids + row, std::min(rows, arms.count - row)};
                const std::int64_t stop = std::min(query + queries_of_a_piece, n_queries);
                const float* own[rows_in_cache];
                if (query == 0) std::fill_n(squares + row, few.count, 0.0);
                std::fill_n(ignored, few.count, 0.0);
                for (std::int64_t from = 0; from < width; from += panel) {
                    const std::int64_t columns = std::min(panel, width - from);
                    for (std::int64_t r = 0; r < few.count; ++r) {
                        if (as_is) {
                            own[r] = static_cast<const float*>(matrix.data) + few.ids[r] * matrix.row_stride + from;
                        } else {
                            own[r] = numbers + r * stride;
                        }
                    }
                    if (!as_is) kernels().widen_rows(matrix, few, from, from + columns, numbers, stride);
                    for (std::int64_t some = query; some < stop; some += queries_in_cache) {
                        if (team.cancelled()) return;
                        const std::int64_t count = std::min(queries_in_cache, stop - some);
                        const float* next = nullptr;
                        if (some + 2 * count <= stop) {
                            next = queries + (some + count) * width + from;
                        } else if (from + 2 * columns <= width && query + count <= stop) {
                            next = queries + query * width + from + columns;
                        }
                        kernels().multiply({own, few.count, queries + some * width + from, next, count, width, columns,
                                            from > 0, scores + row * n_queries + some, n_queries,
                                            some == 0 ? squares + row : ignored});
                    }
                }
            }
        });
}

}  // namespace sureshot
