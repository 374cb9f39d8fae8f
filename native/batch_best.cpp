#include "batch_best.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "best_of_each.hpp"
#include "extremes.hpp"
#include "pair_scores.hpp"
#include "rounding.hpp"
#include "shared_scores.hpp"

namespace sureshot {
namespace {

// Scores in double that are computed before the best are chosen: the more queries share them, the less is read.
constexpr std::int64_t scores_at_once = std::int64_t{1} << 21;

// Makes scores, as they are ranked, of the sums of some arms by position, or of all; returns whether they are finite.
bool rank(const BatchQuestion& question, const std::int64_t* positions, std::int64_t count, double* sums) {
    for (std::int64_t at = 0; at < count && question.scale != nullptr; ++at) {
        sums[at] *= question.scale[positions == nullptr ? at : positions[at]];
    }
    if (question.both_signs) std::transform(sums, sums + count, sums, [](double sum) { return std::fabs(sum); });
    return all_finite(sums, count);
}

}  // namespace

bool best_by_products(Team& team, const Operand& operand, const Matrix& matrix, const BatchQuestion& question,
                      Arms arms, const ProductLimits& limits, const BatchBest& out) {
    const auto count = static_cast<std::size_t>(question.count);
    std::vector<double> sizes(count), norms(count), squares(static_cast<std::size_t>(arms.count));
    measure_queries(team, question.queries, question.count, matrix.n_columns, sizes.data(), norms.data());
    const bool moderate = std::all_of(sizes.begin(), sizes.end(), [&](double size) {
        return size == 0 || (size >= limits.smallest_size && size <= limits.largest_size);
    });
    if (!moderate) return false;
    const std::vector<double> lost(count), units(count, 1.0);  // They are multiplied as they are.
    const auto left = product_candidates(team, operand, matrix, arms,
                                         {limits.terms,
                                          {norms.data(), lost.data(), units.data(), question.count},
                                          question.scale,
                                          question.both_signs,
                                          question.k,
                                          limits.most,
                                          limits.rows,
                                          limits.largest_square},
                                         squares.data());
    if (!left) return false;
    for (std::int64_t query = 0; query < question.count; ++query) {
        const auto at = static_cast<std::size_t>(query);
        out.evaluated[query] = left->starts[at + 1] - left->starts[at];
        if (out.evaluated[query] == 0) return false;
    }
    std::vector<std::int64_t> ids(left->arms.size());
    std::transform(left->arms.begin(), left->arms.end(), ids.begin(),
                   [&](std::int64_t position) { return arms.ids[position]; });
    std::vector<double> scores(ids.size());
    pair_scores(team, matrix, question.metric, question.queries, question.count, left->starts.data(), ids.data(),
                scores.data());
    if (!rank(question, left->arms.data(), static_cast<std::int64_t>(scores.size()), scores.data())) return false;
    best_of_each(team, scores.data(), left->arms.data(), left->starts.data(), question.count, question.k,
                 out.positions, out.scores);
    return true;
}

bool best_by_scores(Team& team, const Matrix& matrix, const BatchQuestion& question, Arms arms, const BatchBest& out) {
    const std::int64_t width = matrix.n_columns;
    const std::int64_t together = std::min(std::max<std::int64_t>(scores_at_once / arms.count, 1), question.count);
    std::vector<double> scores(static_cast<std::size_t>(together * arms.count));
    std::vector<std::int64_t> starts(static_cast<std::size_t>(together) + 1);
    for (std::int64_t query = 0; query <= together; ++query) {
        starts[static_cast<std::size_t>(query)] = query * arms.count;
    }
    for (std::int64_t first = 0; first < question.count; first += together) {
        const std::int64_t some = std::min(together, question.count - first);
        shared_scores(team, matrix, question.metric, question.queries + first * width, some, arms, scores.data(), nullptr);
        for (std::int64_t query = 0; query < some; ++query) {
            if (!rank(question, nullptr, arms.count, scores.data() + query * arms.count)) return false;
        }
        best_of_each(team, scores.data(), nullptr, starts.data(), some, question.k, out.positions + first * question.k,
                     out.scores + first * question.k);
    }
    std::fill_n(out.evaluated, question.count, arms.count);
    return true;
}

}  // namespace sureshot
