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

template <class Value>
bool finite(const Value* values, std::int64_t count) {
    Value odd[sums_together] = {};  // becomes NaN with the first value whose difference from itself is
    side_by_side(count, [&](std::int64_t at, std::int64_t lane) { odd[lane] += values[at] - values[at]; });
    bool all = true;
    for (std::int64_t lane = 0; lane < sums_together; ++lane) all &= odd[lane] == 0;
    return all;
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

// The sum of the squared shares query[at] / whole, by halves down to `shares_at_once`, within which as many sums as
// there are lanes grow side by side: in this order the sum of a long query loses few digits, and it is the order in
// which numpy adds up, so that a norm by numpy has the same bits.
constexpr std::int64_t shares_at_once = 128;

template <class Query>
double squared_shares(const Query* query, std::int64_t count, double whole) {
    const auto square = [&](std::int64_t at) {
        const double share = static_cast<double>(query[at]) / whole;
        return share * share;
    };
    if (count > shares_at_once) {
        const std::int64_t half = count / 2 - count / 2 % lanes;
        return squared_shares(query, half, whole) + squared_shares(query + half, count - half, whole);
    }
    double total = 0.0;
    std::int64_t at = 0;
    if (count >= lanes) {
        double sums[lanes] = {};
        for (; at + lanes <= count; at += lanes) {
            SURESHOT_ONE_VECTOR
            for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += square(at + lane);
        }
        total = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    }
    for (; at < count; ++at) total += square(at);
    return total;
}
static_assert(lanes == 8);

}  // namespace

double squared_shares_of_floats(const float* query, std::int64_t count, double whole) noexcept {
    return squared_shares(query, count, whole);
}
double squared_shares_of_doubles(const double* query, std::int64_t count, double whole) noexcept {
    return squared_shares(query, count, whole);
}

QuerySize measure_floats(const float* query, std::int64_t count) noexcept { return measured(query, count); }
QuerySize measure_doubles(const double* query, std::int64_t count) noexcept { return measured(query, count); }

bool finite_floats(const float* values, std::int64_t count) noexcept { return finite(values, count); }
bool finite_doubles(const double* values, std::int64_t count) noexcept { return finite(values, count); }

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
