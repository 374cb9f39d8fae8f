"""The interval of each reward, from limits of the data values and the query (design 4.5).

An interval is kept as a centre and a weight, its half width. A coordinate of weight 0 is a
constant: it is accounted for by its centre and never read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats

# Rewards are computed in double. Widening each interval by this share of the largest reward in it
# keeps a legal value inside in spite of rounding, with room for blocks of thousands of coordinates.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Intervals:
    """Rewards of coordinate j lie in ``centre[j] ± weight[j]``, for every arm."""

    centre: Floats
    weight: Floats

    @property
    def low(self) -> Floats:
        """Lower ends."""
        return self.centre - self.weight

    @property
    def high(self) -> Floats:
        """Upper ends."""
        return self.centre + self.weight


def reward_limits(
    metric: str, query: Floats, low: Floats | float, high: Floats | float
) -> tuple[Floats, Floats]:
    """Return the smallest and the largest reward of each coordinate.

    Parameters
    ----------
    metric
        ``"ip"``, ``"sqeuclidean"`` or ``"l1"``; distances are negated.
    query
        The query, (N,).
    low, high
        Limits of the data values, scalars or (N,).
    """
    if metric == "ip":
        ends = query * low, query * high
        return np.minimum(*ends), np.maximum(*ends)
    farthest = np.maximum(np.abs(query - low), np.abs(query - high))
    nearest = np.maximum(0.0, np.maximum(low - query, query - high))
    if metric == "l1":
        return -farthest, -nearest
    return -(farthest**2), -(nearest**2)


def intervals(metric: str, query: Floats, low: Floats | float, high: Floats | float) -> Intervals:
    """Return the interval of each coordinate's reward, widened for rounding.

    Examples
    --------
    >>> found = intervals("ip", np.array([2.0, -1.0, 0.0]), 0.0, 1.0)
    >>> found.centre
    array([ 1. , -0.5,  0. ])
    >>> found.weight.round(6)
    array([1. , 0.5, 0. ])
    """
    smallest, largest = reward_limits(metric, query, low, high)
    half_width = (largest - smallest) / 2
    magnitude = np.maximum(np.abs(smallest), np.abs(largest))
    # The smallest normal number covers rewards so small that they lose digits.
    widened = half_width + ROUNDING * magnitude + np.finfo(np.float64).tiny
    weight = np.where(half_width > 0, widened, 0.0)
    return Intervals(centre=smallest + half_width, weight=weight)
