// Units that divide and multiply without rounding.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace sureshot {

// The largest power of two that is not above the value. 1 for a value that is not positive, not finite, or
// too small to have all its digits.
inline double power_of_two_near(double value) {
    constexpr std::uint64_t exponent = 0x7ff0000000000000;
    const bool normal = value >= std::numeric_limits<double>::min() &&
                        value < std::numeric_limits<double>::infinity();
    return normal ? std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & exponent) : 1.0;
}

}  // namespace sureshot
