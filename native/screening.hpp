// The passes of a screen, as those of passes.hpp.
#pragma once

#include <vector>

#include "kernels.hpp"
#include "team.hpp"

namespace sureshot {

// How often at most a term is rounded in float32, where so many queries are screened together: Lemma 15.

// scores: [query][arm], computed in float32; squares, unless null: the squared norm, from the same pass.
void screen(Team& team, const Matrix& matrix, Metric metric, const float* queries, std::int64_t n_queries,
            Arms arms, double* scores, double* squares);

// A query, in one of two types, and as it is screened.
struct Question {
    Metric metric;
    const double* query;  // or null
    const float* floats;  // or null
    const float* rounded;  // or null where nothing is screened
};

// What decides which arms are evaluated: those that can be among the k best, given the scores of the best so far.
// `errors` has the terms of the errors, scales and norms of all arms, and as `unit` what the rounded query was
// divided by; its sums and squares are found here. Its leeway is for norms that are computed in float32.
struct Wanted {
    Uncertain errors;
    double norm_leeway;  // the same for norms that are computed in double
    const double* best;
    std::int64_t n_best;
    std::int64_t k;
    std::int64_t first;  // arms after which it is first decided whether to go on
    double share;        // of the arms that were screened so far, which may be left at most
};

// Some arms, by position, and their scores as they are ranked.
struct Evaluated {
    std::int64_t screened;                // arms, until too many were left or all were screened
    bool too_many;                        // were left, and none of them is evaluated
    std::vector<std::int64_t> positions;
    std::vector<double> scores;
    bool trusted;  // or a score is no finite number, or a row has not the norm that it is said to have
};

// Screens the arms and evaluates in double those that can be among the best, unless these are too many.
Evaluated screen_and_evaluate(Team& team, const Matrix& matrix, const Question& question, Arms arms,
                              const Wanted& wanted);

// Evaluates all arms in double.
Evaluated evaluate_all(Team& team, const Matrix& matrix, const Question& question, Arms arms, const Wanted& wanted);

}  // namespace sureshot
