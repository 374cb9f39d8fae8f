// Memory for groups of bets and for what is kept of the arms, in slabs of the size of a huge page.
#pragma once

#include <cstddef>

#include "bets.hpp"

namespace sureshot {

constexpr std::size_t slab_bytes = sizeof(Group) << Chains::slab_bits;

// A slab with room for 2^Chains::slab_bits groups, with anything in them.
Group* take_slab();
void give_back_slab(Group* slab) noexcept;

}  // namespace sureshot
