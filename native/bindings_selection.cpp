// The choice of the k best from scores that are known up to an error.
#include <algorithm>
#include <limits>

#include "batch_best.hpp"
#include "best_of_each.hpp"
#include "bindings.hpp"
#include "kernels.hpp"
#include "product_candidates.hpp"
#include "product_errors.hpp"
#include "products.hpp"
#include "rounding.hpp"
#include "selection.hpp"

namespace sureshot {
namespace {

template <class Score>
using Scores = nb::ndarray<const Score, nb::ndim<2>, nb::device::cpu>;

std::vector<double> values_of(const Reals& reals) { return {reals.data(), reals.data() + reals.shape(0)}; }

template <class Score>
void add(Selection& selection, Team& team, const Scores<Score>& scores, std::int64_t first, const Reals& offset,
         const Reals& scale, const Reals& fixed, const Reals& factor, bool both_signs) {
    const std::size_t arms = scores.shape(0);
    if (static_cast<std::int64_t>(scores.shape(1)) != selection.queries()) {
        throw nb::value_error("there must be a score for each query");
    }
    for (const Reals* values : {&offset, &scale, &fixed, &factor}) {
        if (values->shape(0) != arms) throw nb::value_error("there must be a number for each arm");
    }
    if (scores.shape(1) > 1 && scores.stride(1) != 1) {
        throw nb::value_error("the scores of an arm must lie side by side");
    }
    const ScoreErrors errors{offset.data(), scale.data(), fixed.data(), factor.data(),
                             static_cast<std::int64_t>(arms), both_signs};
    const Released released;
    selection.add(team, scores.data(), scores.stride(0), first, errors);
}

template <class Value>
using Values = nb::ndarray<Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Query>
using QueryTable = nb::ndarray<const Query, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Query, class Value>
bool round(const QueryTable<Query>& queries, double most, Team& team, const Values<Value>& values, const RealsOut& units,
           const RealsOut& norms, const RealsOut& lost) {
    const std::size_t count = queries.shape(0);
    if (values.shape(0) != count || values.shape(1) != queries.shape(1)) {
        throw nb::value_error("there must be a place for each value of the queries");
    }
    for (const RealsOut* numbers : {&units, &norms, &lost}) {
        if (numbers->shape(0) != count) throw nb::value_error("there must be a place for each query");
    }
    const Released released;
    return round_queries(team, queries.data(), static_cast<std::int64_t>(count),
                                static_cast<std::int64_t>(queries.shape(1)), most,
                                RoundedTable<Value>{values.data(), units.data(), norms.data(), lost.data()});
}

const double* data_of(const std::optional<Reals>& values) { return values ? values->data() : nullptr; }

QueryNorms query_norms(const Reals& norms, const Reals& lost, const Reals& units) {
    if (lost.shape(0) != norms.shape(0) || units.shape(0) != norms.shape(0)) {
        throw nb::value_error("there must be a number for each query");
    }
    return {norms.data(), lost.data(), units.data(), static_cast<std::int64_t>(norms.shape(0))};
}

// Where the best of several queries are written.
BatchBest batch_best(const IdTableOut& positions, const TableOut& scores, const IdsOut& evaluated, std::size_t queries,
                     std::size_t arms) {
    const std::size_t k = positions.shape(1);
    if (positions.shape(0) != queries || scores.shape(0) != queries || evaluated.shape(0) != queries ||
        scores.shape(1) != k || k > arms) {
        throw nb::value_error("there must be k places for each query, and no more than there are arms");
    }
    return {positions.data(), scores.data(), evaluated.data()};
}

// Queries that an operand borrows live as long as it does.
struct BorrowedOperand {
    BorrowedOperand(FloatTable table, Team& team, std::int64_t n_rows)
        : queries(std::move(table)),
          own(team, queries.data(), static_cast<std::int64_t>(queries.shape(0)),
              static_cast<std::int64_t>(queries.shape(1)), n_rows) {}

    FloatTable queries;
    Operand own;
};

void check_product(const BorrowedOperand& operand, const Matrix& matrix) {
    if (operand.own.width() != matrix.n_columns) {
        throw nb::value_error("a query is not as long as the rows of the data");
    }
    if (matrix.element == Element::float64) throw nb::type_error("float64 has no products in float32");
}

}  // namespace

void bind_selection(nb::module_& m) {
    nb::class_<Selection> selection(
        m, "Selection", "The arms that can be among the k best, of scores that are known up to an error.");
    selection.def(
        "__init__",
        [](Selection* self, const Reals& units, const Reals& lengths, std::int64_t k, std::int64_t most) {
            if (units.shape(0) != lengths.shape(0)) throw nb::value_error("each query has a unit and a length");
            new (self) Selection(values_of(units), values_of(lengths), k, most);
        },
        "units"_a.noconvert(), "lengths"_a.noconvert(), "k"_a, "most"_a);
    const auto add_to = [&](auto function) {
        selection.def("add", function, "team"_a, "scores"_a.noconvert(), "first"_a, nb::kw_only(),
                      "offset"_a.noconvert(), "scale"_a.noconvert(), "fixed"_a.noconvert(), "factor"_a.noconvert(),
                      "both_signs"_a,
                      "Take the scores (arms, queries) of the arms from `first` on: each lies within "
                      "unit * fixed + length * factor of scale * (score + unit * offset), or with both signs, "
                      "which have no offsets, of scale * |score|.");
    };
    add_to(&add<float>);
    add_to(&add<double>);
    selection.def(
        "candidates",
        [](Selection& self, Team& team) {
            Left left;
            {
                const Released released;
                left = self.candidates(team);
            }
            return nb::make_tuple(array_of(std::move(left.arms)), array_of(std::move(left.starts)));
        },
        "team"_a,
        "Return the arms that can be among the k best, ascending, of one query after the other, and where those "
        "of each query start; none for a query that has too many.");
    const auto round_to = [&](auto function) {
        m.def("round_queries", function, "queries"_a.noconvert(), "most"_a, "team"_a, "values"_a.noconvert(),
              "units"_a.noconvert(), "norms"_a.noconvert(), "lost"_a.noconvert(),
              "Fill values with queries times a power of two each, such that the largest is between 1/2 and 1, "
              "units with these powers, norms with those of the queries times their units, and lost with those of "
              "what rounding to the type of the values loses. Return False if a largest value, unless it is 0, is "
              "not between 1 / most and most.");
    };
    round_to(&round<float, float>);
    round_to(&round<float, double>);
    round_to(&round<double, float>);
    round_to(&round<double, double>);
    nb::class_<ErrorTerms>(m, "ErrorTerms", "What the errors of products have in common: see theory/products.py.")
        .def(nb::init<double, double, double, double, double, double, bool>(), nb::kw_only(), "slack"_a,
             "product_share"_a, "underflow"_a, "smallest_size"_a, "square_share"_a, "lost_norm"_a, "distance"_a);
    m.def(
        "product_errors",
        [](const ErrorTerms& terms, const Reals& norms, const Reals& lost, const Reals& units, const Reals& squares,
           const Reals& scale) {
            if (squares.shape(0) != scale.shape(0)) throw nb::value_error("there must be a factor for each arm");
            QueryErrors of_queries = query_errors(terms, query_norms(norms, lost, units));
            const auto arms = static_cast<std::int64_t>(squares.shape(0));
            ArmErrors errors(terms, of_queries.constant, arms);
            const ScoreErrors found = errors.of(squares.data(), scale.data(), arms, false);
            const auto copied = [&](const double* values) {
                return array_of(std::vector<double>(values, values + arms));
            };
            return nb::make_tuple(array_of(std::move(of_queries.lengths)), of_queries.constant, copied(found.offset),
                                  copied(found.fixed), copied(found.factor));
        },
        "terms"_a, "norms"_a.noconvert(), "lost"_a.noconvert(), "units"_a.noconvert(), "squares"_a.noconvert(),
        "scale"_a.noconvert(),
        "Return the lengths and the constant of query_errors, and offset, fixed and factor of arm_errors: those that "
        "Operand.candidates computes with.");
    m.def("queries_together", &queries_together, "count"_a, "width"_a, "n_rows"_a,
          "Return how many of so many queries an operand takes that is multiplied with so many rows.");
    nb::class_<BorrowedOperand>(m, "Operand", "Queries in float32, as products of them with rows are made.")
        .def(nb::init<FloatTable, Team&, std::int64_t>(), "queries"_a.noconvert(), "team"_a, "n_rows"_a,
             nb::call_guard<Released>())
        .def_prop_ro("roundings", [](const BorrowedOperand& operand) { return operand.own.roundings(); },
                     "How often a term of a product is rounded at most.")
        .def(
            "multiply",
            [](const BorrowedOperand& operand, const Dense& dense, const Ids& arms, Team& team,
               const Values<float>& scores, const RealsOut& squares) {
                check_product(operand, dense.matrix);
                if (scores.shape(0) != arms.shape(0) || squares.shape(0) != arms.shape(0) ||
                    static_cast<std::int64_t>(scores.shape(1)) != operand.own.count()) {
                    throw nb::value_error("there must be a place for each arm and query");
                }
                const Released released;
                operand.own.multiply(team, dense.matrix, arms_of(arms), scores.data(), squares.data());
            },
            "dense"_a, "arms"_a.noconvert(), "team"_a, "scores"_a.noconvert(), "squares"_a.noconvert(),
            "Fill scores (arms, queries) with inner products in float32, and squares (arms,) with the squared norms of "
            "the arms.")
        .def(
            "candidates",
            [](const BorrowedOperand& operand, const Dense& dense, const Ids& arms, Team& team, const ErrorTerms& terms,
               const Reals& norms, const Reals& lost, const Reals& units, const std::optional<Reals>& scale, bool both_signs, std::int64_t k, std::int64_t most,
               std::int64_t rows, double largest_square, const RealsOut& squares) -> nb::object {
                check_product(operand, dense.matrix);
                const auto count = static_cast<std::int64_t>(norms.shape(0));
                if (count != operand.own.count()) throw nb::value_error("there must be a norm for each query");
                if (squares.shape(0) != arms.shape(0) || (scale && scale->shape(0) != arms.shape(0))) {
                    throw nb::value_error("there must be a number for each arm");
                }
                if (rows < 1) throw nb::value_error("at least one row is multiplied at a time");
                const ProductQuestion question{terms, query_norms(norms, lost, units), data_of(scale), both_signs, k,
                                               most,  rows,                            largest_square};
                std::optional<Left> left;
                {
                    const Released released;
                    left = product_candidates(team, operand.own, dense.matrix, arms_of(arms), question,
                                              squares.data());
                }
                if (!left) return nb::none();
                return nb::make_tuple(array_of(std::move(left->arms)), array_of(std::move(left->starts)));
            },
            "dense"_a, "arms"_a.noconvert(), "team"_a, nb::kw_only(), "terms"_a, "norms"_a.noconvert(),
            "lost"_a.noconvert(), "units"_a.noconvert(), "scale"_a.noconvert().none(), "both_signs"_a,
            "k"_a, "most"_a, "rows"_a, "largest_square"_a, "squares"_a.noconvert(),
            "Return what Selection.candidates does of products of these arms, so many rows at a time, with the errors "
            "of product_errors, and fill squares; None if a square is not below the largest.")
        .def(
            "best",
            [](const BorrowedOperand& operand, const Data& data, Element element, Metric metric, const Ids& arms,
               Team& team, const ErrorTerms& terms, const std::pair<double, double>& sizes, double largest_square,
               const std::optional<Reals>& scale, bool both_signs, std::int64_t most, std::int64_t rows,
               const IdTableOut& positions, const TableOut& scores, const IdsOut& evaluated) {
                const Matrix matrix = matrix_of(data, element);
                check_product(operand, matrix);
                const auto queries = static_cast<std::size_t>(operand.own.count());
                const BatchBest out = batch_best(positions, scores, evaluated, queries, arms.shape(0));
                if (scale && scale->shape(0) != arms.shape(0)) throw nb::value_error("there must be a number for each arm");
                if (rows < 1) throw nb::value_error("at least one row is multiplied at a time");
                const BatchQuestion question{metric,         operand.queries.data(), operand.own.count(),
                                             data_of(scale), both_signs,             static_cast<std::int64_t>(positions.shape(1))};
                const Released released;
                return best_by_products(team, operand.own, matrix, question, arms_of(arms),
                                        {terms, sizes.first, sizes.second, largest_square, most, rows}, out);
            },
            "data"_a.noconvert(), "element"_a, "metric"_a, "arms"_a.noconvert(), "team"_a, nb::kw_only(), "terms"_a,
            "sizes"_a, "largest_square"_a, "scale"_a.noconvert().none(), "both_signs"_a, "most"_a, "rows"_a,
            "positions"_a.noconvert(), "scores"_a.noconvert(), "evaluated"_a.noconvert(),
            "Fill positions and scores (queries, k) with the best arms of each query, and evaluated with how many of them "
            "were evaluated: what measure_queries, candidates, pair_scores and best_of_each find one after the other. "
            "Return False if the sizes of the queries, the squares of the arms or their scores forbid it, or a query has "
            "too many candidates.");
    m.def(
        "best_by_scores",
        [](const Data& data, Element element, Metric metric, const FloatTable& queries, const Ids& arms, Team& team,
           const std::optional<Reals>& scale, bool both_signs, const IdTableOut& positions, const TableOut& scores,
           const IdsOut& evaluated) {
            const Matrix matrix = matrix_of(data, element);
            if (static_cast<std::int64_t>(queries.shape(1)) != matrix.n_columns) {
                throw nb::value_error("a query is not as long as the rows of the data");
            }
            const BatchBest out = batch_best(positions, scores, evaluated, queries.shape(0), arms.shape(0));
            if (scale && scale->shape(0) != arms.shape(0)) throw nb::value_error("there must be a number for each arm");
            const BatchQuestion question{metric,         queries.data(), static_cast<std::int64_t>(queries.shape(0)),
                                         data_of(scale), both_signs,     static_cast<std::int64_t>(positions.shape(1))};
            const Released released;
            return best_by_scores(team, matrix, question, arms_of(arms), out);
        },
        "data"_a.noconvert(), "element"_a, "metric"_a, "queries"_a.noconvert(), "arms"_a.noconvert(), "team"_a,
        nb::kw_only(), "scale"_a.noconvert().none(), "both_signs"_a, "positions"_a.noconvert(), "scores"_a.noconvert(),
        "evaluated"_a.noconvert(),
        "Fill the same by the score of every arm in double: what row_scores and best_of_rows find. Return False if a score "
        "is not finite.");
    const auto measure = [&]<class Query>(Query) {
        m.def(
            "measure_queries",
            [](const QueryTable<Query>& queries, Team& team, const RealsOut& sizes, const RealsOut& norms) {
                if (sizes.shape(0) != queries.shape(0) || norms.shape(0) != queries.shape(0)) {
                    throw nb::value_error("there must be a place for each query");
                }
                const Released released;
                measure_queries(team, queries.data(), static_cast<std::int64_t>(queries.shape(0)),
                                static_cast<std::int64_t>(queries.shape(1)), sizes.data(), norms.data());
            },
            "queries"_a.noconvert(), "team"_a, "sizes"_a.noconvert(), "norms"_a.noconvert(),
            "Fill sizes with the largest absolute value of each query, and norms with its norm, which is off where "
            "squares overflow or underflow.");
    };
    measure(float{});
    measure(double{});
    m.def(
        "best_of_rows",
        [](const Table& scores, std::int64_t k, Team& team, const IdTableOut& best_arms, const TableOut& best_scores) {
            const auto rows = static_cast<std::int64_t>(scores.shape(0));
            const auto width = static_cast<std::int64_t>(scores.shape(1));
            if (k > width) throw nb::value_error("a row has fewer than k scores");
            for (const auto& [its_rows, its_width] : {std::pair{best_arms.shape(0), best_arms.shape(1)},
                                                      std::pair{best_scores.shape(0), best_scores.shape(1)}}) {
                if (static_cast<std::int64_t>(its_rows) != rows || static_cast<std::int64_t>(its_width) != k) {
                    throw nb::value_error("there must be k places for each row");
                }
            }
            std::vector<std::int64_t> starts;
            for (std::int64_t row = 0; row <= rows; ++row) starts.push_back(row * width);
            const Released released;
            best_of_each(team, scores.data(), nullptr, starts.data(), rows, k, best_arms.data(), best_scores.data());
        },
        "scores"_a.noconvert(), "k"_a, "team"_a, "best_arms"_a.noconvert(), "best_scores"_a.noconvert(),
        "Fill best_arms and best_scores (rows, k) with the columns and the scores of the k best of each row, best "
        "first, ties by the smaller column.");
    m.def(
        "best",
        [](const Reals& scores, const Ids& arms, std::int64_t k) {
            if (scores.shape(0) != arms.shape(0) || k < 0 || static_cast<std::size_t>(k) > scores.shape(0)) {
                throw nb::value_error("there must be a score for each arm, and k of them");
            }
            std::vector<std::int64_t> best_arms(static_cast<std::size_t>(k));
            std::vector<double> best_scores(static_cast<std::size_t>(k));
            {
                const Unlocked unlocked(scores.shape(0));
                best(scores.data(), arms.data(), static_cast<std::int64_t>(scores.shape(0)), k, best_arms.data(),
                     best_scores.data());
            }
            return nb::make_tuple(array_of(std::move(best_arms)), array_of(std::move(best_scores)));
        },
        "scores"_a.noconvert(), "arms"_a.noconvert(), "k"_a,
        "Return the k best arms, best first, ties by the smaller arm, and their scores.");
    m.def(
        "best_of_each",
        [](const Reals& scores, const Ids& arms, const Ids& starts, std::int64_t k, Team& team,
           const IdTableOut& best_arms, const TableOut& best_scores) {
            const auto lists = static_cast<std::int64_t>(best_arms.shape(0));
            if (static_cast<std::int64_t>(starts.shape(0)) != lists + 1) {
                throw nb::value_error("each list must have a start, and the last one an end");
            }
            for (std::int64_t list = 0; list < lists; ++list) {
                if (starts(list + 1) - starts(list) < k) throw nb::value_error("a list has fewer than k scores");
            }
            if (starts(lists) > static_cast<std::int64_t>(scores.shape(0)) || scores.shape(0) != arms.shape(0)) {
                throw nb::value_error("there must be a score and an arm for each place of the lists");
            }
            const Released released;
            best_of_each(team, scores.data(), arms.data(), starts.data(), lists, k, best_arms.data(),
                         best_scores.data());
        },
        "scores"_a.noconvert(), "arms"_a.noconvert(), "starts"_a.noconvert(), "k"_a, "team"_a,
        "best_arms"_a.noconvert(), "best_scores"_a.noconvert(),
        "Fill best_arms and best_scores (lists, k) with the k best of each list, best first, ties by the smaller "
        "arm. List l is from starts[l] to starts[l + 1].");
}

}  // namespace sureshot
