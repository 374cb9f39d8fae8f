#include "products.hpp"

#include <algorithm>

#include "isa.hpp"
#include "parts.hpp"

namespace sureshot {
namespace {

// Fewer queries than these are not packed: the copies of the rows would take longer than the sums across lanes, which
// packing saves. Nor are any where no more than so many have room, 64 MB.
constexpr std::int64_t fewest_packed = 64;
constexpr std::int64_t most_packed = std::int64_t{1} << 24;

// Packed: queries whose strips lie together, and rows of which some columns stay in the second-level cache beside those
// strips. A piece of the work is as many rows, in a number that suits the kernels of all levels, and as many queries as
// leave enough pieces for all threads.
constexpr std::int64_t queries_together = 64;
constexpr std::int64_t rows_of_strips = 96;
constexpr std::int64_t rows_of_kernels = 12;
constexpr std::int64_t pieces_each = 4;
constexpr std::size_t line_bytes = 64;
constexpr std::int64_t line_floats = 16;

// As they are: columns of so many rows and queries stay in the second-level cache, and those of a few of them in the first.
constexpr std::int64_t rows_in_cache = 128;
constexpr std::int64_t queries_in_cache = 64;
// Queries for which a thread multiplies the same rows, at most, and rows that it takes at least: so often what it reads
// from memory is used.
constexpr std::int64_t queries_of_a_piece = 256;
constexpr std::int64_t fewest_rows = 16;

constexpr std::int64_t divided_up(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }
constexpr std::int64_t rounded_up(std::int64_t count, std::int64_t size) { return divided_up(count, size) * size; }

}  // namespace

std::int64_t packed_together(std::int64_t width) {
    const std::int64_t most = most_packed / std::max<std::int64_t>(width, 1) / queries_together * queries_together;
    return most < fewest_packed ? 0 : most;
}

Operand::Operand(Team& team, const float* queries, std::int64_t count, std::int64_t width)
    : queries_(queries), count_(count), width_(width), panel_(std::min(product_columns, width)) {
    if (count < fewest_packed || count > packed_together(width) || width == 0) return;
    const std::int64_t panels = divided_up(width, strip_columns);
    panel_ = std::min(rounded_up(divided_up(width, panels), line_floats), width);
    const std::int64_t groups = divided_up(count, queries_together);
    const auto queries_of = [&](std::int64_t at) {
        return std::min(queries_together, count - at % groups * queries_together);
    };
    const auto columns_of = [&](std::int64_t at) { return std::min(panel_, width - at / groups * panel_); };
    for (std::int64_t at = 0; at < divided_up(width, panel_) * groups; ++at) {
        const auto numbers = static_cast<std::size_t>(rounded_up(queries_of(at), strip_queries) * columns_of(at));
        strips_.push_back(static_cast<float*>(room_.allocate(numbers * sizeof(float), line_bytes)));
    }
    team.run(static_cast<std::int64_t>(strips_.size()), panel_ * std::min(count, queries_together),
             [&](std::int64_t begin, std::int64_t end) noexcept {
                 for (std::int64_t at = begin; at < end; ++at) {
                     const std::int64_t columns = columns_of(at), some = queries_of(at);
                     const float* const first = queries + at % groups * queries_together * width + at / groups * panel_;
                     for (std::int64_t query = 0; query < some; query += strip_queries) {
                         kernels().pack_strip(first + query * width, std::min(strip_queries, some - query), width,
                                              columns, strips_[static_cast<std::size_t>(at)] + query * columns);
                     }
                 }
             });
}

std::int64_t Operand::roundings() const {
    const std::int64_t panels = divided_up(width_, std::max<std::int64_t>(panel_, 1));
    if (!strips_.empty()) return panel_ + panels;
    constexpr std::int64_t joined = 4;  // the logarithm of the lanes
    static_assert(most_product_lanes == 1 << joined);
    return divided_up(panel_, fewest_product_lanes) + joined + panels;
}

void Operand::multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    if (arms.count == 0 || count_ == 0) return;
    if (!strips_.empty()) {
        multiply_packed(team, matrix, arms, scores, squares);
    } else {
        multiply_as_they_are(team, matrix, arms, scores, squares);
    }
}

void Operand::multiply_packed(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    const std::int64_t parts = divided_up(arms.count, rows_of_strips);
    const std::int64_t rows = std::min(rounded_up(divided_up(arms.count, parts), rows_of_kernels), rows_of_strips);
    const std::int64_t groups = divided_up(count_, queries_together);
    // Groups of queries that a piece has, and pieces that the same rows have.
    const std::int64_t wanted = divided_up(pieces_each * team.threads(), divided_up(arms.count, rows));
    const std::int64_t groups_each = divided_up(groups, std::min(wanted, groups));
    const std::int64_t pieces = divided_up(groups, groups_each);
    Arena room;
    std::vector<float*> copies;  // of the rows, for each thread
    for (std::int64_t thread = 0; thread < team.threads(); ++thread) {
        constexpr std::size_t numbers = (rows_of_strips + most_strip_rows) * strip_row_stride;
        copies.push_back(static_cast<float*>(room.allocate(numbers * sizeof(float), line_bytes)));
    }
    const char* const values = static_cast<const char*>(matrix.data);
    const std::int64_t size = size_of(matrix.element);
    const auto work = [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
        float* const numbers = copies[static_cast<std::size_t>(thread)];
        for (std::int64_t piece = begin; piece < end; ++piece) {
            const std::int64_t row = piece / pieces * rows, first = piece % pieces * groups_each;
            const std::int64_t last = std::min(first + groups_each, groups);
            const Arms few{arms.ids + row, std::min(rows, arms.count - row)};
            const char* next[rows_of_strips];
            std::fill_n(numbers + few.count * strip_row_stride, most_strip_rows * strip_row_stride, 0.0f);
            if (first == 0) std::fill_n(squares + row, few.count, 0.0);
            for (std::int64_t from = 0; from < width_; from += panel_) {
                const std::int64_t columns = std::min(panel_, width_ - from), to = from + columns;
                kernels().widen_rows(matrix, few, from, to, numbers, strip_row_stride);
                if (first == 0) kernels().add_squares(numbers, few.count, columns, squares + row);
                // With each group of queries a part of what is copied next is fetched: the next columns, or the first
                // ones of the rows that this thread takes next, if others take as many pieces at a time.
                const bool ends = to == width_;
                const std::int64_t after = piece + 1 < end ? piece + 1 : piece + (end - begin) * team.threads();
                const std::int64_t next_row = ends ? after / pieces * rows : row, next_from = ends ? 0 : to;
                const bool fetches = matrix.column_stride == 1 && next_row + few.count <= arms.count;
                const std::int64_t part =
                    divided_up(std::min(panel_, width_ - next_from) * size, last - first);
                for (std::int64_t r = 0; fetches && r < few.count; ++r) {
                    next[r] = values + (arms.ids[next_row + r] * matrix.row_stride + next_from) * size;
                }
                for (std::int64_t group = first; group < last; ++group) {
                    if (team.cancelled()) return;
                    const std::int64_t query = group * queries_together;
                    kernels().multiply_strips({numbers, few.count,
                                               strips_[static_cast<std::size_t>(from / panel_ * groups + group)],
                                               std::min(queries_together, count_ - query), columns, from > 0,
                                               scores + row * count_ + query, count_, fetches ? next : nullptr, part});
                    for (std::int64_t r = 0; fetches && r < few.count; ++r) next[r] += part;
                }
            }
        }
    };
    const std::int64_t queries = std::min(groups_each * queries_together, count_);
    team.run(divided_up(arms.count, rows) * pieces, rows * queries * width_, work);
}

void Operand::multiply_as_they_are(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    const std::int64_t width = width_, n_queries = count_;
    const float* const queries = queries_;
    const std::int64_t groups = divided_up(n_queries, queries_of_a_piece);
    const std::int64_t pieces = divided_up(2 * team.threads(), groups);  // for all threads to have something to do
    const std::int64_t rows =
        std::clamp(rounded_up(divided_up(arms.count, pieces), 4), fewest_rows, rows_in_cache);
    const bool as_is = matrix.element == Element::float32 && matrix.column_stride == 1;
    const std::int64_t panel = panel_;
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
