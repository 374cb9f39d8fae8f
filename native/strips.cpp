#include "strips.hpp"

#include <algorithm>

#include "compiler.hpp"
#include "division.hpp"
#include "isa.hpp"
#include "scoring.hpp"

namespace sureshot {
namespace {

// Numbers that are packed at once, at most: 64 MB.
constexpr std::int64_t most_packed = std::int64_t{1} << 24;

// Queries whose strips lie together, and rows of which some columns stay in the second-level cache beside those
// strips. A piece of the work is as many rows, and as many queries as leave enough pieces for all threads.
constexpr std::int64_t queries_together = 64;
constexpr std::int64_t rows_of_strips = 96;
constexpr std::int64_t pieces_each = 4;
constexpr std::int64_t line_floats = 16;

// Rows that are copied at a time.
constexpr std::int64_t rows_copied = 16;

// Queries of a piece that are multiplied with packed rows: few, for all threads to have as many.
constexpr std::int64_t queries_of_piece = 4 * strip_rows;

// Columns that are added up before they are added to a score: as few panels as can be, about equal.
std::int64_t panel_of(std::int64_t width) {
    return std::min(rounded_up(divided_up(width, divided_up(width, strip_columns)), line_floats), width);
}

// Rows of a piece, of so many.
std::int64_t rows_of_piece(std::int64_t count) {
    const std::int64_t parts = divided_up(count, rows_of_strips);
    return std::min(rounded_up(divided_up(count, parts), strip_rows), rows_of_strips);
}

// Packs some columns of queries that lie together.
void pack(const float* queries, std::int64_t count, std::int64_t width, std::int64_t columns, float* strips) {
    for (std::int64_t query = 0; query < count; query += strip_queries) {
        kernels().pack_strip(queries + query * width, std::min(strip_queries, count - query), width, columns,
                             strips + query * columns);
    }
}

void fetch_bytes(const void* first, std::int64_t bytes) {
    constexpr std::int64_t line = line_bytes;
    for (std::int64_t byte = 0; byte < bytes; byte += line) fetch_ahead(static_cast<const char*>(first) + byte);
}

}  // namespace

std::int64_t packed_together(std::int64_t width) {
    const std::int64_t most = most_packed / std::max<std::int64_t>(width, 1) / queries_together * queries_together;
    return most < fewest_packed ? 0 : most;
}

std::int64_t roundings_of_strips(std::int64_t width) { return panel_of(width) + divided_up(width, panel_of(width)); }

Strips::Strips(Team& team, const float* queries, std::int64_t count, std::int64_t width)
    : count_(count), width_(width) {
    const std::int64_t panel = panel_of(width), groups = divided_up(count, queries_together);
    const auto queries_of = [&](std::int64_t at) {
        return std::min(queries_together, count - at % groups * queries_together);
    };
    const auto columns_of = [&](std::int64_t at) { return std::min(panel, width - at / groups * panel); };
    for (std::int64_t at = 0; at < divided_up(width, panel) * groups; ++at) {
        const auto numbers = static_cast<std::size_t>(rounded_up(queries_of(at), strip_queries) * columns_of(at));
        strips_.push_back(static_cast<float*>(room_.allocate(numbers * sizeof(float), line_bytes)));
    }
    team.run(static_cast<std::int64_t>(strips_.size()), panel * std::min(count, queries_together),
             [&](std::int64_t begin, std::int64_t end) noexcept {
                 for (std::int64_t at = begin; at < end; ++at) {
                     pack(queries + at % groups * queries_together * width + at / groups * panel, queries_of(at), width,
                          columns_of(at), strips_[static_cast<std::size_t>(at)]);
                 }
             });
}

void Strips::multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const {
    const std::int64_t rows = rows_of_piece(arms.count), panel = panel_of(width_);
    const std::int64_t groups = divided_up(count_, queries_together);
    // Groups of queries that a piece has, and pieces that the same rows have.
    const std::int64_t wanted = divided_up(pieces_each * team.threads(), divided_up(arms.count, rows));
    const std::int64_t groups_each = divided_up(groups, std::min(wanted, groups));
    const std::int64_t pieces = divided_up(groups, groups_each);
    Arena room;
    std::vector<float*> copies;  // of the rows, for each thread
    for (std::int64_t thread = 0; thread < team.threads(); ++thread) {
        constexpr std::size_t numbers = (rows_of_strips + strip_rows) * strip_row_stride;
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
            std::fill_n(numbers + few.count * strip_row_stride, strip_rows * strip_row_stride, 0.0f);
            if (first == 0) std::fill_n(squares + row, few.count, 0.0);
            for (std::int64_t from = 0; from < width_; from += panel) {
                const std::int64_t columns = std::min(panel, width_ - from), to = from + columns;
                kernels().widen_rows(matrix, few, from, to, numbers, strip_row_stride);
                if (first == 0) kernels().add_squares(numbers, few.count, columns, squares + row);
                // With each group of queries a part of what is copied next is fetched: the next columns, or the first
                // ones of the rows that this thread takes next, if others take as many pieces at a time.
                const bool ends = to == width_;
                const std::int64_t after = piece + 1 < end ? piece + 1 : piece + (end - begin) * team.threads();
                const std::int64_t next_row = ends ? after / pieces * rows : row, next_from = ends ? 0 : to;
                const bool fetches = matrix.column_stride == 1 && next_row + few.count <= arms.count;
                const std::int64_t part = divided_up(std::min(panel, width_ - next_from) * size, last - first);
                for (std::int64_t r = 0; fetches && r < few.count; ++r) {
                    next[r] = values + (arms.ids[next_row + r] * matrix.row_stride + next_from) * size;
                }
                for (std::int64_t group = first; group < last; ++group) {
                    if (team.cancelled()) return;
                    const std::int64_t query = group * queries_together;
                    kernels().multiply_strips({numbers, strip_row_stride, few.count,
                                               strips_[static_cast<std::size_t>(from / panel * groups + group)],
                                               std::min(queries_together, count_ - query), columns, from > 0,
                                               scores + row * count_ + query, count_, next, fetches ? few.count : 0, part});
                    for (std::int64_t r = 0; fetches && r < few.count; ++r) next[r] += part;
                }
            }
        }
    };
    const std::int64_t queries = std::min(groups_each * queries_together, count_);
    team.run(divided_up(arms.count, rows) * pieces, rows * queries * width_, work);
}

void multiply_by_panel(Team& team, const float* queries, std::int64_t count, const Matrix& matrix, Arms arms,
                       float* scores, double* squares) {
    const std::int64_t width = matrix.n_columns, panel = panel_of(width), rows = rows_of_piece(arms.count);
    const std::int64_t groups = divided_up(count, queries_together), parts = divided_up(arms.count, rows);
    const std::int64_t copied = divided_up(arms.count, rows_copied), packed = divided_up(count, strip_queries);
    const Room<float> strips(packed * strip_queries * panel);
    const Room<float> copies((arms.count + strip_rows) * strip_row_stride);
    std::fill_n(copies.data() + arms.count * strip_row_stride, strip_rows * strip_row_stride, 0.0f);
    std::fill_n(squares, arms.count, 0.0);
    for (std::int64_t from = 0; from < width; from += panel) {
        const std::int64_t columns = std::min(panel, width - from);
        const auto copy = [&](std::int64_t first) {
            const Arms few{arms.ids + first, std::min(rows_copied, arms.count - first)};
            float* const own = copies.data() + first * strip_row_stride;
            kernels().widen_rows(matrix, few, from, from + columns, own, strip_row_stride);
            kernels().add_squares(own, few.count, columns, squares + first);
        };
        // Some rows or queries come from memory while those before them are copied or packed.
        const auto fetch = [&](std::int64_t at) {
            if (at < copied) {
                const std::int64_t first = at * rows_copied, last = std::min(first + rows_copied, arms.count);
                for (std::int64_t row = first; row < last && matrix.column_stride == 1; ++row) {
                    fetch_bytes(address_of(matrix, arms.ids[row], from), columns * size_of(matrix.element));
                }
            } else {
                const std::int64_t first = (at - copied) * strip_queries, last = std::min(first + strip_queries, count);
                for (std::int64_t query = first; query < last; ++query) {
                    fetch_bytes(queries + query * width + from, columns * size_of(Element::float32));
                }
            }
        };
        team.run(copied + packed, columns * strip_queries, [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t at = begin; at < end; ++at) {
                if (at + 1 < end) fetch(at + 1);
                if (at < copied) {
                    copy(at * rows_copied);
                } else {
                    const std::int64_t query = (at - copied) * strip_queries;
                    pack(queries + query * width + from, std::min(strip_queries, count - query), width, columns,
                         strips.data() + query * columns);
                }
            }
        });
        team.run(parts * groups, rows * queries_together * columns, [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t piece = begin; piece < end && !team.cancelled(); ++piece) {
                const std::int64_t row = piece / groups * rows, query = piece % groups * queries_together;
                kernels().multiply_strips({copies.data() + row * strip_row_stride, strip_row_stride,
                                           std::min(rows, arms.count - row),
                                           strips.data() + query * columns, std::min(queries_together, count - query),
                                           columns, from > 0, scores + row * count + query, count, nullptr, 0, 0});
            }
        });
    }
}

// The rows are packed, and the queries are read as they lie.
void multiply_packed_rows(Team& team, const float* queries, std::int64_t count, const Matrix& matrix, Arms arms,
                          float* scores, double* squares) {
    const std::int64_t width = matrix.n_columns, panel = panel_of(width), n_rows = arms.count;
    const std::int64_t packed = divided_up(n_rows, strip_queries);
    // Behind the last queries nothing may be read: those that are no whole number are copied.
    const std::int64_t rest = count % strip_rows, whole = count - rest, pieces = divided_up(count, queries_of_piece);
    const Room<float> strips(packed * strip_queries * panel), last(strip_rows * strip_row_stride);
    const Room<float> copies(packed * strip_queries * strip_row_stride), found(count * n_rows);  // found: [query][row]
    std::fill_n(last.data(), strip_rows * strip_row_stride, 0.0f);
    std::fill_n(squares, n_rows, 0.0);
    for (std::int64_t from = 0; from < width; from += panel) {
        const std::int64_t columns = std::min(panel, width - from);
        team.run(packed, columns * strip_queries, [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t row = begin * strip_queries; row < std::min(end * strip_queries, n_rows);
                 row += strip_queries) {
                const Arms few{arms.ids + row, std::min(strip_queries, n_rows - row)};
                float* const own = copies.data() + row * strip_row_stride;
                kernels().widen_rows(matrix, few, from, from + columns, own, strip_row_stride);
                kernels().add_squares(own, few.count, columns, squares + row);
                kernels().pack_strip(own, few.count, strip_row_stride, columns, strips.data() + row * columns);
            }
        });
        for (std::int64_t q = 0; q < rest; ++q) {
            std::copy_n(queries + (whole + q) * width + from, columns, last.data() + q * strip_row_stride);
        }
        team.run(pieces, queries_of_piece * n_rows * columns, [&](std::int64_t begin, std::int64_t end) noexcept {
            for (std::int64_t piece = begin; piece < end && !team.cancelled(); ++piece) {
                const std::int64_t query = piece * queries_of_piece, few = std::min(queries_of_piece, whole - query);
                StripTile tile{queries + query * width + from, width, few, strips.data(), n_rows, columns, from > 0,
                               found.data() + query * n_rows, n_rows, nullptr, 0, columns * size_of(Element::float32)};
                // Meanwhile the next queries are fetched, or the next columns of the first ones.
                const bool ends = piece + 1 == end;
                const std::int64_t after = ends ? begin * queries_of_piece : query + queries_of_piece;
                const std::int64_t next_from = ends ? from + columns : from;
                const char* next[queries_of_piece];
                if (next_from + columns <= width) {
                    tile.next = next;
                    tile.n_next = std::clamp<std::int64_t>(whole - after, 0, queries_of_piece);
                }
                for (std::int64_t q = 0; q < tile.n_next; ++q) {
                    next[q] = reinterpret_cast<const char*>(queries + (after + q) * width + next_from);
                }
                if (few > 0) kernels().multiply_strips(tile);
                if (query + queries_of_piece < count) continue;
                tile = {last.data(), strip_row_stride, rest, strips.data(), n_rows, columns, from > 0,
                        found.data() + whole * n_rows, n_rows, nullptr, 0, 0};
                if (rest > 0) kernels().multiply_strips(tile);
            }
        });
    }
    team.run(divided_up(count, line_floats), line_floats * n_rows, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t some = begin * line_floats; some < std::min(end * line_floats, count); some += line_floats) {
            const std::int64_t stop = std::min(some + line_floats, count);
            for (std::int64_t row = 0; row < n_rows; ++row) {
                for (std::int64_t query = some; query < stop; ++query) {
                    scores[row * count + query] = found.data()[query * n_rows + row];
                }
            }
        }
    });
}

}  // namespace sureshot
