// The order in which portions are read: the heaviest first, and equally heavy ones at random.
#pragma once

#include <cstdint>
#include <vector>

namespace sureshot {

// The numbers 0, ..., count - 1 by their weights, which are finite and not negative. Weights count as equal that are the
// same number of float32 in units of the largest one.
std::vector<std::int64_t> heaviest_first(const double* weights, std::int64_t count, std::uint64_t seed);

}  // namespace sureshot
