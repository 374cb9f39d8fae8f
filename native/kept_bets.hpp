// The bets that were placed: groups of steps in slabs of memory, chained for each stream.
//
// A stream has the bets against one arm: on its rewards, or, where both signs are bet on, on the negated ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "arena.hpp"
#include "bets.hpp"

namespace sureshot {

// Groups that so many steps fill, the last one perhaps in part.
inline std::int64_t groups_of(std::int64_t steps) { return (steps + steps_per_group - 1) / steps_per_group; }

class KeptBets {
 public:
    KeptBets(std::size_t streams, Arena& arena) : first_(streams, 0, &arena), last_(streams, 0, &arena) {}

    // Makes room for groups, with anything in them; returns the first. Throws std::bad_alloc.
    std::uint32_t reserve(std::int64_t groups);

    // Makes a reserved group the last one of a stream, which has `groups_before` groups. Several threads may
    // append to different streams at a time.
    void append(std::size_t stream, std::int64_t groups_before, std::uint32_t reserved) {
        if (groups_before == 0) {
            first_[stream] = reserved;
        } else {
            next_[last_[stream]] = reserved;
        }
        last_[stream] = reserved;
    }

    std::uint32_t first(std::size_t stream) const { return first_[stream]; }
    std::uint32_t last(std::size_t stream) const { return last_[stream]; }
    std::uint32_t next(std::uint32_t group) const { return next_[group]; }

    Group& group(std::uint32_t at) const {
        constexpr std::uint32_t within_slab = (1u << Chains::slab_bits) - 1;
        return slab_of_[at >> Chains::slab_bits][at & within_slab];
    }

    // The same for kernels; valid until more groups are reserved.
    Chains chains() const { return {slab_of_.data(), next_.data()}; }

    // Memory taken by the groups.
    std::int64_t bytes() const {
        return static_cast<std::int64_t>(used_) * static_cast<std::int64_t>(sizeof(Group));
    }

    // Frees all groups; the streams must not be used after that.
    void clear();

 private:
    struct Free {
        void operator()(Group* slab) const noexcept;
    };
    std::vector<std::unique_ptr<Group, Free>> slabs_;
    std::vector<Group*> slab_of_;
    std::vector<std::uint32_t> next_;
    std::uint32_t used_ = 0;
    PerArm<std::uint32_t> first_, last_;  // of each stream
};

}  // namespace sureshot
