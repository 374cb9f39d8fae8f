// Memory of one search that is taken in large pieces, most of which the next search takes over: the system would
// have to clear fresh pages first, which takes longer than to set up a search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include "bets.hpp"

namespace sureshot {

constexpr std::size_t line_bytes = 64;

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

// Room for so many values, with anything in it, that begins with a cache line.
template <class Value>
class Room {
 public:
    explicit Room(std::int64_t count)
        : bytes_(static_cast<std::size_t>(count) * sizeof(Value)),
          values_(static_cast<Value*>(arena_.allocate(bytes_, line_bytes))) {}
    ~Room() { arena_.deallocate(values_, bytes_, line_bytes); }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    Value* data() const { return values_; }

 private:
    Arena arena_;
    std::size_t bytes_;
    Value* values_;
};

// One value for each arm, or for each stream of bets.
template <class Value>
using PerArm = std::pmr::vector<Value>;

}  // namespace sureshot
