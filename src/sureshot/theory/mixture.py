"""Bets with fixed stakes, several at once: tests of a score that need no guess and no memory.

The theorem is in ``docs/theory.md``, section 12. A list of N rewards, drawn uniformly without replacement,
is tested for "its sum is at least theta". The capital is spread over stakes that are fixed before the
first draw, each half of the one before, so that one of them is near the best one for any gap. Nothing
is learned from the past: there is nothing that could look ahead, and what has become of the capital
depends on the drawn rewards of this list alone.

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
# How exactly limits are found, in standard errors.
PRECISION = 0.1


def stakes(length: int, cap: float) -> Floats:
    """Return the stakes for lists of that length: from one over the cap down to what a whole list needs.

    Examples
    --------
    >>> stakes(64, 1.0)
    array([1.    , 0.5   , 0.25  , 0.125 , 0.0625])
    """
    count = math.ceil(math.log2(max(length, 1)) / 2) + 2
    return 0.5 ** np.arange(count) / cap


def peak_wealth(y: Floats, drawn: Ints, length: int, theta: Floats, cap: float) -> Floats:
    """Return the largest wealth that each list ever reached if its sum were theta, at least 1.

    Infinite if the drawn rewards show that the sum is at most theta.

    Parameters
    ----------
    y
        The rewards in drawn order; none exceeds `cap`.
    drawn
        How many of them have been drawn of each list; the rows beyond do not count.
    length
        How many rewards each list has.
    theta
        The tested sum of each list.
    cap
        What no reward exceeds.
    """
    steps, lists = y.shape
    if steps == 0:
        return np.ones(lists)
    every = stakes(length, cap)
    step = np.arange(steps)
    left = length - step.astype(np.float64)
    # The mean that is left moves away from the drawn one as the list is used up, and stakes with it.
    wanted = every * (length / left)[:, None]
    peaks = np.empty(lists)
    width = max(1, FACTORS_AT_ONCE // (steps * len(every)))
    for start in range(0, lists, width):
        some = slice(start, start + width)
        mean = (theta[some] - before(y[:, some])) / left[:, None]
        counts = step[:, None] < drawn[some]
        certain = counts & (mean >= cap)
        gain = np.where(counts & ~certain, mean - y[:, some], 0.0)
        room = np.where(counts & ~certain, cap - mean, cap)
        size = np.minimum(wanted[:, None, :], (C / room)[:, :, None])
        with np.errstate(over="ignore", under="ignore"):
            # What is too small for a number counts as lost, which only delays a verdict.
            wealth = np.cumprod(1 + size * gain[:, :, None], axis=0).mean(axis=2)
        wealth[certain] = np.inf
        peaks[some] = wealth.max(axis=0)
    return np.maximum(peaks, 1.0)


def upper_limits(
    y: Floats, drawn: Ints, length: int, cap: float, level: float, high: Floats
) -> Floats:
    """Return a number for each list that its sum exceeds with probability at most 1 / level.

    Inverts the peak, which never decreases in theta, by bisection between the estimate of the sum and
    `high`, from above: to a tenth of the standard error. `high` must be such a number already.
    """
    seen = np.maximum(drawn, 1)
    mean = y.sum(axis=0) / seen
    # As if one more reward had been met at the limit: what has been constant may not stay so.
    variance = (y * y).sum(axis=0) / seen - mean**2 + cap**2 / (seen + 1)
    error = length * np.sqrt(variance * np.maximum(1 / seen - 1 / length, 1 / length**2))
    low, high = np.minimum(length * mean, high), high.copy()
    while (high - low > PRECISION * error).any():
        middle = low + (high - low) / 2
        reached = peak_wealth(y, drawn, length, middle, cap) >= level
        high = np.where(reached, middle, high)
        low = np.where(reached, low, middle)
    return high
