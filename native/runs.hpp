// Runs of neighbouring columns.
#pragma once

#include <cstdint>

namespace sureshot {

struct Run {
    std::int64_t begin;
    std::int64_t end;
};

struct Runs {
    const Run* runs;
    std::int64_t count;

    std::int64_t columns() const {
        std::int64_t sum = 0;
        for (std::int64_t at = 0; at < count; ++at) sum += runs[at].end - runs[at].begin;
        return sum;
    }
};

}  // namespace sureshot
