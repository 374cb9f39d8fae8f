// The arms that can be among the k best of several queries, by products in float32, some arms at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "product_errors.hpp"
#include "products.hpp"
#include "selection.hpp"

namespace sureshot {

// What is asked of the products. One scale and square per arm.
struct ProductQuestion {
    ErrorTerms terms;
    QueryNorms queries;
    const double* scale;  // or null: 1 for each
    bool both_signs;
    std::int64_t k;
    std::int64_t most;       // candidates of a query, at most, as of a Selection
    std::int64_t rows;       // that are multiplied before the best of them are chosen
    double largest_square;   // squared norms that are not below it forbid a product
};

// Fills in the squared norm of each arm, and returns the candidates; nothing where the norms forbid a product, and then
// some squares are missing. Throws Cancelled.
std::optional<Left> product_candidates(Team& team, const Operand& operand, const Matrix& matrix, Arms arms,
                                       const ProductQuestion& question, double* squares);

}  // namespace sureshot
