// The choice of the k best from scores that are known up to an error.
#include "best_of_each.hpp"
#include "bindings.hpp"
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
    const nb::gil_scoped_release release;
    selection.add(team, scores.data(), scores.stride(0), first, errors);
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
        [](const Selection& self) {
            Left left = self.candidates();
            return nb::make_tuple(array_of(std::move(left.arms)), array_of(std::move(left.starts)));
        },
        "Return the arms that can be among the k best, ascending, of one query after the other, and where those "
        "of each query start; none for a query that has too many.");
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
            const nb::gil_scoped_release release;
            best_of_each(team, scores.data(), arms.data(), starts.data(), lists, k, best_arms.data(),
                         best_scores.data());
        },
        "scores"_a.noconvert(), "arms"_a.noconvert(), "starts"_a.noconvert(), "k"_a, "team"_a,
        "best_arms"_a.noconvert(), "best_scores"_a.noconvert(),
        "Fill best_arms and best_scores (lists, k) with the k best of each list, best first, ties by the smaller "
        "arm. List l is from starts[l] to starts[l + 1].");
}

}  // namespace sureshot
