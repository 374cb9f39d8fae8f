"""Estimates of the scores from what was read: for decisions of cost, never of correctness."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem
    from tests.reference.order import DrawnOrder


class Estimates:
    """Sums of the normalised rewards of each arm."""

    def __init__(self, problem: Problem, order: DrawnOrder) -> None:
        n_arms = len(problem.arms)
        self.problem = problem
        self.order = order
        self.base = float(problem.intervals.centre.sum())  # known before anything is drawn
        self.steps = np.zeros(n_arms, dtype=np.int64)  # read of each arm
        self.drawn = np.zeros(n_arms)  # sum of w y: what is known over the base
        self.sum_y = np.zeros(n_arms)
        self.sum_yy = np.zeros(n_arms)

    def add(self, positions: Ints, weight: Floats, y: Floats) -> None:
        """Add the rewards y (steps, arms) of blocks of the given weights (steps, 1)."""
        self.drawn[positions] += (weight * y).sum(axis=0)
        self.sum_y[positions] += y.sum(axis=0)
        self.sum_yy[positions] += (y * y).sum(axis=0)
        self.steps[positions] += len(y)

    def of(self, positions: Ints) -> tuple[Floats, Floats]:
        """Return estimates of the scores of some arms, and their standard errors."""
        count = np.maximum(self.steps[positions], 1)
        mean = self.sum_y[positions] / count
        variance = np.maximum(self.sum_yy[positions] / count - mean**2, 0)
        fronts, inverse = np.unique(self.steps[positions], return_inverse=True)
        left = np.array([self.order.left_after(int(front)) for front in fronts])[inverse]
        scale = self.problem.scale[positions]
        raw = self.base + self.drawn[positions] + mean * left
        error = scale * left * np.sqrt(variance / count)
        return self.problem.as_scores(scale * raw), error

    def steps_needed(self, positions: Ints, theta: float, log_level: float) -> Floats:
        """Predict how many more steps the bets against each arm need to win at theta."""
        count = np.maximum(self.steps[positions], 1)
        estimates, errors = self.of(positions)
        with np.errstate(divide="ignore", invalid="ignore"):
            z = (theta - estimates) / errors
            # With d the distance of the means, the log wealth grows by d**2 / 2 (v + d**2) a step.
            square = np.where(z > 0, z**2, 0) / count
            needed = 2 * log_level * (1 + square) / square - count
        return np.nan_to_num(needed, nan=np.inf, posinf=np.inf)
