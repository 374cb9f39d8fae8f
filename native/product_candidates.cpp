#include "product_candidates.hpp"

#include <algorithm>

#include "arena.hpp"

namespace sureshot {

std::optional<Left> product_candidates(Team& team, const Operand& operand, const Matrix& matrix, Arms arms,
                                       const ProductQuestion& question, double* squares) {
    const QueryNorms& queries = question.queries;
    const std::int64_t rows = std::min(question.rows, arms.count);
    QueryErrors errors = query_errors(question.terms, queries);
    ArmErrors of_arms(question.terms, errors.constant, rows);
    Selection selection({queries.units, queries.units + queries.count}, std::move(errors.lengths), question.k,
                        question.most);
    const Room<float> scores(rows * queries.count);
    for (std::int64_t first = 0; first < arms.count; first += rows) {
        const Arms some{arms.ids + first, std::min(rows, arms.count - first)};
        double* const own = squares + first;
        operand.multiply(team, matrix, some, scores.data(), own);
        const bool moderate =
            std::all_of(own, own + some.count, [&](double square) { return square < question.largest_square; });
        if (!moderate) return std::nullopt;  // or one is not a number
        const double* const scale = question.scale == nullptr ? nullptr : question.scale + first;
        selection.add(team, scores.data(), queries.count, first,
                      of_arms.of(own, scale, some.count, question.both_signs));
    }
    return selection.candidates(team);
}

}  // namespace sureshot
