#include "rounding.hpp"

#include <cmath>
#include <limits>

namespace sureshot {
namespace {

// The sum of f(at) over [0, count), in several sums side by side: one alone would wait for every addition.
template <class F>
double sum_over(std::int64_t count, const F& f) {
    double sums[lanes] = {};
    std::int64_t at = 0;
    for (; at + lanes <= count; at += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += f(at + lane);
    }
    for (; at < count; ++at) sums[at % lanes] += f(at);
    double sum = 0.0;
    for (const double part : sums) sum += part;
    return sum;
}

template <class F>
double largest_of(std::int64_t count, const F& f) {
    double largest[lanes] = {};
    std::int64_t at = 0;
    for (; at + lanes <= count; at += lanes) {
        for (std::int64_t lane = 0; lane < lanes; ++lane) {
            const double value = f(at + lane);
            largest[lane] = value > largest[lane] ? value : largest[lane];
        }
    }
    for (; at < count; ++at) largest[0] = std::fmax(largest[0], f(at));
    double found = 0.0;
    for (const double value : largest) found = std::fmax(found, value);
    return found;
}

}  // namespace

std::optional<RoundedQuery> rounded(Metric metric, const double* query, std::int64_t count) {
    const double largest = largest_of(count, [&](std::int64_t at) { return std::fabs(query[at]); });
    RoundedQuery found{std::vector<float>(static_cast<std::size_t>(count)), largest, 0.0, 1.0};
    if (metric == Metric::inner_product) {
        if (largest == 0.0) return std::nullopt;
        int exponent;
        std::frexp(largest, &exponent);
        found.unit = std::ldexp(0.5, exponent);
        const double unit = found.unit;
        found.norm = unit * std::sqrt(sum_over(count, [&](std::int64_t at) {
                         const double value = query[at] / unit;
                         return value * value;
                     }));
    } else if (largest > static_cast<double>(std::numeric_limits<float>::max())) {
        return std::nullopt;
    }
    float* const values = found.values.data();
    const double unit = found.unit;
    for (std::int64_t at = 0; at < count; ++at) values[at] = static_cast<float>(query[at] / unit);
    const auto lost = [&](std::int64_t at) { return std::fabs(query[at] / unit - static_cast<double>(values[at])); };
    const double most = largest_of(count, lost);
    if (most == 0.0) return found;
    if (metric == Metric::l1) {
        found.rounding = sum_over(count, lost);
    } else {  // no square of these overflows or underflows
        found.rounding = unit * most * std::sqrt(sum_over(count, [&](std::int64_t at) {
                             const double share = lost(at) / most;
                             return share * share;
                         }));
    }
    return found;
}

}  // namespace sureshot
