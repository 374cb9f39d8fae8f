// Memory of one search that is taken in large pieces, most of which the next search takes over: the system would
// have to clear fresh pages first, which takes longer than to set up a search.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

#include "bets.hpp"

namespace sureshot {

// Gives memory that is freed with the arena, and not before. For one thread.
class Arena : public std::pmr::memory_resource {
 public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;
    ~Arena() override;

 private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }

    std::vector<Group*> slabs_;
    std::byte* next_ = nullptr;  // in the last slab
    std::size_t left_ = 0;
};

// One value for each arm, or for each stream of bets.
template <class Value>
using PerArm = std::pmr::vector<Value>;

}  // namespace sureshot
