// How large the values of a query are, and the same values in the precision of a matrix product.
#include "kernels.hpp"
#include "layout.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Sums side by side: enough of them not to wait for additions.
constexpr std::int64_t sums_together = 4 * lanes;

double total_of(const double* sums) {
    double parts[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
        parts[lane] = (sums[lane] + sums[lanes + lane]) + (sums[2 * lanes + lane] + sums[3 * lanes + lane]);
    }
    return sum_of_lanes(parts);
}

template <class Value>
Value largest_of(const Value* sizes) {
    Value most = 0;
    for (std::int64_t lane = 0; lane < sums_together; ++lane) most = sizes[lane] > most ? sizes[lane] : most;
    return most;
}

// Calls f(at, lane) for all of [0, count).
template <class F>
inline void side_by_side(std::int64_t count, const F& f) {
    std::int64_t start = 0;
    for (; start + sums_together <= count; start += sums_together) {
        SURESHOT_ONE_VECTOR
        for (std::int64_t lane = 0; lane < sums_together; ++lane) f(start + lane, lane);
    }
    for (; start < count; ++start) f(start, start % sums_together);
}

template <class Query>
QuerySize measured(const Query* query, std::int64_t count) {
    double squares[sums_together] = {};
    Query largest[sums_together] = {};
    side_by_side(count, [&](std::int64_t at, std::int64_t lane) {
        const double value = static_cast<double>(query[at]);
        const Query size = query[at] < 0 ? -query[at] : query[at];
        largest[lane] = size > largest[lane] ? size : largest[lane];
        squares[lane] += value * value;
    });
    return {static_cast<double>(largest_of(largest)), total_of(squares)};
}

template <class Query, class Value>
QueryRounding rounded_to(const Query* query, std::int64_t count, double unit, Value* __restrict values) {
    double squares[sums_together] = {}, losses[sums_together] = {}, largest[sums_together] = {};
    side_by_side(count, [&](std::int64_t at, std::int64_t lane) {
        const double scaled = static_cast<double>(query[at]) * unit;
        const Value value = static_cast<Value>(scaled);
        const double lost = scaled - static_cast<double>(value);
        values[at] = value;
        squares[lane] += scaled * scaled;
        losses[lane] += lost * lost;
        const double size = lost < 0 ? -lost : lost;
        largest[lane] = size > largest[lane] ? size : largest[lane];
    });
    return {total_of(squares), total_of(losses), largest_of(largest)};
}

}  // namespace

QuerySize measure_floats(const float* query, std::int64_t count) noexcept { return measured(query, count); }
QuerySize measure_doubles(const double* query, std::int64_t count) noexcept { return measured(query, count); }

QueryRounding floats_to_floats(const float* query, std::int64_t count, double unit, float* values) noexcept {
    return rounded_to(query, count, unit, values);
}
QueryRounding floats_to_doubles(const float* query, std::int64_t count, double unit, double* values) noexcept {
    return rounded_to(query, count, unit, values);
}
QueryRounding doubles_to_floats(const double* query, std::int64_t count, double unit, float* values) noexcept {
    return rounded_to(query, count, unit, values);
}
QueryRounding doubles_to_doubles(const double* query, std::int64_t count, double unit, double* values) noexcept {
    return rounded_to(query, count, unit, values);
}

}  // namespace sureshot::SURESHOT_ISA
