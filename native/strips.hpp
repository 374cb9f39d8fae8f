// Products of rows with queries that are packed in strips: all of them once, or the columns of one panel after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "arena.hpp"
#include "matrix.hpp"
#include "team.hpp"

namespace sureshot {

// Fewer queries than these are not packed: the copies of the rows would take longer than the sums across lanes, which
// packing saves.
constexpr std::int64_t fewest_packed = 64;

// How many queries of this width can be packed at once; 0 if that takes too much memory for a number that pays.
std::int64_t packed_together(std::int64_t width);

// How often a term of a product with packed queries is rounded at most, to float32, if there are so many columns.
std::int64_t roundings_of_strips(std::int64_t width);

// Queries that are packed once, for products with many rows.
class Strips {
 public:
    // As many as fewest_packed, and as packed_together allows. Throws Cancelled.
    Strips(Team& team, const float* queries, std::int64_t count, std::int64_t width);

    // See Operand::multiply.
    void multiply(Team& team, const Matrix& matrix, Arms arms, float* scores, double* squares) const;

 private:
    std::int64_t count_, width_;
    Arena room_;
    std::vector<float*> strips_;  // of queries that lie together in the columns of one panel, for each panel
};

// The same with queries that are packed for these rows alone, so that they take little memory, and rows that are copied
// once: for few of them. See Operand::multiply.
void multiply_by_panel(Team& team, const float* queries, std::int64_t count, const Matrix& matrix, Arms arms,
                       float* scores, double* squares);

// The same if there are fewer rows than queries.
void multiply_packed_rows(Team& team, const float* queries, std::int64_t count, const Matrix& matrix, Arms arms,
                          float* scores, double* squares);

}  // namespace sureshot
