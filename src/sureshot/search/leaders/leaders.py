"""Betting for few arms with expensive pulls: leaders need not be pulled to the end.

Every arm has an upper limit of its score, the leaders a lower limit each, and every leader bets
against every other arm on the difference of their rewards. The search ends when each arm outside the
k leaders is proved to be no better than each of them by more than epsilon. The theorem is in
``docs/theory.md``, section 13; what is pulled next is a matter of cost, never of correctness.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import certificate
from sureshot.search.budget import Budget
from sureshot.search.leaders.next_pulls import Standing, next_steps
from sureshot.search.leaders.readings import LEVEL_PER_STEP, Readings
from sureshot.search.problem import Answer, largest
from sureshot.search.race.choice import Choice, if_possible
from sureshot.search.race.policy import kth_largest

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Bools, Ints
    from sureshot.search.problem import Problem, Tally

# Parts of delta for the lower limits of leaders and for the differences; upper limits have the rest. An
# exact answer (epsilon 0) comes of leaders that are pulled to the end: it needs upper limits only.
DELTA_OF_LOWERS = 0.1
DELTA_OF_PAIRS = 0.1
# Every proof is computed anew after each round, which takes some microseconds for each pull and each of
# the k leaders. With more arms than this the race takes far less time.
MOST_ARMS = 512


def suits(problem: Problem) -> bool:
    """Return whether to search this way: few arms with expensive pulls, and something to find out."""
    few = problem.source.costs.each_number_is_paid and len(problem.arms) <= MOST_ARMS
    return (
        few
        and len(problem.arms) > problem.k
        and if_possible(problem, Choice(race=True, why="")).race
    )


@dataclass(frozen=True, slots=True)
class Levels:
    """How large a wealth must become to prove something."""

    upper: float
    lower: float
    pair: float


def levels_of(problem: Problem) -> Levels:
    """Return the levels at which the whole search fails with probability at most delta."""
    k, others = problem.k, len(problem.arms) - problem.k
    rounding = 1 + LEVEL_PER_STEP * problem.source.n_coordinates

    def level(events: int, part: float) -> float:
        allowed = part * problem.delta  # 0 if that is too small for a number
        return rounding * events / allowed if allowed > 0 else math.inf

    if problem.epsilon == 0:
        return Levels(level(k, 1.0), math.inf, math.inf)
    of_uppers = 1 - DELTA_OF_LOWERS - DELTA_OF_PAIRS
    return Levels(
        level(k, of_uppers), level(others, DELTA_OF_LOWERS), level(k * others, DELTA_OF_PAIRS)
    )


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Pull until every arm outside the leaders is beaten, or the budget is spent."""
    leading = LeaderSearch(problem, rng, tally)
    while not leading.over() and leading.read_on():
        leading.end_round()
    return leading.answer()


class LeaderSearch:
    """The state of one search, and the steps of its loop."""

    def __init__(self, problem: Problem, rng: Rng, tally: Tally) -> None:
        self.problem = problem
        self.tally = tally
        self.budget = Budget(problem, tally)
        self.levels = levels_of(problem)
        self.readings = Readings(problem, rng, tally)
        n_arms = len(problem.arms)
        self.won = np.zeros((n_arms, n_arms), dtype=bool)  # (leader, arm), by their difference

    def leaders(self) -> Ints:
        """Return the k arms that seem best."""
        return largest(self.readings.estimates, self.problem.k)

    def unbeaten(self, leaders: Ints) -> Bools:
        """Return which arms are not yet proved to be behind which leaders, a mask (leaders, arms)."""
        readings = self.readings
        proved = readings.upper <= readings.lower[leaders, None] + self.problem.epsilon
        undecided: Bools = ~(proved | self.won[leaders])
        undecided[:, leaders] = False
        return undecided

    def over(self) -> bool:
        """Return whether every arm outside the leaders is beaten by each of them.

        Not before something has been pulled: a wide epsilon needs no pulls, but an estimate does.
        """
        return bool(self.readings.steps.all()) and not self.unbeaten(self.leaders()).any()

    def read_on(self) -> bool:
        """Pull what is predicted to be worth while; return whether the budget allowed any of it."""
        readings, leaders = self.readings, self.leaders()
        unbeaten = self.unbeaten(leaders)
        targets = next_steps(self._standing(leaders, unbeaten))
        behind = targets > readings.steps
        for stop in np.unique(targets[behind]).tolist():
            arms = np.flatnonzero(behind & (targets == stop))
            numbers = int((stop - readings.steps[arms]).sum())
            if not self.budget.allows(numbers):
                break
            readings.read(arms, stop)
        pulled = behind & (readings.steps == targets)
        if pulled.any():
            self._prove(leaders, pulled)
        return bool(pulled.any())

    def _standing(self, leaders: Ints, unbeaten: Bools) -> Standing:
        readings = self.readings
        arms = np.flatnonzero(unbeaten.any(axis=0))
        return Standing(
            length=readings.length,
            epsilon=self.problem.epsilon / readings.weight,
            steps=readings.steps,
            estimates=readings.in_weights(readings.estimates),
            variances=readings.variances,
            lower=readings.in_weights(readings.lower),
            upper=readings.in_weights(readings.upper),
            leaders=leaders[unbeaten.any(axis=1)],
            arms=arms,
            spreads=readings.spreads(int(leaders[-1]), arms),
            upper_level=self.levels.upper,
            lower_level=self.levels.lower,
            pair_level=self.levels.pair,
        )

    def _prove(self, before: Ints, pulled: Bools) -> None:
        """Find out what the new pulls prove; `before` were the leaders until now."""
        readings, leaders = self.readings, self.leaders()
        # An arm that has just become a leader, or is one no longer, needs the other kind of limit.
        changed = pulled.copy()
        changed[np.setxor1d(before, leaders)] = True
        leading = np.isin(np.arange(len(changed)), leaders)
        unknown = changed & ~readings.known()
        readings.lower_uppers(np.flatnonzero(unknown & ~leading), self.levels.upper)
        if math.isinf(self.levels.pair):
            return
        readings.raise_lowers(np.flatnonzero(unknown & leading), self.levels.lower)
        for leader, unbeaten in zip(leaders.tolist(), self.unbeaten(leaders), strict=True):
            arms = np.flatnonzero(unbeaten & (changed | changed[leader]))
            self.won[leader, arms] = readings.behind(
                leader, arms, self.problem.epsilon, self.levels.pair
            )

    def proved_loss(self, leaders: Ints) -> float:
        """Return what the leaders lose at most if the search ends now: section 13 of ``docs/theory.md``."""
        gaps = self.readings.upper - self.readings.lower[leaders, None]
        return max(self.problem.epsilon, float(gaps[self.unbeaten(leaders)].max(initial=0.0)))

    def end_round(self) -> None:
        """Report where the search stands."""
        readings, leaders = self.readings, self.leaders()
        undecided = self.unbeaten(leaders)
        arms = int(undecided.any(axis=0).sum() + undecided.any(axis=1).sum())
        threshold = kth_largest(readings.estimates[readings.known()], self.problem.k)
        shown = None if threshold == -math.inf else threshold
        pulls = int(readings.steps[leaders].max())
        self.tally.end_round(arms, pulls, shown, epsilon=self.proved_loss(leaders))

    def answer(self) -> Answer:
        """Return the leaders and what is guaranteed of them."""
        problem, readings = self.problem, self.readings
        leaders = self.leaders()
        reached = problem.epsilon
        if not self.over():
            # Stopped early: the answer is pulled to the end on top of the budget.
            readings.read(leaders, readings.length)
            known = np.flatnonzero(readings.known())
            leaders = known[largest(readings.estimates[known], problem.k)]
            undecided = np.flatnonzero(self.unbeaten(leaders).any(axis=0) & ~readings.known())
            readings.lower_uppers(undecided, self.levels.upper)
            reached = self.proved_loss(leaders)
        scores_known = bool(readings.known()[leaders].all())
        if readings.known().all():
            proved = certificate.exact_answer(problem)
        else:
            early = reached > problem.epsilon
            proved = certificate.promise(problem, reached, scores_known=scores_known, early=early)
        return Answer(leaders, readings.estimates[leaders], proved, "leaders")
