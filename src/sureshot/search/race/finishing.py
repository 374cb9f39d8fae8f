"""Several races of the same data end together: what they left is read in one pass for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact, product
from sureshot.search.problem import timed
from sureshot.search.race import choice, policy
from sureshot.search.race.costs import costs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._seed import Rng
    from sureshot._types import Ints
    from sureshot.search.problem import Answer, Problem, Tally
    from sureshot.search.race.race import Race


@dataclass(slots=True)
class Outcome:
    """What a race came to, and the arms that are left to be read to the end."""

    problem: Problem
    tally: Tally
    race: Race | None = None  # None if there was nothing to race for: then everything is left
    left: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def over(self) -> bool:
        """Whether nothing is left to be read."""
        return self.race is not None and len(self.left) == 0


def products_seem_to_cost_less(problem: Problem, rng: Rng, tally: Tally, n_queries: int) -> bool:
    """Predict before a race, from one query, whether so many cost less by a matrix product.

    Where the first rounds of a race cost less than a product and reading everything costs more, a few arms are read.
    """
    rules = policy.DEFAULT
    # By column a race passes over what is zero in its own query: one query tells little of the others.
    if problem.limited or problem.source.coordinate_major or not product.suits(problem, n_queries):
        return False
    multiplied = product.cost_of_query(problem, n_queries)
    if choice.least_cost(problem, rules) >= multiplied:
        return True
    if choice.cost_of_everything(problem) <= multiplied:
        return False
    wanted = choice.Choice(race=True, why="it may cost less than a product", sure=False)
    if not choice.if_possible(problem, wanted).race:
        return False
    return choice.sampled_cost(problem, rng, tally, rules) >= multiplied


def products_cost_less(outcomes: Sequence[Outcome], n_queries: int) -> bool:
    """Return whether so many other queries, and what these left, cost less by a matrix product.

    The others are predicted to cost what these have cost, and what is left of them.
    """
    problem = outcomes[0].problem
    if problem.limited:
        return False
    n_queries += sum(not one.over for one in outcomes)
    if not product.suits(problem, n_queries):
        return False
    each = sum(_cost(one) for one in outcomes) / len(outcomes)
    return product.cost_of_query(problem, n_queries) < each


def _cost(outcome: Outcome) -> float:
    """Return what a race has cost, and what it will cost to read to the end what it left."""
    source, tally = outcome.problem.source, outcome.tally
    costs = costs_of(source.costs, len(outcome.problem.arms))
    left = len(outcome.left) if outcome.race else len(outcome.problem.arms)
    steps = (tally.numbers_read - tally.numbers_scanned) / source.blocks.size
    active = [one.active for one in tally.rounds]
    visits = len(outcome.problem.arms) + sum(active[:-1]) if active else 0
    return (
        steps * costs.step
        + visits * costs.visit
        + len(tally.rounds) * costs.round
        + left * source.blocks.count * costs.rest
    )


def answers(outcomes: Sequence[Outcome], team: Team) -> list[Answer]:
    """Read what is left of some searches of the same data to the end, together, and answer."""
    unfinished = [one for one in outcomes if len(one.left)]
    with timed(*(one.tally for one in unfinished)):
        _finish(unfinished, team)
    plain = [one for one in outcomes if one.race is None]
    exactly = iter(
        exact.search_together([one.problem for one in plain], [one.tally for one in plain], team)
    )
    found: list[Answer] = []
    for one in outcomes:
        with timed(one.tally):
            found.append(one.race.answer() if one.race else next(exactly))
    return found


def _finish(outcomes: Sequence[Outcome], team: Team) -> None:
    """Give each race the exact scores of the arms that it left."""
    races = [(one.race, one.left) for one in outcomes if one.race]
    together = [(one, left) for one, left in races if one.reading.reads_whole_rows()]
    if len(together) > 1:
        positions = np.unique(np.concatenate([left for _, left in together]))
        problem = together[0][0].problem
        problems = [one.problem for one, _ in together]
        sums = exact.sums_of(problems, problem.arms[positions], team)
        for (one, left), its_sums in zip(together, sums, strict=True):
            its_own = its_sums[np.searchsorted(positions, left)]
            one.accept(left, its_own, len(left) * problem.source.n_coordinates)
    for one, left in races:
        if not (len(together) > 1 and one.reading.reads_whole_rows()):
            one.evaluate(left)
        one.end_round()
