"""The evidence against each arm at any threshold: bets on all that it has read, in plain numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory import wealth
from sureshot.theory.rounding import rounding_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._native import Order
    from sureshot._types import Floats, Ints
    from tests.reference.tables import Table


class Evidence:
    """The wealth of the bets against each arm, with the formulas of `sureshot.theory.wealth`.

    Thresholds are scores; `Problem.scale` turns them into sums of rewards for each arm. `steps` is
    how many blocks of the order each arm has read.
    """

    def __init__(self, table: Table, order: Order, floor: float = 0.0) -> None:
        intervals = table.problem.intervals
        self.problem = table.problem
        self.table = table
        self.order = order
        self.floor = floor  # of the stakes, where the search may end early
        self.base = float(intervals.centre.sum())  # known of every arm before anything is drawn
        self.limit = intervals.limit.copy()
        self.guesses = np.empty(0)  # of the final threshold, for each step, made before it
        self.staked = np.empty(0, dtype=bool)  # whether there are bets on the step

    def record_guess(self, guess: float, front: int, *, stakes: bool = True) -> None:
        """Fix the guess for all steps up to `front` that have none yet."""
        missing = front - len(self.guesses)
        self.guesses = np.append(self.guesses, np.full(missing, guess))
        self.staked = np.append(self.staked, np.full(missing, stakes))

    def peaks(self, positions: Ints, steps: Ints, theta: float) -> Floats:
        """Return the peak of the log wealth of each arm if its score were theta.

        For scores by absolute value it is the smaller of the peaks of both signs: an arm must be too
        small in either. Infinite for an arm that was not read and is certainly too small.
        """
        peaks = np.empty(len(positions))
        for some, front in _by_front(steps):
            arms = positions[some]
            if front == 0:
                certain = self.certain_limits(arms, steps[some]) < theta
                peaks[some] = np.where(certain, np.inf, 0.0)
                continue
            raw = self._guarded(arms, theta)
            found = [
                wealth.peak_log_wealth(self._bets(arms, front, sign), raw)
                for sign in self.problem.signs
            ]
            peaks[some] = np.minimum.reduce(found)
        return peaks

    def last(self, positions: Ints, steps: Ints, theta: float) -> tuple[Floats, Floats]:
        """Return the log wealth after the last step, the smaller of both signs, and how inexact it is.

        The native code keeps a stake to 2^-9 of itself, which changes the logarithm of its factor F
        by as much of |F - 1| / F.
        """
        last, slack = np.full(len(positions), np.inf), np.full(len(positions), 0.01)
        for some, front in _by_front(steps):
            arms = positions[some]
            raw = self._guarded(arms, theta)
            for sign in self.problem.signs:
                grown = wealth.log_wealth(self._bets(arms, front, sign), raw)
                with np.errstate(invalid="ignore", over="ignore"):
                    factors = np.exp(np.diff(grown, axis=0, prepend=0.0))
                    inexact = np.nan_to_num(np.abs(factors - 1) / factors)
                slack[some] += 2.0**-9 * inexact.sum(axis=0)
                last[some] = np.minimum(last[some], grown[-1] if front else 0.0)
        return last, slack

    def certain_limits(self, positions: Ints, steps: Ints) -> Floats:
        """Return what the score of each arm cannot exceed, by what was read of it."""
        intervals, scale = self.problem.intervals, self.problem.scale
        limits = np.empty(len(positions))
        for some, front in _by_front(steps):
            arms, blocks = positions[some], self.order.blocks[:front]
            drawn = self.table.sums[np.ix_(blocks, arms)] - intervals.centre[blocks, None]
            known = self.problem.as_scores(self.base + drawn.sum(axis=0))
            left = self.order.left[front]
            if intervals.square_limit is None:
                reach = left * self.limit[arms]
            else:
                seen = self.table.squares[np.ix_(blocks, arms)].sum(axis=0)
                reach = np.sqrt(left * np.maximum(intervals.square_limit[arms] - seen, 0))
            limits[some] = scale[arms] * (known + reach)
        return limits

    def _guarded(self, arms: Ints, theta: float) -> Floats:
        """Return theta as a sum of rewards, less than it is by more than all rounding errors."""
        intervals, blocks = self.problem.intervals, self.problem.source.blocks
        raw = theta / self.problem.scale[arms]
        if intervals.square_limit is None:
            limit = np.abs(self.limit[arms])
            reach = np.where(np.isfinite(limit), limit, 0.0) * intervals.weight.sum()
        else:
            reach = np.sqrt(intervals.weight.sum() * intervals.square_limit[arms])
        share = rounding_share(blocks.n_coordinates, blocks.size)
        return np.asarray(raw - share * (intervals.magnitude + reach + np.abs(raw)))

    def _bets(self, arms: Ints, front: int, sign: float) -> wealth.Bets:
        """Return the bets of the first `front` steps, on the sums of rewards times `sign`."""
        intervals, scale = self.problem.intervals, self.problem.scale[arms]
        blocks = self.order.blocks[:front]
        weight = -np.diff(self.order.left[: front + 1])[:, None]
        drawn = np.ix_(blocks, arms)
        y = sign * (self.table.sums[drawn] - intervals.centre[blocks, None]) / weight
        known = sign * self.base + wealth.before(weight * y)
        left = self.order.left[:front, None]
        guess = self.guesses[:front, None] / scale
        if intervals.square_limit is None:
            bets = wealth.range_bets(y, known, left, guess, self.limit[arms], self.floor)
        else:
            squares, limits = self.table.squares[drawn], intervals.square_limit[arms]
            bets = wealth.norm_bets(y, known, left, guess, squares, weight, limits, self.floor)
        bets.stake[~self.staked[:front]] = 0
        return bets


def _by_front(steps: Ints) -> Iterator[tuple[Ints, int]]:
    """Yield the arms that have read equally far, and how far."""
    for front in np.unique(steps):
        yield np.flatnonzero(steps == front), int(front)
