// The screen: queries in float32, scores from it, and the arms that it leaves.
#include "bindings.hpp"
#include "candidates.hpp"
#include "exact_best.hpp"
#include "query_norm.hpp"
#include "rounding.hpp"
#include "screening.hpp"

namespace sureshot {
namespace {

const double* data_of(const std::optional<Reals>& values) { return values ? values->data() : nullptr; }

std::int64_t length_of(const Reals& values) { return static_cast<std::int64_t>(values.shape(0)); }

}  // namespace

void bind_screen(nb::module_& m) {
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
        "than SCREEN_ROUNDINGS times, that are added up in double.");

    m.attr("SCREEN_ROUNDINGS") = roundings_in_a_panel;  // of each term in float32, at most

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

    m.def(
        "query_norms",
        [](const std::variant<FloatTable, Table>& queries, Team& team, const RealsOut& norms) {
            std::visit(
                [&](const auto& own) {
                    if (norms.shape(0) != own.shape(0)) throw nb::value_error("there must be a place for each query");
                    const Released released;
                    query_norms(team, own.data(), static_cast<std::int64_t>(own.shape(0)),
                                static_cast<std::int64_t>(own.shape(1)), norms.data());
                },
                queries);
        },
        "queries"_a.noconvert(), "team"_a, "norms"_a.noconvert(),
        "Fill norms with that of each query; no square of it overflows or underflows.");

    m.def(
        "exact_best",
        [](const Data& data, Element element, Metric metric, const FloatRow& query, const Ids& arms, Team& team,
           const std::optional<std::tuple<double, double, double, std::int64_t, double>>& screen, bool absolute, const std::optional<Reals>& scale,
           const std::optional<std::tuple<Reals, double, double, double>>& norms, const IdsOut& best_arms,
           const RealsOut& best_scores) -> std::optional<std::pair<std::int64_t, std::int64_t>> {
            const Matrix matrix = matrix_of(data, element);
            if (static_cast<std::int64_t>(query.shape(0)) != matrix.n_columns) {
                throw nb::value_error("the query is not as long as the rows of the data");
            }
            const std::size_t n_arms = arms.shape(0), k = best_arms.shape(0);
            if (best_scores.shape(0) != k || k > n_arms) throw nb::value_error("there must be a score for each of the best arms");
            if ((scale && scale->shape(0) != n_arms) || (norms && std::get<0>(*norms).shape(0) != n_arms)) {
                throw nb::value_error("there must be a number for each arm");
            }
            const Released released;
            // By column values are multiplied by a query of doubles.
            const std::vector<double> widened(query.data(), query.data() + (coordinate_major(matrix) ? matrix.n_columns : 0));
            const Question question{metric, widened.empty() ? nullptr : widened.data(),
                                    widened.empty() ? query.data() : nullptr, screen ? query.data() : nullptr};
            Uncertain uncertain{.scale = data_of(scale), .absolute = absolute, .unit = 1.0};
            Wanted wanted{};
            wanted.k = static_cast<std::int64_t>(k);
            if (screen) {
                std::tie(uncertain.fixed, uncertain.of_root, uncertain.of_score, wanted.first, wanted.share) = *screen;
            }
            std::vector<double> factors;
            if (norms) {
                const auto& [own, smallest, screened_leeway, evaluated_leeway] = *norms;
                factors.resize(n_arms);
                const double norm = query_norm(query.data(), matrix.n_columns);
                if (!cosine_factors(own.data(), length_of(own), norm, smallest, factors.data())) return std::nullopt;
                uncertain.scale = factors.data();
                uncertain.norms = own.data();
                uncertain.leeway = screened_leeway;
                wanted.norm_leeway = evaluated_leeway;
            }
            wanted.errors = uncertain;
            const Found found =
                exact_best(team, matrix, question, arms_of(arms), wanted, best_arms.data(), best_scores.data());
            if (!found.trusted) return std::nullopt;
            return std::pair{found.screened, found.evaluated};
        },
        "data"_a.noconvert(), "element"_a, "metric"_a, "query"_a.noconvert(), "arms"_a.noconvert(), "team"_a,
        nb::kw_only(), "screen"_a.none(), "absolute"_a, "scale"_a.noconvert().none(),
        "norms"_a.noconvert().none(), "best_arms"_a.noconvert(), "best_scores"_a.noconvert(),
        "Fill best_arms and best_scores with the best arms for a query. With a screen (fixed, of_root, of_score, first and share) "
        "it is what screen_and_evaluate and best find; without, or where too many arms are left, all arms are evaluated. With "
        "norms, the smallest that is allowed, and their leeways in float32 and in double, the scores are cosines. Return "
        "how many arms were screened and how many evaluated; None if a score is no finite number, or a norm too small, "
        "too large or not that of its row.");
}

}  // namespace sureshot
