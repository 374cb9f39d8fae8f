"""The table of methods: what each of them is, needs and can, and how it spends a budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sureshot.search import bounded_me, exact
from sureshot.search.bandits import (
    exponential_gap,
    lil_ucb,
    lucb,
    median_elimination,
    successive_elimination,
    successive_halving,
    successive_rejects,
)
from sureshot.search.leaders import leaders
from sureshot.search.race import betting
from sureshot.search.race.choice import choose_by_cost, choose_by_sizes
from sureshot.theory import budgets

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._seed import Rng
    from sureshot.search.problem import Answer, Problem, Tally
    from sureshot.search.race.choice import Sizes
    from sureshot.search.race.finishing import Outcome

    Search = Callable[[Problem, Rng, Tally], Answer]
    BatchSearch = Callable[[Problem, Rng, Tally], Outcome]


@dataclass(frozen=True, slots=True)
class Substitute:
    """A search that answers in place of a method's own where it suits the problem better."""

    search: Search
    suits: Callable[[Problem], bool]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to search, and all that the rest of the library must know of it.

    Attributes
    ----------
    name
        What users write.
    search
        Searches one problem.
    budget
        ``"none"``: it takes no budget. ``"optional"``: it stops when a budget is spent and reports the
        epsilon reached. ``"required"``: the budget, in numbers, is its parameter, and it promises
        neither epsilon nor delta.
    fewest_pulls
        Of a required budget: the fewest numbers that so many arms need.
    any_k
        Whether it finds the k best arms, for any k, or the best one only.
    needs_limits
        Whether every reward must have limits of its own. Norms of rows give none.
    single_coordinates
        Whether it pulls single coordinates, and never blocks of them.
    replacement
        Whether it can draw with replacement. It then does so unless the user says otherwise.
    samples
        Whether it may answer without reading everything.
    batch
        What it does for each query of a batch before the queries share the passes over what is left
        to be read. None: the queries are searched one after the other.
    reads_everything
        Whether it answers exactly problems like this one, for every query: then many queries share a
        pass over the data.
    why_everything
        Of data in memory and without limits: if it evaluates every arm of a problem of such sizes, how it went about
        that, for `Work.choice`; else None.
    substitute
        What answers some problems in its place.
    """

    name: str
    search: Search
    budget: Literal["none", "optional", "required"]
    fewest_pulls: Callable[[int], int] | None = None
    any_k: bool = True
    needs_limits: bool = False
    single_coordinates: bool = False
    replacement: bool = False
    samples: bool = True
    batch: BatchSearch | None = None
    reads_everything: Callable[[Problem], bool] = lambda problem: False  # noqa: ARG005
    why_everything: Callable[[Sizes], str | None] = lambda sizes: None  # noqa: ARG005
    substitute: Substitute | None = None

    def search_for(self, problem: Problem) -> Search:
        """Return what searches this problem."""
        if self.substitute is not None and self.substitute.suits(problem):
            return self.substitute.search
        return self.search


def _why_not_raced(sizes: Sizes) -> str | None:
    choice = choose_by_sizes(sizes)
    return None if choice.race else choice.words


def _from_literature(
    name: str,
    search: Search,
    *,
    any_k: bool,
    fewest_pulls: Callable[[int], int] | None = None,
) -> Method:
    """Return the record of a bandit; the budget is its parameter if there is a smallest one."""
    return Method(
        name,
        search,
        budget="optional" if fewest_pulls is None else "required",
        fewest_pulls=fewest_pulls,
        any_k=any_k,
        needs_limits=True,
        single_coordinates=True,
        replacement=True,
    )


# Few arms (`leaders.MOST_ARMS`) with expensive pulls are not raced: where less is enough, the best of
# them are not pulled to the end, and their scores are estimates. `TopK.algorithm` is "leaders" then.
_LEADERS = Substitute(leaders.search, leaders.suits)

_ALL = (
    Method(
        "betting",
        betting.search,
        "optional",
        batch=betting.race,
        reads_everything=lambda problem: not choose_by_cost(problem).race,
        why_everything=_why_not_raced,
        substitute=_LEADERS,
    ),
    Method(
        "exact",
        exact.search,
        "none",
        samples=False,
        reads_everything=lambda problem: True,  # noqa: ARG005
        why_everything=lambda sizes: "",  # noqa: ARG005
    ),
    Method("bounded-me", bounded_me.search, "none", needs_limits=True, single_coordinates=True),
    _from_literature("median-elimination", median_elimination.search, any_k=False),
    _from_literature("successive-elimination", successive_elimination.search, any_k=False),
    _from_literature("lucb", lucb.search, any_k=True),
    _from_literature("lil-ucb", lil_ucb.search, any_k=False),
    _from_literature("exponential-gap", exponential_gap.search, any_k=False),
    _from_literature(
        "successive-halving",
        successive_halving.search,
        any_k=False,
        fewest_pulls=budgets.fewest_pulls_of_halving,
    ),
    _from_literature(
        "successive-rejects",
        successive_rejects.search,
        any_k=True,
        fewest_pulls=budgets.fewest_pulls_of_rejects,
    ),
)

METHODS: dict[str, Method] = {method.name: method for method in _ALL}
