#include "query_norm.hpp"

#include <cmath>

#include "isa.hpp"

namespace sureshot {

double query_norm(const float* query, std::int64_t count) {
    const double largest = kernels().measure_floats(query, count).largest;
    return largest == 0.0 ? 0.0 : largest * std::sqrt(kernels().squared_shares_of_floats(query, count, largest));
}

double query_norm(const double* query, std::int64_t count) {
    const double largest = kernels().measure_doubles(query, count).largest;
    return largest == 0.0 ? 0.0 : largest * std::sqrt(kernels().squared_shares_of_doubles(query, count, largest));
}

template <class Query>
void query_norms(Team& team, const Query* queries, std::int64_t n_queries, std::int64_t width, double* norms) {
    team.run(n_queries, width, [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t q = begin; q < end; ++q) norms[q] = query_norm(queries + q * width, width);
    });
}

template void query_norms(Team&, const float*, std::int64_t, std::int64_t, double*);
template void query_norms(Team&, const double*, std::int64_t, std::int64_t, double*);

}  // namespace sureshot
