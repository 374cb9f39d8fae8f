#include "passes.hpp"

#include <algorithm>
#include <vector>

#include "column_scores.hpp"
#include "compiler.hpp"
#include "isa.hpp"
#include "parts.hpp"
#include "rows_adder.hpp"
#include "scoring.hpp"
#include "shared_scores.hpp"

namespace sureshot {
namespace {

// Of a few rows a thread takes so many: they share the values of the query while it is read from the caches.
constexpr std::int64_t fewest_rows_of_a_thread = 4;
// Rows that share a query which is longer than the caches, at least.
constexpr std::int64_t rows_in_cache = 8;

std::int64_t blocks_in_a_part(const Blocks& blocks, std::int64_t arms) {
    return std::max<std::int64_t>(numbers_in_a_part / std::max<std::int64_t>(blocks.size * arms, 1), 32);
}

Blocks part_of(const Blocks& blocks, std::int64_t start, std::int64_t most) {
    return {blocks.ids + start, std::min(most, blocks.count - start), blocks.size, blocks.shift};
}

// Fetches the first cache lines of a run of columns of some rows.
void fetch_run(const Matrix& matrix, Arms arms, Run run) {
    constexpr std::int64_t most = 256;
    const std::int64_t bytes = (run.end - run.begin) * size_of(matrix.element);
    for (std::int64_t at = 0; at < arms.count; ++at) {
        const char* const first = address_of(matrix, arms.ids[at], run.begin);
        for (std::int64_t byte = 0; byte < std::min(bytes, most); byte += 64) fetch_ahead(first + byte);
        if (bytes < most) fetch_ahead(first + bytes - 1);
    }
}

// The query of squares, if any are wanted.
std::vector<double> zeros_for(const double* squares, const Matrix& matrix) {
    return std::vector<double>(squares == nullptr ? 0 : static_cast<std::size_t>(matrix.n_columns));
}

// How many rows are read side by side, so that the sums of one do not wait for each other. But rows that follow each
// other are read from memory up to a fifth faster as one stream, unless the query is too long for the first-level cache.
std::int64_t rows_side_by_side(const Matrix& matrix, Arms arms, std::int64_t n_columns) {
    constexpr std::int64_t bytes_in_caches = std::int64_t{48} << 20, most_columns_alone = 4096;
    const std::int64_t size = size_of(matrix.element);
    const bool widened = size < 4 || matrix.column_stride != 1;  // which takes longer than to read them
    const bool long_rows = n_columns > most_columns_alone;
    if (widened || long_rows || arms.count * n_columns * size < bytes_in_caches) return most_rows_side_by_side;
    const bool one_stream = matrix.row_stride == n_columns && arms.ids[arms.count - 1] - arms.ids[0] == arms.count - 1;
    return one_stream ? 1 : most_rows_side_by_side;
}

// Lets the sums of some rows begin with another lane, so many after the first.
void turn_lanes(double* sums, std::int64_t n_arms, std::int64_t by) {
    for (double* own = sums; own < sums + n_arms * lanes; own += lanes) {
        std::rotate(own, own + (by + lanes) % lanes, own + lanes);
    }
}

// Scores the arms [some, some + few.count) together; returns false if the team was cancelled.
template <class Query>
bool score_rows(Team& team, const Matrix& matrix, const Scoring<Query>& scoring, Arms few, std::int64_t side_by_side,
                std::int64_t some) {
    double sums[most_rows * lanes] = {}, square_sums[most_rows * lanes] = {};
    std::int64_t first = 0;  // the lane that sums begin with
    const auto begin_with = [&](std::int64_t lane) {
        if (lane == first) return;
        turn_lanes(sums, few.count, lane - first);
        if (scoring.squared()) turn_lanes(square_sums, few.count, lane - first);
        first = lane;
    };
    const bool done = in_runs(
        team, scoring.runs, std::max(few.count, rows_in_cache) * scoring.readers(), [&](std::int64_t from, std::int64_t to) {
            begin_with(from % lanes);
            scoring.each(sums, square_sums, [&](Metric metric, const Query* query, double* out) {
                rows_adder<Query>()(matrix, metric, query, few, side_by_side, from, to, out);
            });
        },
        few.count, [&](Run run) { fetch_run(matrix, few, run); });
    if (!done) return false;
    begin_with(0);
    kernels().join_rows(sums, few.count, scoring.scores + some);
    if (scoring.squared()) {
        kernels().join_rows(square_sums, few.count, scoring.squares + some);
        negate(scoring.squares + some, few.count);
    }
    return true;
}

template <class Query>
void score_by_row(Team& team, const Matrix& matrix, const Scoring<Query>& scoring, Arms arms) {
    // A query that is too long for the caches is read once for some rows.
    const std::int64_t columns = scoring.runs.columns(), together = std::max(rows_at_once(columns), rows_in_cache);
    const std::int64_t side_by_side = rows_side_by_side(matrix, arms, columns);
    team.run(arms.count, columns, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t some = begin; some < end; some += together) {
            const Arms few{arms.ids + some, std::min(together, end - some)};
            if (!score_rows(team, matrix, scoring, few, side_by_side, some)) return;
        }
    }, std::clamp<std::int64_t>(arms.count / team.threads(), 1, fewest_rows_of_a_thread));
}

}  // namespace

void block_sums(Team& team, const Matrix& matrix, Metric metric, const QueryValues& query, Arms arms, Blocks blocks,
                double* sums, double* squares) {
    const std::vector<double> values = values_in_blocks(query, matrix.n_columns, blocks);
    team.run(arms.count, blocks.count * blocks.size, [&](std::int64_t begin, std::int64_t end) noexcept {
        const std::int64_t most = blocks_in_a_part(blocks, end - begin);
        for (std::int64_t start = 0; start < blocks.count && !team.cancelled(); start += most) {
            const std::int64_t to = start * arms.count + begin;
            kernels().block_sums(matrix, metric, values.data() + start * blocks.size, {arms.ids + begin, end - begin},
                                 part_of(blocks, start, most), sums + to, arms.count,
                                 squares == nullptr ? nullptr : squares + to);
        }
    });
}

void totals(Team& team, const Matrix& matrix, Metric metric, const QueryValues& query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, Totals out) {
    const std::vector<double> values = values_in_blocks(query, matrix.n_columns, blocks);
    const Workspaces spaces(team, totals_space);
    const std::int64_t together = coordinate_major(matrix) ? totals_arms : 16;
    team.run(arms.count, blocks.count * blocks.size,
             [&](std::int64_t begin, std::int64_t end, std::int64_t thread) noexcept {
                 for (std::int64_t some = begin; some < end; some += together) {
                     const Arms few{arms.ids + some, std::min(together, end - some)};
                     const Totals own{out.high + some, out.low + some, out.largest + some};
                     for (double* values : {own.high, own.low, own.largest}) std::fill_n(values, few.count, 0.0);
                     const std::int64_t most = blocks_in_a_part(blocks, few.count) / 32 * 32;
                     for (std::int64_t start = 0; start < blocks.count; start += most) {
                         if (team.cancelled()) return;
                         kernels().totals(matrix, metric, values.data() + start * blocks.size, few,
                                          part_of(blocks, start, most), centre + start, weight + start, own,
                                          spaces.of(thread));
                     }
                 }
             });
}

void row_scores(Team& team, const Matrix& matrix, Metric metric, const double* queries, std::int64_t n_queries,
                Arms arms, double* scores, double* squares) {
    if (n_queries != 1) return shared_scores(team, matrix, metric, queries, n_queries, arms, scores, squares);
    const std::vector<double> zeros = zeros_for(squares, matrix);
    const Run all{0, matrix.n_columns};
    const Scoring<double> scoring{metric, queries, squares == nullptr ? nullptr : zeros.data(), scores, squares, {&all, 1}};
    if (far_apart(matrix, arms)) {
        score_few(team, matrix, scoring, arms);
    } else if (coordinate_major(matrix)) {
        score_by_column(team, matrix, scoring, arms);
    } else {
        score_by_row(team, matrix, scoring, arms);
    }
}

void row_scores(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
                Arms arms, double* scores, double* squares) {
    if (n_queries != 1) return shared_scores(team, matrix, metric, queries, n_queries, arms, scores, squares);
    const auto width = static_cast<std::size_t>(matrix.n_columns);
    if (coordinate_major(matrix)) {
        const std::vector<double> wide(queries, queries + width);
        return row_scores(team, matrix, metric, wide.data(), 1, arms, scores, squares);
    }
    const std::vector<float> zeros(squares == nullptr ? 0 : width);
    const Run all{0, matrix.n_columns};
    const float* const its_zeros = squares == nullptr ? nullptr : zeros.data();
    score_by_row<float>(team, matrix, {metric, queries, its_zeros, scores, squares, {&all, 1}}, arms);
}

void run_scores(Team& team, const Matrix& matrix, Metric metric, const double* query, Arms arms, Runs runs,
                double* scores, double* squares) {
    const std::vector<double> zeros = zeros_for(squares, matrix);
    const Scoring<double> scoring{metric, query, squares == nullptr ? nullptr : zeros.data(), scores, squares, runs};
    if (far_apart(matrix, arms)) {
        score_few(team, matrix, scoring, arms);
    } else if (coordinate_major(matrix)) {
        score_by_column(team, matrix, scoring, arms);
    } else {
        score_by_row(team, matrix, scoring, arms);
    }
}

}  // namespace sureshot
