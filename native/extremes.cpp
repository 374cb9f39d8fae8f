#include "extremes.hpp"

#include <algorithm>
#include <limits>

#include "isa.hpp"

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

bool all_finite(const float* values, std::int64_t count) { return kernels().finite_floats(values, count); }
bool all_finite(const double* values, std::int64_t count) { return kernels().finite_doubles(values, count); }

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
