// The choice of the k best from scores that are known up to an error.
#include "bindings.hpp"
#include "selection.hpp"

namespace sureshot {
namespace {

template <class Score>
using Scores = nb::ndarray<const Score, nb::ndim<2>, nb::device::cpu>;

template <class Score>
void add(Selection& selection, Team& team, const Scores<Score>& scores, std::int64_t first, const Reals& offset,
         const Reals& scale, const Reals& fixed, const Reals& factor, bool both_signs, const Reals& units,
         const Reals& lengths) {
    const auto queries = static_cast<std::size_t>(selection.queries());
    const std::size_t arms = scores.shape(1);
    if (scores.shape(0) != queries || units.shape(0) != queries || lengths.shape(0) != queries) {
        throw nb::value_error("there must be a row of scores, a unit and a length for each query");
    }
    for (const Reals* values : {&offset, &scale, &fixed, &factor}) {
        if (values->shape(0) != arms) throw nb::value_error("there must be a number for each arm");
    }
    if (arms > 1 && scores.stride(1) != 1) throw nb::value_error("the scores of a query must lie side by side");
    const ScoreErrors errors{offset.data(), scale.data(), fixed.data(), factor.data(),
                             static_cast<std::int64_t>(arms), both_signs};
    const nb::gil_scoped_release release;
    selection.add(team, scores.data(), scores.stride(0), first, errors, units.data(), lengths.data());
}

}  // namespace

void bind_selection(nb::module_& m) {
    nb::class_<Selection> selection(
        m, "Selection", "The arms that can be among the k best, of scores that are known up to an error.");
    selection.def(nb::init<std::int64_t, std::int64_t, std::int64_t>(), "queries"_a, "k"_a, "most"_a);
    const auto add_to = [&](auto function) {
        selection.def("add", function, "team"_a, "scores"_a.noconvert(), "first"_a, nb::kw_only(),
                      "offset"_a.noconvert(), "scale"_a.noconvert(), "fixed"_a.noconvert(), "factor"_a.noconvert(),
                      "both_signs"_a, "units"_a.noconvert(), "lengths"_a.noconvert(),
                      "Take the scores (queries, arms) of the arms from `first` on: each lies within "
                      "unit * fixed + length * factor of scale * (score + unit * offset).");
    };
    add_to(&add<float>);
    add_to(&add<double>);
    selection.def(
        "candidates",
        [](const Selection& self, std::int64_t query) -> nb::object {
            if (self.given_up(query)) return nb::none();
            return nb::cast(array_of(self.candidates(query)));
        },
        "query"_a, "Return the arms that can be among the k best, ascending; None if they are too many.");
}

}  // namespace sureshot
