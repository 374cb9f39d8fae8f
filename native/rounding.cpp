#include "rounding.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>

#include "isa.hpp"

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

// Sums of squares below this may lack some of them.
constexpr double smallest_square = 0x1p-900;

// Products with queries of such values overflow float32 only where those with a query of ones nearly do.
constexpr double largest_usual = 0x1p10;

}  // namespace

std::optional<RoundedQuery> rounded(Metric metric, const double* query, std::int64_t count) {
    const double largest = kernels().measure_doubles(query, count).largest;
    // The unit is a power of two, and the query was scaled to a range in which its inverse is a number.
    double unit = 1.0;
    if (metric == Metric::inner_product) {
        if (largest == 0.0) return std::nullopt;
        int exponent;
        std::frexp(largest, &exponent);
        unit = std::ldexp(0.5, exponent);
    } else if (largest > static_cast<double>(std::numeric_limits<float>::max())) {
        return std::nullopt;
    }
    RoundedQuery found{std::vector<float>(static_cast<std::size_t>(count)), largest, 0.0, unit};
    float* const values = found.values.data();
    const QueryRounding rounding = kernels().doubles_to_floats(query, count, 1 / unit, values);
    if (metric == Metric::inner_product) found.norm = unit * std::sqrt(rounding.square);
    const double most = rounding.largest_loss;
    if (most == 0.0) return found;
    const auto lost = [&](std::int64_t at) { return std::fabs(query[at] / unit - static_cast<double>(values[at])); };
    if (metric == Metric::l1) {
        found.rounding = sum_over(count, lost);
    } else if (rounding.loss > smallest_square) {
        found.rounding = unit * std::sqrt(rounding.loss);
    } else {  // no square of these underflows
        found.rounding = unit * most * std::sqrt(sum_over(count, [&](std::int64_t at) {
                             const double share = lost(at) / most;
                             return share * share;
                         }));
    }
    return found;
}

std::optional<double> norm_if_usual(const float* query, std::int64_t count) {
    const QuerySize size = kernels().measure_floats(query, count);
    if (!(size.largest > 1 / largest_usual && size.largest < largest_usual)) return std::nullopt;
    return std::sqrt(size.square);
}

namespace {

// The kernel for these types.
template <class Query>
MeasureQuery<Query>* measuring() {
    if constexpr (std::is_same_v<Query, float>) {
        return kernels().measure_floats;
    } else {
        return kernels().measure_doubles;
    }
}

template <class Query, class Value>
RoundQuery<Query, Value>* rounding() {
    constexpr bool from_floats = std::is_same_v<Query, float>, to_floats = std::is_same_v<Value, float>;
    if constexpr (from_floats && to_floats) {
        return kernels().floats_to_floats;
    } else if constexpr (from_floats) {
        return kernels().floats_to_doubles;
    } else if constexpr (to_floats) {
        return kernels().doubles_to_floats;
    } else {
        return kernels().doubles_to_doubles;
    }
}

}  // namespace

template <class Query, class Value>
bool round_queries(Team& team, const Query* queries, std::int64_t n_queries, std::int64_t width, double most,
                   const RoundedTable<Value>& out) {
    const auto measure = measuring<Query>();
    const auto round = rounding<Query, Value>();
    std::atomic<bool> possible{true};
    team.run(n_queries, width, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t q = begin; q < end && possible.load(std::memory_order_relaxed); ++q) {
            const Query* const query = queries + q * width;
            const double size = measure(query, width).largest;
            if (size != 0.0 && !(size > 1.0 / most && size < most)) {
                possible.store(false, std::memory_order_relaxed);
                return;
            }
            int exponent = 0;
            if (size != 0.0) std::frexp(size, &exponent);
            const double unit = std::ldexp(1.0, -exponent);
            const QueryRounding found = round(query, width, unit, out.values + q * width);
            out.units[q] = unit;
            out.norms[q] = std::sqrt(found.square);
            out.lost[q] = std::sqrt(found.loss);
        }
    });
    return possible.load();
}

template bool round_queries(Team&, const float*, std::int64_t, std::int64_t, double, const RoundedTable<float>&);
template bool round_queries(Team&, const float*, std::int64_t, std::int64_t, double, const RoundedTable<double>&);
template bool round_queries(Team&, const double*, std::int64_t, std::int64_t, double, const RoundedTable<float>&);
template bool round_queries(Team&, const double*, std::int64_t, std::int64_t, double, const RoundedTable<double>&);

template <class Query>
void measure_queries(Team& team, const Query* queries, std::int64_t n_queries, std::int64_t width, double* sizes,
                     double* norms) {
    const auto measure = measuring<Query>();
    team.run(n_queries, width, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t q = begin; q < end; ++q) {
            const QuerySize found = measure(queries + q * width, width);
            sizes[q] = found.largest;
            norms[q] = std::sqrt(found.square);
        }
    });
}

template void measure_queries(Team&, const float*, std::int64_t, std::int64_t, double*, double*);
template void measure_queries(Team&, const double*, std::int64_t, std::int64_t, double*, double*);

}  // namespace sureshot
