// What has become of each arm, one byte each, and which of them have a status that is wanted.
//
// Late in a search these are few among many: most of the statuses are passed over, many at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "arena.hpp"

namespace sureshot {

// The undecided ones first.
enum Status : std::int8_t { active, suspended, dropped, known };

using Statuses = PerArm<std::int8_t>;

// Statuses that are looked at together: a byte must be able to count them.
constexpr std::size_t statuses_together = 64;

// How many of some statuses, at most so many as are looked at together, are wanted.
template <class Wanted>
std::uint8_t count_of_few(const std::int8_t* statuses, std::size_t count, const Wanted& wanted) {
    std::uint8_t found = 0;
    for (std::size_t at = 0; at < count; ++at) {
        found = static_cast<std::uint8_t>(found + (wanted(statuses[at]) ? 1 : 0));
    }
    return found;
}

template <class Wanted>
std::int64_t count_where(const Statuses& statuses, const Wanted& wanted) {
    std::int64_t found = 0;
    for (std::size_t first = 0; first < statuses.size(); first += statuses_together) {
        found += count_of_few(statuses.data() + first, std::min(statuses_together, statuses.size() - first), wanted);
    }
    return found;
}

// The arms, ascending.
template <class Wanted>
std::vector<std::int64_t> arms_where(const Statuses& statuses, const Wanted& wanted) {
    std::vector<std::int64_t> found;
    found.reserve(statuses.size() + statuses_together);
    for (std::size_t first = 0; first < statuses.size(); first += statuses_together) {
        const std::size_t count = std::min(statuses_together, statuses.size() - first);
        if (count_of_few(statuses.data() + first, count, wanted) == 0) continue;
        std::size_t end = found.size();
        found.resize(end + statuses_together);
        // Without a branch, which could not be predicted.
        for (std::size_t arm = first; arm < first + count; ++arm) {
            found[end] = static_cast<std::int64_t>(arm);
            end += wanted(statuses[arm]) ? 1 : 0;
        }
        found.resize(end);
    }
    return found;
}

}  // namespace sureshot
