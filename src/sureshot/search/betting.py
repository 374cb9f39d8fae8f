"""Betting elimination: every arm is bet against at the exact score of the k-th best arm known.

The theorem is in ``docs/theory.md``; the race that this loop runs is in `sureshot.search.race`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact, policy
from sureshot.search.race import Race

if TYPE_CHECKING:
    from sureshot.search.problem import Answer, Problem, Tally

# Rows shorter than this are read faster than they are raced.
SHORTEST_ROW = 1024


def search(
    problem: Problem,
    rng: np.random.Generator,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Answer:
    """Race the arms until each is dropped or known, or the budget is spent."""
    if not worth_racing(problem):
        return exact.search(problem, rng, tally)
    race = Race(problem, rng, tally, rules)
    while not race.over() and race.read_on():
        race.suspend_and_drop()
        race.evaluate_candidates()
        race.finish_if_hopeless()
        race.end_round()
    return race.answer()


def worth_racing(problem: Problem) -> bool:
    """Return whether there is anything to race for, and numbers that float64 can race with."""
    intervals = problem.intervals
    unlimited = problem.budget is None and problem.deadline is None
    short = problem.source.n_coordinates < SHORTEST_ROW and problem.cheap_pulls and unlimited
    if short or len(problem.arms) == problem.k or not (intervals.weight > 0).any():
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        magnitude = np.abs(intervals.centre).sum() + intervals.weight.sum()
        return bool(np.isfinite(4 * magnitude))
