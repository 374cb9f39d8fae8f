#include "slabs.hpp"

#include <cstddef>
#include <mutex>
#include <new>
#include <vector>

#include "system.hpp"

namespace sureshot {
namespace {

// Slabs are as large as a huge page, which saves hundreds of page faults for each.
// The slabs of finished searches are kept for the next one: the system would clear new ones first, which takes
// longer than to fill them: a seventh of the time of a query that reads little, a fourth of one whose bets take 30 MB.
// As many are kept as the bets of a search may take; larger searches give everything else back when they end.
class SlabCache {
 public:
    SlabCache() { spare_.reserve(most); }
    ~SlabCache() {
        for (Group* slab : spare_) free(slab);
    }

    Group* take() {
        {
            const std::lock_guard lock(lock_);
            if (!spare_.empty()) {
                Group* slab = spare_.back();
                spare_.pop_back();
                return slab;
            }
        }
        void* slab = ::operator new[](slab_bytes, std::align_val_t{slab_bytes});
        ask_for_huge_pages(slab, slab_bytes);
        return static_cast<Group*>(slab);
    }

    void give(Group* slab) noexcept {
        const std::lock_guard lock(lock_);
        if (spare_.size() < most) {
            spare_.push_back(slab);
        } else {
            free(slab);
        }
    }

 private:
    static constexpr std::size_t most = 20;  // 40 MB

    static void free(Group* slab) { ::operator delete[](slab, std::align_val_t{slab_bytes}); }

    std::mutex lock_;
    std::vector<Group*> spare_;
};

SlabCache& slab_cache() {
    static SlabCache cache;
    return cache;
}

}  // namespace

Group* take_slab() { return slab_cache().take(); }
void give_back_slab(Group* slab) noexcept { slab_cache().give(slab); }

}  // namespace sureshot
