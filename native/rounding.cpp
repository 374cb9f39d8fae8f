#include "rounding.hpp"

#include <atomic>
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

template <class Value>
bool round_queries(Team& team, const double* queries, std::int64_t n_queries, std::int64_t width, double most,
                   const RoundedTable<Value>& out) {
    std::atomic<bool> possible{true};
    team.run(n_queries, width, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t q = begin; q < end && possible.load(std::memory_order_relaxed); ++q) {
            const double* const query = queries + q * width;
            Value* const values = out.values + q * width;
            const double size = largest_of(width, [&](std::int64_t at) { return std::fabs(query[at]); });
            if (size != 0.0 && !(size > 1.0 / most && size < most)) {
                possible.store(false, std::memory_order_relaxed);
                return;
            }
            int exponent = 0;
            if (size != 0.0) std::frexp(size, &exponent);
            const double unit = std::ldexp(1.0, -exponent);
            double squares[lanes] = {}, losses[lanes] = {};
            const auto round = [&](std::int64_t at, std::int64_t lane) {
                const double scaled = query[at] * unit;
                const Value value = static_cast<Value>(scaled);
                const double lost = scaled - static_cast<double>(value);
                values[at] = value;
                squares[lane] += scaled * scaled;
                losses[lane] += lost * lost;
            };
            std::int64_t at = 0;
            for (; at + lanes <= width; at += lanes) {
                for (std::int64_t lane = 0; lane < lanes; ++lane) round(at + lane, lane);
            }
            for (; at < width; ++at) round(at, at % lanes);
            double square = 0.0, loss = 0.0;
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                square += squares[lane];
                loss += losses[lane];
            }
            out.units[q] = unit;
            out.norms[q] = std::sqrt(square);
            out.lost[q] = std::sqrt(loss);
        }
    });
    return possible.load();
}

template bool round_queries(Team&, const double*, std::int64_t, std::int64_t, double, const RoundedTable<float>&);
template bool round_queries(Team&, const double*, std::int64_t, std::int64_t, double, const RoundedTable<double>&);

void sizes_of(Team& team, const double* queries, std::int64_t n_queries, std::int64_t width, double* sizes) {
    team.run(n_queries, width, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t q = begin; q < end; ++q) {
            const double* const query = queries + q * width;
            sizes[q] = largest_of(width, [&](std::int64_t at) { return std::fabs(query[at]); });
        }
    });
}

}  // namespace sureshot
