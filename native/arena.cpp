#include "arena.hpp"

#include <memory>

#include "poison.hpp"
#include "slabs.hpp"

namespace sureshot {

Arena::~Arena() {
    for (Group* slab : slabs_) {
        cleanse(slab, slab_bytes);
        give_back_slab(slab);
    }
}

void* Arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    // What would leave most of a slab unused, or does not fit into one, has memory of its own.
    if (bytes > slab_bytes / 2) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
    const std::size_t taken = bytes + bytes_between_pieces;
    void* place = next_;
    if (slabs_.empty() || std::align(alignment, taken, place, left_) == nullptr) {
        slabs_.reserve(slabs_.size() + 1);
        slabs_.push_back(take_slab());
        place = slabs_.back();
        left_ = slab_bytes;
        poison(place, slab_bytes);
    }
    next_ = static_cast<std::byte*>(place) + taken;
    left_ -= taken;
    cleanse(place, bytes);
    return place;
}

void Arena::do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) {
    if (bytes > slab_bytes / 2) {
        std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
    } else {
        poison(memory, bytes);
    }
}

}  // namespace sureshot
