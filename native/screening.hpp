// The passes of a screen, as those of passes.hpp.
#pragma once

#include <optional>
#include <vector>

#include "kernels.hpp"
#include "team.hpp"

namespace sureshot {

// scores: [query][arm], computed in float32; squares, unless null: the squared norm, from the same pass.
void screen(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
            Arms arms, double* scores, double* squares);

// A query in double, and as it is screened.
struct Question {
    Metric metric;
    const double* query;
    const float* rounded;
};

// What decides which arms are evaluated: those that can be among the k best, given the scores of the best so far, at
// most `most`. `errors` has the terms of the errors, scales and norms of all arms, and as `unit` what the
// rounded query was divided by; its sums and squares are found here.
struct Wanted {
    Uncertain errors;
    const double* best;
    std::int64_t n_best;
    std::int64_t k;
    std::int64_t most;
};

// Some arms, by position, the sums of their rewards and, where norms are given, of their squares.
struct Evaluated {
    std::vector<std::int64_t> positions;
    std::vector<double> sums;
    std::vector<double> squares;
};

// Screens all arms and evaluates in double those that can be among the best; nothing if these are too many.
std::optional<Evaluated> screen_and_evaluate(Team& team, const Matrix& matrix, const Question& question, Arms arms,
                                             const Wanted& wanted);

}  // namespace sureshot
