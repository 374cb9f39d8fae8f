#include "extremes.hpp"

#include <algorithm>
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

template <class Value>
bool all_finite(const Value* values, std::int64_t count) {
    constexpr std::int64_t lanes = 16;
    Value odd[lanes] = {};  // becomes NaN with the first value whose difference from itself is
    std::int64_t start = 0;
    for (; start + lanes <= count; start += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) odd[lane] += values[start + lane] - values[start + lane];
    }
    for (; start < count; ++start) odd[0] += values[start] - values[start];
    return std::all_of(odd, odd + lanes, [](Value value) { return value == 0; });
}

template bool all_finite(const float*, std::int64_t);
template bool all_finite(const double*, std::int64_t);

template <class Value>
bool all_equal(const Value* values, const double* others, std::int64_t count) {
    constexpr std::int64_t lanes = 16;
    std::int64_t start = 0;
    for (; start + lanes <= count; start += lanes) {
        bool same = true;
        for (std::int64_t at = start; at < start + lanes; ++at) same &= static_cast<double>(values[at]) == others[at];
        if (!same) return false;
    }
    for (; start < count; ++start) {
        if (static_cast<double>(values[start]) != others[start]) return false;
    }
    return true;
}

template bool all_equal(const float*, const double*, std::int64_t);
template bool all_equal(const double*, const double*, std::int64_t);

}  // namespace sureshot
