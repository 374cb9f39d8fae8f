// The kernel that adds up rows for queries of float or double.
#pragma once

#include <type_traits>

#include "isa.hpp"

namespace sureshot {

template <class Query>
auto rows_adder() {
    if constexpr (std::is_same_v<Query, float>) {
        return kernels().add_rows_of_floats;
    } else {
        return kernels().add_rows;
    }
}

}  // namespace sureshot
