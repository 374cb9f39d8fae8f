"""Betting elimination: every arm is bet against at the exact score of the k-th best arm known.

The theorem is in ``docs/theory.md``; the race that this loop runs is in `sureshot.search.race.race`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sureshot.search import exact
from sureshot.search.race import finishing, policy
from sureshot.search.race.choice import choose
from sureshot.search.race.finishing import Outcome
from sureshot.search.race.race import Race
from sureshot.search.race.shortlist import Shortlist

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Answer, Problem, Tally


def search(
    problem: Problem,
    rng: Rng,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Answer:
    """Race the arms until each is dropped or known, or the budget is spent."""
    outcome = race(problem, rng, tally, rules)
    if outcome.answer is not None:
        return outcome.answer
    if outcome.race is None:
        return exact.search(problem, rng, tally)
    finishing.read_to_the_end(outcome.race, outcome.left)
    return outcome.race.answer()


def race(
    problem: Problem,
    rng: Rng,
    tally: Tally,
    rules: policy.Policy = policy.DEFAULT,
) -> Outcome:
    """Race the arms until each is dropped or known, or it is better to read the rest to the end."""
    if problem.budget is not None and not problem.limited:  # a budget for every number is none
        problem = replace(problem, budget=None)
    choice = choose(problem, rng, tally, rules)
    tally.choice = choice.words
    if not choice.race:
        return Outcome(problem, tally)
    current = Race(problem, rng, tally, rules)
    while choice.bets and not current.over() and current.read_on():
        current.suspend_and_drop()
        current.evaluate_candidates()
        left = current.arms_to_finish()
        if len(left):
            current.forget_bets()
            tally.choice += f"; then {len(left):,} arms evaluated: a race would cost more"
            return Outcome(problem, tally, race=current, left=left)
        current.end_round()
    if not current.over():
        Shortlist(current).evaluate_best()
    return Outcome(problem, tally, current.answer())
