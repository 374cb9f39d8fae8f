// Passes over the matrix that a team makes: the kernels on pieces of the arms, in parts of the columns that
// are short enough to be interrupted between them. All of them throw Cancelled, and std::bad_alloc before
// anything is read. What they fill has one entry per arm unless another shape is given.
#pragma once

#include "matrix.hpp"
#include "query_values.hpp"
#include "runs.hpp"
#include "team.hpp"

namespace sureshot {

// sums and squares, unless null: [block][arm].
void block_sums(Team& team, const Matrix& matrix, Metric metric, const QueryValues& query, Arms arms, Blocks blocks,
                double* sums, double* squares);

// centre and weight have one entry per given block.
void totals(Team& team, const Matrix& matrix, Metric metric, const QueryValues& query, Arms arms, Blocks blocks,
            const double* centre, const double* weight, Totals out);

// scores: [query][arm]; squares, unless null: the squared norm, from the same pass.
void row_scores(Team& team, const Matrix& matrix, Metric metric, const double* queries, std::int64_t n_queries,
                Arms arms, double* scores, double* squares);

// The same, to the last bit, of queries of floats.
void row_scores(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
                Arms arms, double* scores, double* squares);

// As row_scores, over some ascending runs of columns: the same bits if the other rewards are zeros.
void run_scores(Team& team, const Matrix& matrix, Metric metric, const double* query, Arms arms, Runs runs,
                double* scores, double* squares);

// reach: the largest |value - middle| * unit; squares: the squared norm.
void scan_rows(Team& team, const Matrix& matrix, const double* middle, const double* unit, Arms arms,
               double* reach, double* squares);

// low, high: [column].
void column_limits(Team& team, const Matrix& matrix, Arms arms, double* low, double* high);

}  // namespace sureshot
