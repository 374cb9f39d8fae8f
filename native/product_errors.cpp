#include "product_errors.hpp"

#include <algorithm>
#include <cmath>

namespace sureshot {

QueryErrors query_errors(const ErrorTerms& terms, const QueryNorms& queries) {
    QueryErrors found{std::vector<double>(static_cast<std::size_t>(queries.count)), 0.0};
    for (std::int64_t query = 0; query < queries.count; ++query) {
        const double norm = 1.001 * queries.norms[query];
        const double length = (terms.product_share + terms.slack) * std::max(norm, terms.smallest_size) +
                              1.001 * queries.lost[query];
        double constant = terms.underflow;
        if (terms.distance) constant += terms.slack * (norm * norm) / queries.units[query];
        found.lengths[static_cast<std::size_t>(query)] = length;
        found.constant = std::max(found.constant, constant / length);
    }
    return found;
}

ArmErrors::ArmErrors(const ErrorTerms& terms, double constant, std::int64_t most)
    : terms_(terms),
      constant_(constant),
      offset_(static_cast<std::size_t>(most)),
      fixed_(static_cast<std::size_t>(most)),
      factor_(static_cast<std::size_t>(most)) {}

ScoreErrors ArmErrors::of(const double* squares, const double* scale, std::int64_t count, bool both_signs) {
    if (scale == nullptr) {
        ones_.resize(offset_.size(), 1.0);
        scale = ones_.data();
    }
    for (std::int64_t arm = 0; arm < count; ++arm) {
        const auto at = static_cast<std::size_t>(arm);
        const double norm = std::sqrt(squares[arm] * (1 + terms_.square_share)) + terms_.lost_norm;
        factor_[at] = scale[arm] * (norm + constant_);
        if (!terms_.distance) continue;
        offset_[at] = squares[arm] / -2;
        fixed_[at] = terms_.square_share * (norm * norm) + terms_.lost_norm * terms_.lost_norm;
    }
    return {offset_.data(), scale, fixed_.data(), factor_.data(), count, both_signs};
}

}  // namespace sureshot
