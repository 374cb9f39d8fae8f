// The values of a query, as they were given: a long one is not widened as a whole for the few blocks that are read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace sureshot {

struct QueryValues {
    const double* doubles;  // or null
    const float* floats;    // if null

    void copy(std::int64_t begin, std::int64_t end, double* out) const {
        doubles == nullptr ? std::copy(floats + begin, floats + end, out)
                           : std::copy(doubles + begin, doubles + end, out);
    }
};

// The values in the given blocks of so many columns, as kernels take them: `blocks.size` places for each block, of which
// a short one fills the first. Throws std::bad_alloc.
inline std::vector<double> values_in_blocks(const QueryValues& query, std::int64_t n_columns, const Blocks& blocks) {
    std::vector<double> values(static_cast<std::size_t>(blocks.count * blocks.size));
    for (std::int64_t b = 0; b < blocks.count; ++b) {
        const std::int64_t begin = blocks.ids[b] * blocks.size - blocks.shift;
        query.copy(std::max<std::int64_t>(begin, 0), std::min(begin + blocks.size, n_columns),
                   values.data() + b * blocks.size);
    }
    return values;
}

}  // namespace sureshot
