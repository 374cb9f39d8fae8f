// The k best arms of each of several queries of float32, from beginning to end.
#pragma once

#include <cstdint>

#include "product_candidates.hpp"

namespace sureshot {

// Several queries of the same arms.
struct BatchQuestion {
    Metric metric;
    const float* queries;  // [query][column]
    std::int64_t count;
    const double* scale;  // of each arm, or null: 1 for each
    bool both_signs;
    std::int64_t k;
};

// For each query the positions of the k best arms, best first and ties by the smaller one, their scores as they are
// ranked, and how many arms were evaluated.
struct BatchBest {
    std::int64_t* positions;
    double* scores;
    std::int64_t* evaluated;
};

// What products need besides: see ProductQuestion.
struct ProductLimits {
    ErrorTerms terms;
    double smallest_size, largest_size;  // that the largest value of a query may have, unless it is 0
    double largest_square;
    std::int64_t most, rows;
};

// By products in float32, with an operand of the same queries, and in double where these leave it open. Returns false
// where nothing is to be used: numbers forbid a product, a query has too many candidates, or a score is not finite.
// Throws Cancelled.
bool best_by_products(Team& team, const Operand& operand, const Matrix& matrix, const BatchQuestion& question,
                      Arms arms, const ProductLimits& limits, const BatchBest& out);

// By the score of every arm in double. Returns false if one is not finite. Throws Cancelled.
bool best_by_scores(Team& team, const Matrix& matrix, const BatchQuestion& question, Arms arms, const BatchBest& out);

}  // namespace sureshot
