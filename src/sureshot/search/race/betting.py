"""Betting elimination: every arm is bet against at the exact score of the k-th best arm known.

The theorem is in ``docs/theory.md``; the race that this loop runs is in `sureshot.search.race.race`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.race import policy
from sureshot.search.race.finishing import Outcome
from sureshot.search.race.race import Race
from sureshot.search.race.shortlist import Shortlist

if TYPE_CHECKING:
    from sureshot.search.problem import Answer, Problem, Tally

# Where weights are smaller than this, or scores larger, arms are evaluated and not raced.
SMALLEST_WEIGHT = 2.0**-960
LARGEST_SCORE = 2.0**1000


def search(
    problem: Problem,
    rng: np.random.Generator,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Answer:
    """Race the arms until each is dropped or known, or the budget is spent."""
    outcome = race(problem, rng, tally, rules)
    if outcome.race is None:
        return exact.search(problem, rng, tally)
    if len(outcome.left):
        outcome.race.evaluate(outcome.left)
        outcome.race.end_round()
    return outcome.race.answer()


def race(
    problem: Problem,
    rng: np.random.Generator,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Outcome:
    """Race the arms until each is dropped or known, or it is better to read the rest to the end."""
    if not worth_racing(problem):
        return Outcome(problem, tally)
    current = Race(problem, rng, tally, rules)
    while not current.over() and current.read_on():
        current.suspend_and_drop()
        current.evaluate_candidates()
        left = current.arms_to_finish()
        if len(left):
            current.forget_bets()
            return Outcome(problem, tally, current, left)
        current.end_round()
    if not current.over():
        Shortlist(current, rng).evaluate_best()
    return Outcome(problem, tally, current)


def worth_racing(problem: Problem) -> bool:
    """Return whether there is anything to race for, and numbers that float64 can race with."""
    intervals = problem.intervals
    unlimited = problem.budget is None and problem.deadline is None
    paid = problem.source.costs.each_number_is_paid
    short = problem.source.n_coordinates < policy.SHORTEST_ROW and not paid and unlimited
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
