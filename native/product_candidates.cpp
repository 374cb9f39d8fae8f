#include "product_candidates.hpp"

#include <algorithm>
#include <memory>

namespace sureshot {
namespace {

constexpr std::size_t line_bytes = 64;

}  // namespace

std::optional<Left> product_candidates(Team& team, const Operand& operand, const Matrix& matrix, Arms arms,
                                       const ProductQuestion& question, double* squares) {
    const QueryNorms& queries = question.queries;
    const std::int64_t rows = std::min(question.rows, arms.count);
    QueryErrors errors = query_errors(question.terms, queries);
    ArmErrors of_arms(question.terms, errors.constant, rows);
    Selection selection({queries.units, queries.units + queries.count}, std::move(errors.lengths), question.k,
                        question.most);
    Arena room;
    const auto bytes = static_cast<std::size_t>(rows * queries.count) * sizeof(float);
    const auto freed = [&](float* memory) { room.deallocate(memory, bytes, line_bytes); };
    const std::unique_ptr<float[], decltype(freed)> scores(static_cast<float*>(room.allocate(bytes, line_bytes)),
                                                           freed);
    for (std::int64_t first = 0; first < arms.count; first += rows) {
        const Arms some{arms.ids + first, std::min(rows, arms.count - first)};
        double* const own = squares + first;
        operand.multiply(team, matrix, some, scores.get(), own);
        const bool moderate =
            std::all_of(own, own + some.count, [&](double square) { return square < question.largest_square; });
        if (!moderate) return std::nullopt;  // or one is not a number
        const double* const scale = question.scale == nullptr ? nullptr : question.scale + first;
        selection.add(team, scores.get(), queries.count, first,
                      of_arms.of(own, scale, some.count, question.both_signs));
    }
    return selection.candidates(team);
}

}  // namespace sureshot
