// Rows that are added up in double for several queries at once.
#include "kernels.hpp"
#include "layout.hpp"
#include "rewards.hpp"
#include "widen.hpp"

namespace sureshot::SURESHOT_ISA {
namespace {

// Rows and queries whose lanes are in registers together: the more of both, the fewer values are loaded and widened for
// each product.
constexpr std::int64_t registers_of_lanes = lanes / register_lanes;
constexpr std::int64_t most_rows_at_once = registers_of_lanes == 1 ? 5 : registers_of_lanes == 2 ? 3 : 2;
constexpr std::int64_t queries_at_once = registers_of_lanes == 1 ? 4 : registers_of_lanes == 2 ? 2 : 1;

// Some columns of a tile of rows and queries, and the sums that they are added to.
struct Tile {
    const double* queries;
    std::int64_t query_stride;
    std::int64_t columns;
    double* sums;  // of the first row and query
    std::int64_t sums_stride;  // from one query to the next
    std::int64_t ahead;
};

// `exact`: products of values and queries are numbers of float64. The registers are variables of their own: as lanes, which
// are several registers with AVX2, GCC keeps them in memory.
template <class Value, class Reward, bool exact, std::int64_t n_rows, std::int64_t n_queries>
SURESHOT_ALONE void add_tile(const Value* const* rows, const Tile& tile) {
    const Value* own[n_rows];
    const double* queries[n_queries];
    for (std::int64_t r = 0; r < n_rows; ++r) own[r] = rows[r];
    for (std::int64_t q = 0; q < n_queries; ++q) queries[q] = tile.queries + q * tile.query_stride;
    Register sums[n_rows][n_queries][registers_of_lanes];
    const auto each_register = [&](const auto& f) {
        SURESHOT_UNROLLED
        for (std::int64_t r = 0; r < n_rows; ++r) {
            SURESHOT_UNROLLED
            for (std::int64_t q = 0; q < n_queries; ++q) {
                SURESHOT_UNROLLED
                for (std::int64_t part = 0; part < registers_of_lanes; ++part) {
                    f(tile.sums + q * tile.sums_stride + r * lanes + part * register_lanes, sums[r][q][part]);
                }
            }
        }
    };
    each_register([](const double* out, Register& sum) { load(out, sum); });
    const auto add = [&](std::int64_t start) {
        SURESHOT_UNROLLED
        for (std::int64_t part = 0; part < registers_of_lanes; ++part) {
            const std::int64_t at = start + part * register_lanes;
            Register asked[n_queries];
            SURESHOT_UNROLLED
            for (std::int64_t q = 0; q < n_queries; ++q) load(queries[q] + at, asked[q]);
            SURESHOT_UNROLLED
            for (std::int64_t r = 0; r < n_rows; ++r) {
                if (part == 0) fetch_ahead(own[r] + start + tile.ahead);
                Register values;
                load(own[r] + at, values);
                SURESHOT_UNROLLED
                for (std::int64_t q = 0; q < n_queries; ++q) {
                    if constexpr (exact) {
                        sums[r][q][part] = fused(values, asked[q], sums[r][q][part]);
                    } else {
                        sums[r][q][part] += Reward::reward(values, asked[q]);
                    }
                }
            }
        }
    };
    std::int64_t start = 0;
    for (; start + lanes <= tile.columns; start += lanes) add(start);
    const std::int64_t rest = tile.columns - start;
    // The last columns with zeros behind them, whose rewards are zeros: they change no sum, not even the sign of a zero.
    Value last_of_rows[n_rows][lanes] = {};
    double last_of_queries[n_queries][lanes] = {};
    if (rest > 0) {
        for (std::int64_t r = 0; r < n_rows; ++r) {
            for (std::int64_t j = 0; j < rest; ++j) last_of_rows[r][j] = own[r][start + j];
            own[r] = last_of_rows[r];
        }
        for (std::int64_t q = 0; q < n_queries; ++q) {
            for (std::int64_t j = 0; j < rest; ++j) last_of_queries[q][j] = queries[q][start + j];
            queries[q] = last_of_queries[q];
        }
        add(0);
    }
    each_register([](double* out, const Register& sum) { copy_bytes(out, &sum, sizeof(sum)); });
}

template <class Reward, bool floats, std::int64_t n_rows>
void add_some_rows(const Matrix& matrix, const SharedQueries& queries, const std::int64_t* ids, std::int64_t n_arms,
                   std::int64_t begin, std::int64_t end, double* sums) {
    const std::int64_t sums_stride = n_arms * lanes;
    with_row_values<n_rows, false>(
        matrix, ids, begin, end, [&]<class Value>(const Value* const* rows, std::int64_t j, std::int64_t count) {
            constexpr bool exact = floats && sizeof(Value) < sizeof(double);
            Tile tile{queries.values + j - begin, queries.stride, count, sums, sums_stride, queries.ahead};
            const auto add = [&]<std::int64_t n_queries>() {
                add_tile<Value, Reward, exact, n_rows, n_queries>(rows, tile);
                tile.queries += n_queries * queries.stride;
                tile.sums += n_queries * sums_stride;
            };
            std::int64_t left = queries.count;
            for (; left >= queries_at_once; left -= queries_at_once) add.template operator()<queries_at_once>();
            for (; left > 0; --left) add.template operator()<1>();
        });
}

// Calls f.template operator()<number>().
template <std::int64_t most, class F>
void by_number(std::int64_t number, const F& f) {
    if constexpr (most > 1) {
        if (number < most) return by_number<most - 1>(number, f);
    }
    f.template operator()<most>();
}

}  // namespace

void add_shared_rows(const Matrix& matrix, Metric metric, const SharedQueries& queries, Arms arms, std::int64_t begin,
                     std::int64_t end, double* sums) noexcept {
    const auto add_all = [&]<class Reward, bool floats>() {
        // As many rows together as can be, and about as many each time.
        for (std::int64_t arm = 0, some; arm < arms.count; arm += some) {
            const std::int64_t left = arms.count - arm, times = (left + most_rows_at_once - 1) / most_rows_at_once;
            some = (left + times - 1) / times;
            const auto add = [&]<std::int64_t n_rows>() {
                add_some_rows<Reward, floats, n_rows>(matrix, queries, arms.ids + arm, arms.count, begin, end,
                                                      sums + arm * lanes);
            };
            by_number<most_rows_at_once>(some, add);
        }
    };
    if (metric == Metric::inner_product && queries.floats) return add_all.template operator()<InnerProduct, true>();
    with_reward(metric, [&]<class Reward>() { add_all.template operator()<Reward, false>(); });
}

}  // namespace sureshot::SURESHOT_ISA
