// What passes over the matrix compute of some arms, row by row or column by column.
#pragma once

#include "matrix.hpp"
#include "runs.hpp"

namespace sureshot {

// What is computed of some arms in one pass: the sums of their rewards, and also the sums of their squares, which are
// squared distances from zero.
template <class Query>
struct Scoring {
    Metric metric;
    const Query* query;
    const Query* zeros;  // as many as columns, or null if no squares are wanted
    double* scores;
    double* squares;
    Runs runs;  // the columns that are added up

    bool squared() const { return zeros != nullptr; }
    // Of the numbers in a part, which stay in the caches while they are read twice.
    std::int64_t readers() const { return squared() ? 8 : 1; }

    // Calls add(metric, query, sums) for the rewards, and for the squares.
    template <class Add>
    void each(double* sums, double* square_sums, const Add& add) const {
        add(metric, query, sums);
        if (squared()) add(Metric::squared_euclidean, zeros, square_sums);
    }
};

inline void negate(double* values, std::int64_t count) {
    for (std::int64_t at = 0; at < count; ++at) values[at] = 0.0 - values[at];  // a zero stays positive
}

inline const char* address_of(const Matrix& matrix, std::int64_t row, std::int64_t column) {
    return static_cast<const char*>(matrix.data) +
           (row * matrix.row_stride + column * matrix.column_stride) * size_of(matrix.element);
}

}  // namespace sureshot
