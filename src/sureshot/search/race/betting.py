"""Betting elimination: every arm is bet against at the exact score of the k-th best arm known.

The theorem is in ``docs/theory.md``; the race that this loop runs is in `sureshot.search.race.race`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.problem import timed
from sureshot.search.race import policy
from sureshot.search.race.race import Race

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Ints
    from sureshot.search.problem import Answer, Problem, Tally

# Rows shorter than this are read faster than they are raced.
SHORTEST_ROW = 1024

# Where weights are smaller than this, or scores larger, arms are evaluated and not raced.
SMALLEST_WEIGHT = 2.0**-960
LARGEST_SCORE = 2.0**1000


@dataclass(slots=True)
class Outcome:
    """What a race came to, and the arms that are left to be read to the end."""

    problem: Problem
    tally: Tally
    race: Race | None = None  # None if there was nothing to race for: then everything is left
    left: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))


def search(
    problem: Problem,
    rng: np.random.Generator,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Answer:
    """Race the arms until each is dropped or known, or the budget is spent."""
    return answers([race(problem, rng, tally, rules)], problem.team)[0]


def race(
    problem: Problem,
    rng: np.random.Generator,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Outcome:
    """Race the arms until each is dropped or known, or it is better to read the rest to the end."""
    if not worth_racing(problem):
        return Outcome(problem, tally)
    its_race = Race(problem, rng, tally, rules)
    while not its_race.over() and its_race.read_on():
        its_race.suspend_and_drop()
        its_race.evaluate_candidates()
        left = its_race.hopeless_arms()
        if len(left):
            its_race.forget_bets()
            return Outcome(problem, tally, its_race, left)
        its_race.end_round()
    return Outcome(problem, tally, its_race)


def leave_everything(
    problem: Problem,
    rng: np.random.Generator,  # noqa: ARG001 - called like a race
    tally: Tally,
) -> Outcome:
    """Race nothing: every arm is left to be read to the end."""
    return Outcome(problem, tally)


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


def worth_racing(problem: Problem) -> bool:
    """Return whether there is anything to race for, and numbers that float64 can race with."""
    intervals = problem.intervals
    unlimited = problem.budget is None and problem.deadline is None
    paid = problem.source.costs.each_number_is_paid
    short = problem.source.n_coordinates < SHORTEST_ROW and not paid and unlimited
    if short or len(problem.arms) == problem.k or not (intervals.weight > 0).any():
        return False
    # Scores, their squares and quotients must be numbers of float64, too.
    with np.errstate(over="ignore", invalid="ignore"):
        weight = float(intervals.weight.sum())
        if intervals.square_limit is not None:
            score = math.sqrt(weight) * math.sqrt(intervals.square_limit.max())
        elif intervals.estimated:
            score = weight
        else:
            score = intervals.magnitude + weight * float(np.abs(intervals.limit).max())
        return weight > SMALLEST_WEIGHT and score < LARGEST_SCORE
