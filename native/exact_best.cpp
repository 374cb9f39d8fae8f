#include "exact_best.hpp"

#include "best_of_each.hpp"
#include "extremes.hpp"

namespace sureshot {

Found exact_best(Team& team, const Matrix& matrix, const Question& question, Arms arms, const Wanted& wanted,
                 std::int64_t* best_arms, double* best_scores) {
    std::int64_t screened = 0;
    Evaluated found{0, true, {}, {}, true};
    if (question.rounded != nullptr) {
        found = screen_and_evaluate(team, matrix, question, arms, wanted);
        screened = found.screened;
    }
    if (found.too_many) found = evaluate_all(team, matrix, question, arms, wanted);
    const auto evaluated = static_cast<std::int64_t>(found.positions.size());
    if (found.trusted) {
        for (std::int64_t& position : found.positions) position = arms.ids[position];
        best(found.scores.data(), found.positions.data(), evaluated, wanted.k, best_arms, best_scores);
    }
    return {screened, evaluated, found.trusted};
}

bool cosine_factors(const double* norms, std::int64_t count, double query_norm, double smallest, double* factors) {
    const Extremes ends = Extremes::of(norms, count);
    const bool within = ends.smallest >= smallest && ends.smallest * query_norm > smallest &&
                        ends.largest * query_norm < 1 / smallest;
    if (!within) return false;
    for (std::int64_t at = 0; at < count; ++at) factors[at] = 1.0 / (norms[at] * query_norm);
    return true;
}

}  // namespace sureshot
