// Memory for groups of bets, in slabs of the size of a huge page.
#pragma once

#include "bets.hpp"

namespace sureshot {

// A slab with room for 2^Chains::slab_bits groups, with anything in them.
Group* take_slab();
void give_back_slab(Group* slab) noexcept;

}  // namespace sureshot
