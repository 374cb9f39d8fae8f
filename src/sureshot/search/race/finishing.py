"""Several races of the same data end together: what they left is read in one pass for all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact, product, screen
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
    """What a race came to: an answer, or arms that are left to be read to the end.

    Without either there was nothing to race for, and everything is left. A race that is over is not kept: the next
    one takes its memory.
    """

    problem: Problem
    tally: Tally
    answer: Answer | None = None
    race: Race | None = None
    left: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    @property
    def arms_left(self) -> int:
        """How many arms are left to be read to the end."""
        if self.answer is not None:
            return 0
        return len(self.left) if self.race else len(self.problem.arms)


def one_pass_seems_to_cost_less(problem: Problem, rng: Rng, tally: Tally, n_queries: int) -> bool:
    """Predict before a race, from one query, whether so many cost less by a matrix product, or by a pass that they share.

    Where the first rounds of a race cost less than a product and reading everything costs more, a few arms are read. But
    of a race in which arms wait for others that have larger norms a few arms tell nothing.
    """
    rules = policy.DEFAULT
    # By column a race passes over what is zero in its own query: one query tells little of the others.
    if problem.limited or problem.source.coordinate_major:
        return False
    together = product.cost_together(problem, n_queries)
    if together == math.inf:
        return False
    sizes = choice.Sizes.of(problem)
    fewest = math.ceil(rules.beginners * len(problem.arms))
    if choice.least_cost(sizes, rules, fewest) >= together:
        return True
    if choice.cost_of_everything(sizes) <= together:
        return False
    wanted = choice.Choice(race=True, why="it may cost less than a product", sure=False)
    if not choice.if_possible(problem, wanted).race or _some_wait(problem, rules):
        return False
    return (
        choice.least_cost(sizes, rules) >= together
        or choice.sampled_cost(problem, rng, tally, rules) >= together
    )


def _some_wait(problem: Problem, rules: policy.Policy) -> bool:
    """Return whether some arms are not read before others have set a threshold."""
    limits, length = problem.score_limits, problem.source.blocks.count
    costs = costs_of(problem.source.costs, len(problem.arms))
    return (
        limits is not None
        and policy.limit_to_begin(rules, costs, limits, problem.k, length) is not None
    )


def one_pass_costs_less(outcomes: Sequence[Outcome], n_queries: int) -> bool:
    """Return whether so many other queries, and what these left, cost less by a matrix product, or by a pass that they share.

    The others are predicted to cost what these have cost, and what is left of them.
    """
    problem = outcomes[0].problem
    if problem.limited:
        return False
    n_queries += sum(one.answer is None for one in outcomes)
    each = sum(_cost(one) for one in outcomes) / len(outcomes)
    return product.cost_together(problem, n_queries) < each


def _cost(outcome: Outcome) -> float:
    """Return what a race has cost, and what it will cost to read to the end what it left."""
    source, tally = outcome.problem.source, outcome.tally
    costs = costs_of(source.costs, len(outcome.problem.arms))
    steps = (tally.numbers_read - tally.numbers_scanned) / source.blocks.size
    return (
        steps * costs.step
        + tally.visits * costs.visit
        + len(tally.rounds) * costs.round
        + outcome.arms_left * source.blocks.count * costs.rest
    )


def answers(outcomes: Sequence[Outcome], team: Team) -> list[Answer]:
    """Read what is left of some searches of the same data to the end, together, and answer."""
    unfinished = [one for one in outcomes if one.race]
    with timed(*(one.tally for one in unfinished)):
        _finish(unfinished, team)
    plain = [one for one in outcomes if one.answer is None and one.race is None]
    exactly = iter(
        exact.search_together([one.problem for one in plain], [one.tally for one in plain], team)
    )
    found: list[Answer] = []
    for one in outcomes:
        with timed(one.tally):
            raced = one.race.answer() if one.race else one.answer
            found.append(raced or next(exactly))
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
        if len(together) > 1 and one.reading.reads_whole_rows():
            one.end_round()
        else:
            read_to_the_end(one, left)


def read_to_the_end(race: Race, left: Ints) -> None:
    """Find out which of the arms that a race left are among the k best, or that none of them is.

    First in float32, where that is faster: the scores that are known say what the others must reach.
    """
    problem = race.problem
    if (
        race.reading.reads_whole_rows()
        and not problem.limited
        and screen.pays([problem], len(left))
    ):
        best = race.best()
        searched = screen.search(
            problem, race.tally, problem.team, exact.arms_per_round(problem.source), best, left
        )
        race.accept_screened(left[:searched], best)
        left = left[searched:]
    if len(left):
        race.evaluate(left)
        race.end_round()
