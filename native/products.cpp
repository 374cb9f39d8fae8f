#include "products.hpp"

#include <algorithm>
#include <new>

#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// Fewer queries than these are not packed: most of a strip would be zeros.
constexpr std::int64_t fewest_packed = 12;

// Packed: columns of so many rows stay in the second-level cache, beside those of some strips. A piece of the work is
// as many rows, and as many strips as leave enough pieces for all threads; a whole number of kernel calls of all levels.
constexpr std::int64_t rows_of_strips = 96;
constexpr std::int64_t queries_side_by_side = 64;
constexpr std::int64_t pieces_each = 4;

// As they are: columns of so many rows and queries stay in the second-level cache, and those of a few of them in the first.
constexpr std::int64_t rows_in_cache = 128;
constexpr std::int64_t queries_in_cache = 64;
// Queries for which a thread multiplies the same rows, at most, and rows that it takes at least: so often what it reads
// from memory is used.
constexpr std::int64_t queries_of_a_piece = 256;
constexpr std::int64_t fewest_rows = 16;

constexpr std::align_val_t cache_line{64};

constexpr std::int64_t divided_up(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }
constexpr std::int64_t rounded_up(std::int64_t count, std::int64_t size) { return divided_up(count, size) * size; }

}  // namespace

void Operand::Free::operator()(float* numbers) const { ::operator delete[](numbers, cache_line); }

Operand::Operand(Team& team, const float* queries, std::int64_t count, std::int64_t width)
    : queries_(queries), count_(count), width_(width) {
    const std::int64_t strips = divided_up(count, strip_queries), numbers = strips * strip_queries * width;
    if (count < fewest_packed || width == 0 || numbers > most_packed) return;
    strips_.reset(new (cache_line) float[static_cast<std::size_t>(numbers)]);
    team.run(divided_up(width, strip_columns) * strips, strip_columns * strip_queries,
             [&](std::int64_t begin, std::int64_t end) noexcept {
                 for (std::int64_t at = begin; at < end; ++at) {
                     const std::int64_t from = at / strips * strip_columns, query = at % strips * strip_queries;
                     const std::int64_t columns = std::min(strip_columns, width - from);
                     kernels().pack_strip(queries + query * width + from, std::min(strip_queries, count - query),
                                          width, columns,
                                          strips_.get() + from * strips * strip_queries + query * columns);
                 }
             });
}

std::int64_t Operand::roundings() const {
    const std::int64_t panel = strips_ == nullptr ? product_columns : strip_columns;
    const std::int64_t columns = std::min(panel, width_), panels = divided_up(width_, panel);
    if (strips_ != nullptr) return columns + panels;
    constexpr std::int64_t joined = 4;  // the logarithm of the lanes
    static_assert(most_product_lanes == 1 << joined);
    return divided_up(columns, fewest_product_lanes) + joined + panels;
}

void Operand::multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    if (arms.count == 0 || count_ == 0) return;
    if (strips_ != nullptr) {
        multiply_packed(team, matrix, arms, scores, squares);
    } else {
        multiply_as_they_are(team, matrix, arms, scores, squares);
    }
}

void Operand::multiply_packed(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    const std::int64_t strips = divided_up(count_, strip_queries);
    const std::int64_t parts = divided_up(arms.count, rows_of_strips);
    const std::int64_t rows = std::min(rounded_up(divided_up(arms.count, parts), 12), rows_of_strips);
    const std::int64_t groups = std::min(divided_up(pieces_each * team.threads(), divided_up(arms.count, rows)),
                                         divided_up(count_, queries_side_by_side));
    const std::int64_t queries = rounded_up(divided_up(count_, groups), queries_side_by_side);
    const std::int64_t pieces_of_rows = divided_up(count_, queries);
    const char* const values = static_cast<const char*>(matrix.data);
    const std::int64_t size = size_of(matrix.element);
    // For each thread, copies of rows, two floats to a double.
    const Workspaces spaces(team, (rows_of_strips + most_strip_rows) * strip_row_stride / 2);
    team.run(
        divided_up(arms.count, rows) * pieces_of_rows, rows * std::min(count_, queries) * width_,
        [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
            float* const numbers = reinterpret_cast<float*>(spaces.of(thread));
            for (std::int64_t piece = begin; piece < end; ++piece) {
                const std::int64_t row = piece / pieces_of_rows * rows, query = piece % pieces_of_rows * queries;
                const Arms few{arms.ids + row, std::min(rows, arms.count - row)};
                const std::int64_t some = std::min(queries, count_ - query);
                const char* next[rows_of_strips];
                std::fill_n(numbers + few.count * strip_row_stride, most_strip_rows * strip_row_stride, 0.0f);
                if (query == 0) std::fill_n(squares + row, few.count, 0.0);
                for (std::int64_t from = 0; from < width_; from += strip_columns) {
                    if (team.cancelled()) return;
                    const std::int64_t columns = std::min(strip_columns, width_ - from), to = from + columns;
                    kernels().widen_rows(matrix, few, from, to, numbers, strip_row_stride);
                    if (query == 0) kernels().add_squares(numbers, few.count, columns, squares + row);
                    for (std::int64_t r = 0; r < few.count; ++r) next[r] = values + (few.ids[r] * matrix.row_stride + to) * size;
                    const bool fetches = matrix.column_stride == 1 && to < width_;
                    kernels().multiply_strips(
                        {numbers, few.count, strips_.get() + from * strips * strip_queries + query * columns, some,
                         columns, from > 0, scores + row * count_ + query, count_, fetches ? next : nullptr,
                         std::min(strip_columns, width_ - to) * size});
                }
            }
        });
}

void Operand::multiply_as_they_are(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    const std::int64_t width = width_, n_queries = count_;
    const float* const queries = queries_;
    const std::int64_t groups = divided_up(n_queries, queries_of_a_piece);
    const std::int64_t pieces = divided_up(2 * team.threads(), groups);  // for all threads to have something to do
    const std::int64_t rows =
        std::clamp(rounded_up(divided_up(arms.count, pieces), 4), fewest_rows, rows_in_cache);
    const bool as_is = matrix.element == Element::float32 && matrix.column_stride == 1;
    const std::int64_t panel = std::min(product_columns, width);
    // For each thread: squares that are not wanted, and rows that are widened, two floats to a double.
    const Workspaces spaces(team, rows_in_cache + (as_is ? 0 : divided_up(rows_in_cache * panel, 2)));
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
                            own[r] = numbers + r * columns;
                        }
                    }
                    if (!as_is) kernels().widen_rows(matrix, few, from, from + columns, numbers, columns);
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
