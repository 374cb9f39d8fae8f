#include "kept_bets.hpp"

#include "slabs.hpp"

namespace sureshot {

void KeptBets::Free::operator()(Group* slab) const noexcept { give_back_slab(slab); }

std::uint32_t KeptBets::reserve(std::int64_t groups) {
    const std::uint32_t first = used_, end = first + static_cast<std::uint32_t>(groups);
    next_.resize(end);
    while ((slabs_.size() << Chains::slab_bits) < end) {
        slabs_.emplace_back(take_slab());
        slab_of_.push_back(slabs_.back().get());
    }
    used_ = end;
    return first;
}

void KeptBets::clear() {
    slabs_.clear();
    slab_of_.clear();
    next_ = {};
    used_ = 0;
}

}  // namespace sureshot
