"""Bets with several fixed stakes at once: tests of a score that need no guess and no estimates.

The theorem is in ``docs/theory.md``, section 13. A list of N rewards, drawn uniformly without replacement,
is tested for "its sum is at least theta". The capital is spread over stakes that are fixed before the
first draw, each half of the one before, so that one of them is near the best one for any gap. The stakes do
not depend on the past, so nothing can look ahead, and the capital depends only on the drawn rewards of
this list.

Arrays are (steps, lists): one row per draw, one column per list.

Glossary: y a reward, theta tested sum, mu conditional mean of the next reward if the sum is theta, cap
the largest possible reward, C the largest share of a stake's capital at risk.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory.wealth import C, before

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints

# Factors held in memory at once, at most, unless one list alone has more.
FACTORS_AT_ONCE = 1 << 20
# The precision of the limits, in standard errors.
PRECISION = 0.15


def stakes(length: int, cap: float) -> Floats:
    """Return the stakes for lists of that length: from one over the cap down to what a whole list needs.

    Examples
    --------
    >>> stakes(64, 1.0)
    array([1.    , 0.5   , 0.25  , 0.125 , 0.0625])
    """
    count = math.ceil(math.log2(max(length, 1)) / 2) + 2
    return np.asarray(0.5 ** np.arange(count) / cap, dtype=np.float64)


class Draws:
    """The drawn rewards of some lists, prepared for tests.

    Parameters
    ----------
    y
        The rewards in drawn order, (steps, lists); none exceeds `cap`.
    drawn
        How many of them have been drawn of each list; the rows beyond do not count.
    length
        How many rewards each list has.
    cap
        What no reward exceeds.
    """

    def __init__(self, y: Floats, drawn: Ints, length: int, cap: float) -> None:
        step = np.arange(len(y))[:, None]
        left = length - step.astype(np.float64)
        self.length = length
        self.cap = cap
        self.y = y
        self.drawn = drawn
        self.left = left
        self.known = before(y)
        self.beyond = step >= drawn
        # As the list is used up, the mean of the undrawn rewards moves away from that of the drawn ones: so
        # stakes grow.
        self.stakes = (stakes(length, cap) * (length / left))[:, None, :]

    def peak_wealth(self, theta: Floats) -> Floats:
        """Return the largest wealth that each list ever reached if its sum were theta, at least 1.

        Infinite if the drawn rewards show that the sum is at most theta.
        """
        steps, lists = self.y.shape
        if steps == 0:
            return np.ones(lists)
        shares = np.full(self.stakes.shape[2], 1 / self.stakes.shape[2])
        peaks = np.empty(lists)
        width = max(1, FACTORS_AT_ONCE // (steps * len(shares)))
        for start in range(0, lists, width):
            some = slice(start, start + width)
            mean = (theta[some] - self.known[:, some]) / self.left
            mean[self.beyond[:, some]] = 0.0
            gain = mean - self.y[:, some]
            gain[self.beyond[:, some]] = 0.0
            certain = mean >= self.cap
            mean[certain], gain[certain] = 0.0, 0.0
            factors = np.minimum(self.stakes, (C / (self.cap - mean))[:, :, None])
            factors *= gain[:, :, None]
            factors += 1
            with np.errstate(over="ignore", under="ignore"):
                # Wealth that underflows counts as lost, which only delays a decision.
                wealth = np.cumprod(factors, axis=0, out=factors) @ shares
            wealth[certain] = np.inf
            peaks[some] = wealth.max(axis=0)
        return np.maximum(peaks, 1.0)

    def upper_limits(self, level: float, high: Floats) -> Floats:
        """Return a number for each list that its sum exceeds with probability at most 1 / level.

        Inverts the peak, which never decreases in theta, by bisection between the estimate of the
        sum and `high`, from above. `high` must be such a number already.
        """
        seen = np.maximum(self.drawn, 1)
        mean = self.y.sum(axis=0) / seen
        # As if one more reward at the limit had been drawn: a list that was constant so far may not stay so.
        squares = (self.y * self.y).sum(axis=0) - seen * mean**2 + self.cap**2
        part_left = np.maximum(1 - seen / self.length, 1 / self.length)
        error = self.length * np.sqrt(squares * part_left / (seen + 1) / seen)
        low, high = np.minimum(self.length * mean, high), high.copy()
        while (high - low > PRECISION * error).any():
            middle = low + (high - low) / 2
            reached = self.peak_wealth(middle) >= level
            high = np.where(reached, middle, high)
            low = np.where(reached, low, middle)
        return high
