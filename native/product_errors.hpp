// How far products of rows and queries in float32 may be from the scores they stand for: the formulas of
// theory/products.py (Theorem 18), to the last bit.
#pragma once

#include <cstdint>
#include <vector>

#include "selection.hpp"

namespace sureshot {

// What the errors of all rows and queries have in common; theory/products.py says what each of these is.
struct ErrorTerms {
    double slack;
    double product_share;
    double underflow;
    double smallest_size;
    double square_share;
    double lost_norm;
    bool distance;
};

// Queries times their units, as they are multiplied.
struct QueryNorms {
    const double* norms;
    const double* lost;
    const double* units;
    std::int64_t count;
};

// What the queries add to the errors: a length each, and the constant that is added to the norm of every arm.
struct QueryErrors {
    std::vector<double> lengths;
    double constant;
};

QueryErrors query_errors(const ErrorTerms& terms, const QueryNorms& queries);

// The errors of some arms, one after the other: the memory is taken once.
class ArmErrors {
 public:
    // At most so many arms at a time.
    ArmErrors(const ErrorTerms& terms, double constant, std::int64_t most);

    // Those of arms with these squared norms and factors, or null: 1 for each. Until this is called again.
    ScoreErrors of(const double* squares, const double* scale, std::int64_t count, bool both_signs);

 private:
    ErrorTerms terms_;
    double constant_;
    std::vector<double> offset_, fixed_, factor_, ones_;
};

}  // namespace sureshot
