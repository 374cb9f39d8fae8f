"""What has been pulled of each arm, and what it proves: limits of scores and of differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._seed import SEEDS, generator_of
from sureshot.theory.mixture import Draws
from sureshot.theory.rounding import FIXED_SHARE

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Bools, Floats, Ints
    from sureshot.search.problem import Problem, Tally

# Tested scores are shifted by this share of the largest possible one, and levels raised by this share of
# themselves for each step: more than the rounding of a sum and of a product.
GUARD_PER_STEP = 2.0**-52
LEVEL_PER_STEP = 2.0**-44
# Up to this many rewards are handled in one array, even if their arms were pulled unequally often.
FEW_REWARDS = 1 << 12


class Readings:
    """The rewards pulled so far. All arms are pulled in one order, each up to a step of its own.

    Scores are means of rewards, so every coordinate weighs the same.
    """

    def __init__(self, problem: Problem, rng: Rng, tally: Tally) -> None:
        n_arms, intervals = len(problem.arms), problem.intervals
        self.problem = problem
        self.tally = tally
        self.length = problem.source.n_coordinates
        self.centre = float(intervals.centre[0])
        self.weight = float(intervals.weight[0])
        share = FIXED_SHARE + GUARD_PER_STEP * self.length
        self.guard = share * (abs(self.centre) + self.weight)
        self.order = _native.Order(
            np.ascontiguousarray(intervals.weight), int(generator_of(rng).integers(SEEDS))
        )
        self.rewards = [np.empty(0) for _ in range(n_arms)]
        self.steps = np.zeros(n_arms, dtype=np.int64)
        self.estimates = np.full(n_arms, self.centre)
        self.variances = np.ones(n_arms)  # of rewards in units of the weight
        self.lower = np.full(n_arms, self.centre - self.weight)
        self.upper = np.full(n_arms, self.centre + self.weight)

    def known(self) -> Bools:
        """Return which arms have been pulled to the end, as a mask."""
        whole: Bools = self.steps == self.length
        return whole

    def in_weights(self, scores: Floats) -> Floats:
        """Return scores as numbers between -1 and 1."""
        return (scores - self.centre) / self.weight

    def read(self, positions: Ints, stop: int) -> None:
        """Pull some arms up to that step of the order."""
        self.order.draw(stop)
        starts = self.steps[positions]
        for start in np.unique(starts[starts < stop]):
            group = positions[starts == start]
            blocks = self.order.blocks[start:stop]
            found = self.problem.source.block_sums(self.problem.arms[group], blocks)
            self.tally.numbers_read += found.size
            for position, column in zip(group.tolist(), found.T, strict=True):
                self._take(position, column)

    def _take(self, position: int, rewards: Floats) -> None:
        drawn = self.rewards[position] = np.concatenate([self.rewards[position], rewards])
        self.steps[position] = steps = len(drawn)
        mean = float(drawn.sum()) / steps
        # As if one more reward had been met at a limit: what has been constant may not stay so.
        squares = float((((drawn - mean) / self.weight) ** 2).sum()) + 1
        self.variances[position] = squares / (steps + 1)
        if steps == self.length:
            # Correctly rounded, so that equal lists have equal scores in any order.
            mean = math.fsum(drawn) / steps
            self.lower[position] = self.upper[position] = mean
            self.tally.exact_scores += 1
        self.estimates[position] = mean

    def lower_uppers(self, positions: Ints, level: float) -> None:
        """Lower the upper limits of some arms."""
        for some in self._alike(positions):
            self.upper[some] = self._limits(some, level, 1.0, self.upper[some])

    def raise_lowers(self, positions: Ints, level: float) -> None:
        """Raise the lower limits of some arms."""
        for some in self._alike(positions):
            self.lower[some] = -self._limits(some, level, -1.0, -self.lower[some])

    def _limits(self, positions: Ints, level: float, sign: float, high: Floats) -> Floats:
        """Return upper limits of the scores times a sign, none above `high`."""
        drawn = self.steps[positions]
        shift, scale = sign * self.centre + self.guard, self.weight / self.length
        draws = Draws(sign * self._normalised(positions, drawn), drawn, self.length, 1.0)
        found = shift + scale * draws.upper_limits(level, (high - shift) / scale)
        return np.minimum(found, high)

    def behind(self, leader: int, positions: Ints, epsilon: float, level: float) -> Bools:
        """Return for each arm whether a leader proves to be better, or worse by epsilon at most.

        By bets on the difference of their rewards, over what has been pulled of both.
        """
        proved = np.zeros(len(self.steps), dtype=bool)
        theta = (epsilon - 2 * self.guard) / (self.weight / self.length)
        for some in self._alike(positions):
            draws = Draws(*self._differences(leader, some), self.length, 2.0)
            proved[some] = draws.peak_wealth(np.full(len(some), theta)) >= level
        return proved[positions]

    def spreads(self, leader: int, positions: Ints) -> Floats:
        """Return the variances of what some arms' rewards exceed a leader's by, in units of the weight."""
        found = np.empty(len(self.steps))
        for some in self._alike(positions):
            y, drawn = self._differences(leader, some)
            squares = (y * y).sum(axis=0) - y.sum(axis=0) ** 2 / np.maximum(drawn, 1)
            found[some] = (squares + 2) / (drawn + 1)
        return found[positions]

    def _differences(self, leader: int, positions: Ints) -> tuple[Floats, Ints]:
        """Return by how much some arms exceed a leader, normalised, and at how many steps."""
        drawn = np.minimum(self.steps[positions], self.steps[leader])
        own = self._normalised(np.array([leader]), drawn.max(keepdims=True))
        y = self._normalised(positions, drawn)
        counts = np.arange(len(y))[:, None] < drawn
        return np.where(counts, y - own, 0.0), drawn

    def _alike(self, positions: Ints) -> list[Ints]:
        """Return the arms in groups with similar numbers of pulls, which fit into one array each."""
        steps = self.steps[positions]
        if len(steps) == 0 or len(steps) * steps.max() <= FEW_REWARDS:
            return [positions] * (len(steps) > 0)
        doublings = np.frexp(steps)[1]
        return [positions[doublings == some] for some in np.unique(doublings)]

    def _normalised(self, positions: Ints, drawn: Ints) -> Floats:
        """Return the first rewards of some arms as numbers between -1 and 1, (steps, arms).

        Those of which fewer are wanted end with zeros.
        """
        y = np.zeros((int(drawn.max()), len(positions)))
        for column, (position, steps) in enumerate(zip(positions, drawn, strict=True)):
            y[:steps, column] = self.in_weights(self.rewards[position][:steps])
        return y
