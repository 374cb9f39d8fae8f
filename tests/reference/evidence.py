"""The evidence against each arm: its history, turned into bets, at any threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory import wealth
from sureshot.theory.rounding import rounding_share
from tests.reference.history import History

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem
    from tests.reference.order import DrawnOrder

# Numbers bet on at a time.
NUMPY_TILE = 1 << 16


class Evidence:
    """What has been read of each arm, and the wealth of the bets against it.

    Thresholds are scores; `Problem.scale` turns them into sums of rewards for each arm.
    """

    def __init__(self, problem: Problem, order: DrawnOrder) -> None:
        intervals = problem.intervals
        self.problem = problem
        self.order = order
        self.history = History(len(problem.arms))
        self.base = float(intervals.centre.sum())  # known of every arm before anything is drawn
        self.guesses = np.empty(0)  # of the final threshold, for each step, made before it
        self.limit = intervals.limit.copy()
        self.first_bet = 0  # no stakes before this step
        self.floor = 0.0  # of the stakes, where the search may end early

    def guard(self, positions: Ints, raw: Floats) -> Floats:
        """Return more than the rounding error of a sum of rewards and of a threshold `raw`."""
        intervals = self.problem.intervals
        if intervals.square_limit is None:
            limit = np.abs(self.limit[positions])
            reach = np.where(np.isfinite(limit), limit, 0.0) * intervals.weight.sum()
        else:
            reach = np.sqrt(intervals.weight.sum() * intervals.square_limit[positions])
        total: Floats = intervals.magnitude + reach + np.abs(raw)
        blocks = self.problem.source.blocks
        return rounding_share(blocks.n_coordinates, blocks.size) * total

    def record_guess(self, guess: float, front: int) -> None:
        """Fix the guess for all steps up to `front` that have none yet."""
        missing = front - len(self.guesses)
        self.guesses = np.append(self.guesses, np.full(missing, guess))

    def bets(self, positions: Ints, front: int, sign: float) -> wealth.Bets:
        """Return the bets of the first `front` steps, on the sums of rewards times `sign`."""
        intervals, scale = self.problem.intervals, self.problem.scale[positions]
        blocks = self.order.blocks[:front]
        weight = self.order.weights[blocks, None]
        y = self.history.sums(positions, front)
        y -= intervals.centre[blocks, None]
        y *= sign / weight
        known = sign * self.base + wealth.before(weight * y)
        left = self.order.left[:front, None]
        guess = self.guesses[:front, None] / scale
        limits = self.limit[positions]
        if intervals.square_limit is None:
            bets = wealth.range_bets(y, known, left, guess, limits, self.floor)
        else:
            squares = self.history.squares(positions, front)
            limits = intervals.square_limit[positions]
            bets = wealth.norm_bets(y, known, left, guess, squares, weight, limits, self.floor)
        bets.stake[: self.first_bet] = 0
        return bets

    def peaks(self, positions: Ints, fronts: Ints, theta: float) -> Floats:
        """Return the peak of the log wealth of each arm if its score were theta.

        `fronts` is how many steps each arm has read. For scores by absolute value it is the smaller
        of the peaks of both signs: an arm must be too small in either.
        """
        peaks = np.empty(len(positions))
        for tile, front in _tiles(fronts, NUMPY_TILE):
            arms = positions[tile]
            raw = theta / self.problem.scale[arms]
            raw -= self.guard(arms, raw)
            found = [self._peaks(arms, front, sign, raw) for sign in self.problem.signs]
            peaks[tile] = np.minimum.reduce(found)
        return peaks

    def _peaks(self, arms: Ints, front: int, sign: float, raw: Floats) -> Floats:
        return wealth.peak_log_wealth(self.bets(arms, front, sign), raw)

    def upper_limits(self, positions: Ints, fronts: Ints, log_level: float) -> Floats:
        """Return the score that each arm exceeds with at most the level's probability."""
        limits = np.empty(len(positions))
        for tile, front in _tiles(fronts, NUMPY_TILE):
            arms = positions[tile]
            found = []
            for sign in self.problem.signs:
                known, certain = self._certain_limits(arms, front, sign)
                low = known - (certain - known)
                bets = self.bets(arms, front, sign)
                found.append(wealth.upper_limits(bets, log_level, low, certain))
            raw = np.maximum.reduce(found)
            raw += self.guard(arms, raw)
            limits[tile] = raw * self.problem.scale[arms]
        return limits

    def _certain_limits(self, arms: Ints, front: int, sign: float) -> tuple[Floats, Floats]:
        """Return what is known of each arm, and what its sum of rewards cannot exceed."""
        intervals = self.problem.intervals
        blocks = self.order.blocks[:front]
        drawn = self.history.sums(arms, front) - intervals.centre[blocks, None]
        known = sign * (self.base + drawn.sum(axis=0))
        left = self.order.left_after(front)
        if intervals.square_limit is None:
            return known, known + left * self.limit[arms]
        unseen = intervals.square_limit[arms] - self.history.squares(arms, front).sum(axis=0)
        return known, known + np.sqrt(left * np.maximum(unseen, 0))


def _tiles(fronts: Ints, numbers: int) -> Iterator[tuple[Ints, int]]:
    """Yield positions of arms that have read equally far, some at a time, and how far."""
    for front in np.unique(fronts):
        group = np.flatnonzero(fronts == front)
        size = max(1, numbers // max(1, int(front)))
        for start in range(0, len(group), size):
            yield group[start : start + size], int(front)
