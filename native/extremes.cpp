#include "extremes.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace sureshot {

Extremes Extremes::of(const double* values, std::int64_t count) {
    constexpr std::int64_t lanes = 8;  // which the compiler puts side by side
    double smallest[lanes], largest[lanes];
    std::fill_n(smallest, lanes, values[0]);
    std::fill_n(largest, lanes, values[0]);
    bool numbers = true;
    const auto look_at = [&](std::int64_t at, std::int64_t lane) {
        const double value = values[at];
        smallest[lane] = value < smallest[lane] ? value : smallest[lane];
        largest[lane] = value > largest[lane] ? value : largest[lane];
        numbers &= value == value;
    };
    std::int64_t start = 0;
    for (; start + lanes <= count; start += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) look_at(start + lane, lane);
    }
    for (; start < count; ++start) look_at(start, 0);
    if (!numbers) {
        constexpr double none = std::numeric_limits<double>::quiet_NaN();
        return {none, none};
    }
    return {*std::min_element(smallest, smallest + lanes), *std::max_element(largest, largest + lanes)};
}

bool all_finite(const float* values, std::int64_t count) {
    // By the bits of the exponent, which are all set in others: integers are compared side by side, and truth values
    // are not.
    constexpr std::uint32_t exponent = 0x7f800000;
    std::uint32_t found = 0;
    for (std::int64_t at = 0; at < count; ++at) {
        const std::uint32_t bits = std::bit_cast<std::uint32_t>(values[at]);
        found |= (bits & exponent) == exponent ? 1u : 0u;
    }
    return found == 0;
}

}  // namespace sureshot
