#include "arena.hpp"

#include <memory>

#include "slabs.hpp"

namespace sureshot {

Arena::~Arena() {
    for (Group* slab : slabs_) give_back_slab(slab);
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    // What would leave most of a slab unused, or does not fit into one, has memory of its own.
    if (bytes > slab_bytes / 2) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    void* place = next_;
    if (slabs_.empty() || std::align(alignment, bytes, place, left_) == nullptr) {
        slabs_.reserve(slabs_.size() + 1);
        slabs_.push_back(take_slab());
        place = slabs_.back();
        left_ = slab_bytes;
    }
    next_ = static_cast<std::byte*>(place) + bytes;
    left_ -= bytes;
    return place;
}

void Arena::do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
    if (bytes > slab_bytes / 2) std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
}

}  // namespace sureshot
