// The screen: queries in float32, scores from it, and the arms that it leaves.
#include "bindings.hpp"
#include "candidates.hpp"
#include "rounding.hpp"
#include "screening.hpp"

namespace sureshot {
namespace {

const double* data_of(const std::optional<Reals>& values) { return values ? values->data() : nullptr; }

std::int64_t length_of(const Reals& values) { return static_cast<std::int64_t>(values.shape(0)); }

}  // namespace

void bind_screen(nb::module_& m) {
    m.attr("FLOAT_ROUNDINGS") = float_roundings;

    m.def(
        "rounded_query",
        [](Metric metric, const Reals& query) -> nb::object {
            auto found = rounded(metric, query.data(), length_of(query));
            if (!found) return nb::none();
            return nb::make_tuple(array_of(std::move(found->values)), found->norm, found->rounding, found->unit);
        },
        "metric"_a, "query"_a.noconvert(),
        "Return a query in float32, its norm, what it loses (its norm, for l1 the sum) and what it was divided by; "
        "None if a distance asks for values that float32 does not have, or the query of an inner product is zero.");

    m.def(
        "norm_if_usual",
        [](const FloatRow& query) { return norm_if_usual(query.data(), static_cast<std::int64_t>(query.shape(0))); },
        "query"_a.noconvert(),
        "Return the norm of a query of float32 that is screened as it is; None if its largest value is far from 1.");

    m.def(
        "screen",
        [](const Dense& dense, const FloatTable& queries, const Ids& arms, Team& team, const TableOut& scores,
           const std::optional<RealsOut>& squares) {
            const Released released;
            screen(team, dense.matrix, dense.metric, queries.data(), static_cast<std::int64_t>(queries.shape(0)),
                   arms_of(arms), scores.data(), squares ? squares->data() : nullptr);
        },
        "dense"_a, "queries"_a.noconvert(), "arms"_a.noconvert(), "team"_a, "scores"_a.noconvert(),
        "squares"_a.noconvert() = nb::none(),
        "Fill scores and squares as row_scores does, but with sums of float32, in which no term is rounded more "
        "than FLOAT_ROUNDINGS times, that are added up in double.");

    m.def(
        "candidates",
        [](const Reals& sums, const std::optional<Reals>& squares, const std::optional<Reals>& scale, bool absolute,
           double fixed, double of_root, double of_score, const Reals& best, std::int64_t k) {
            const Uncertain scores{sums.data(), data_of(squares), data_of(scale), nullptr, 0.0, length_of(sums),
                                   absolute,    1.0,              fixed,          of_root, of_score};
            std::vector<std::int64_t> found;
            {
                const Unlocked unlocked(sums.shape(0));
                Candidates candidates(1, scores.count, k, best.data(), length_of(best));
                candidates.show(0, 0, scores);
                found = candidates.found();
            }
            return array_of(std::move(found));
        },
        "sums"_a.noconvert(), "squares"_a.noconvert().none(), "scale"_a.noconvert().none(), "absolute"_a,
        nb::kw_only(), "fixed"_a, "of_root"_a, "of_score"_a, "best"_a.noconvert(), "k"_a,
        "Return which arms can be among the k best, given the scores of the best so far: their scores are scale * "
        "sums, absolute or not, and each sum is off by at most fixed + of_root * sqrt(square) + of_score * |sum|; "
        "without squares these are |sum|.");

    m.def(
        "screen_and_evaluate",
        [](const Dense& dense, const FloatRow& rounded, const Ids& arms, Team& team,
           const std::optional<Reals>& scale, bool absolute, double unit, double fixed, double of_root,
           double of_score, const Reals& best, std::int64_t k, std::int64_t first, double share,
           const std::optional<Reals>& norms, double screened_leeway, double leeway) {
            const float* const floats = dense.floats();
            const Question question{dense.metric, floats == nullptr ? dense.query() : nullptr, floats, rounded.data()};
            const Uncertain errors{nullptr,  nullptr, data_of(scale), data_of(norms), screened_leeway, 0,
                                   absolute, unit,    fixed,          of_root,        of_score};
            const Wanted wanted{errors, leeway, best.data(), length_of(best), k, first, share};
            Evaluated found;
            {
                const Released released;
                found = screen_and_evaluate(team, dense.matrix, question, arms_of(arms), wanted);
            }
            return nb::make_tuple(found.screened, found.too_many, array_of(std::move(found.positions)),
                                  array_of(std::move(found.scores)), found.trusted);
        },
        "dense"_a, "rounded"_a.noconvert(), "arms"_a.noconvert(), "team"_a, nb::kw_only(),
        "scale"_a.noconvert().none(), "absolute"_a, "unit"_a, "fixed"_a, "of_root"_a, "of_score"_a,
        "best"_a.noconvert(), "k"_a, "first"_a, "share"_a, "norms"_a.noconvert().none(), "screened_leeway"_a,
        "leeway"_a,
        "Return how many arms were screened, whether too many of them are left, the positions of those that can be "
        "among the k best, their scores, and whether these are to be trusted: what screen, candidates and row_scores "
        "find one after the other, times the scale. After `first` arms, and again after four times as many, it ends "
        "with no positions if more than a share of the arms is left: these are too many. With norms, which the rows have up to a leeway, a share of them, arms with "
        "another norm are among those that are returned, and not trusted.");
}

}  // namespace sureshot
