// The k best arms of one query, from beginning to end.
#pragma once

#include "screening.hpp"

namespace sureshot {

// What was done to find them.
struct Found {
    std::int64_t screened;   // arms
    std::int64_t evaluated;  // arms
    bool trusted;            // or what was found is not to be used
};

// Writes the k best arms, best first and ties by the smaller one, and their scores as they are ranked. The arms are
// screened if the question has a rounded query; if that leaves too many, or it has none, all are evaluated.
Found exact_best(Team& team, const Matrix& matrix, const Question& question, Arms arms, const Wanted& wanted,
                 std::int64_t* best_arms, double* best_scores);

// Fills in what makes cosines of inner products with a query of that norm. Returns false if some norm of a row, or its
// product with that of the query, is below `smallest` or above 1 / smallest.
bool cosine_factors(const double* norms, std::int64_t count, double query_norm, double smallest, double* factors);

}  // namespace sureshot
