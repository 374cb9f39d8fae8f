"""Arms that take turns: each has its own pulls, looks and radius, and one of them is pulled next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory import radii
from sureshot.theory.looks import next_look

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot.search.bandits.pulls import Pulls

# A round is reported whenever the numbers read have grown by this factor.
ROUND_GROWTH = 1.25


class Turns:
    """Brings one arm after the other to its next look.

    The pulls at the looks of an arm are fixed beforehand, so that a union bound over the looks is
    enough without replacement.

    Parameters
    ----------
    pulls
        The arms.
    radius
        With replacement: the radius after so many pulls, which must hold at all times.
    """

    def __init__(self, pulls: Pulls, radius: Callable[[int], float]) -> None:
        self.pulls = pulls
        self._anytime = radius
        n_arms = len(pulls.counts)
        self._n_bounds = n_arms * pulls.sides
        self._looks = np.zeros(n_arms, dtype=np.int64)
        self._next_report = 0.0
        self.radii = np.full(n_arms, np.inf)

    def start(self) -> bool:
        """Pull every arm until arms can begin to differ; return whether that could be afforded."""
        pulls, n_arms = self.pulls, len(self.pulls.counts)
        left = pulls.budget.left
        most = pulls.n_rewards if left is None else left // n_arms
        if most == 0:
            return False
        first = 1
        # Means lie within one width of each other, so that no radius above it decides anything.
        while first < most and self._radius(1, first) > pulls.width + pulls.epsilon:
            first = min(next_look(first), most)
        everyone = np.arange(n_arms)
        pulls.add(everyone, first)
        self._looks[:] = 1
        self.radii[:] = 0.0 if pulls.known.all() else self._radius(1, first)
        return True

    def cost(self, position: int) -> int:
        """Return how many pulls the next look at an arm costs; 0 if it is known."""
        if self.pulls.known[position]:
            return 0
        before = int(self.pulls.counts[position])
        after = next_look(before)
        return (after if self.pulls.replacement else min(after, self.pulls.n_rewards)) - before

    def take(self, position: int, count: int) -> None:
        """Pull an arm so many times more; without replacement it must be what `cost` says."""
        pulls, arm = self.pulls, np.array([position])
        if pulls.known[position]:
            return
        if pulls.too_many(pulls.counts[position] + count, arm):
            pulls.evaluate(arm)
        else:
            pulls.add(arm, count)
        self._looks[position] += 1
        after = int(pulls.counts[position])
        known = pulls.known[position]
        self.radii[position] = 0.0 if known else self._radius(int(self._looks[position]), after)

    def report(self, undecided: int, position: int, *, last: bool) -> None:
        """Report a round if enough was read since the last one."""
        tally = self.pulls.tally
        if last or tally.numbers_read >= self._next_report:
            tally.end_round(undecided, int(self.pulls.counts[position]))
            self._next_report = tally.numbers_read * ROUND_GROWTH

    def _radius(self, look: int, count: int) -> float:
        pulls = self.pulls
        if pulls.replacement:
            return self._anytime(count)
        delta = pulls.problem.delta
        return radii.at_look(look, count, pulls.width, self._n_bounds, delta, pulls.n_rewards)
