"""The interval of each reward, from limits of the data values and the query.

Section 4 of ``docs/theory.md``. An interval is a centre and a weight, its half width. A coordinate of
weight 0 is a constant: its centre is added, and it is never read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory.rounding import UNIT_ROUNDOFF, widened_norm_share

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot.blocks import Blocks

# Rewards are computed in double. Each interval is widened by this share of its largest reward, so that
# no valid value is outside because of rounding; blocks add the rounding of their sums.
ROUNDING = 1e-12

# Added to positive numbers that must not underflow to 0.
TINY = float(np.finfo(np.float64).tiny)

# Added to squared norms: squares below it may have lost digits, or be 0.
TINY_SQUARE = 2.0**-960


@dataclass(frozen=True, slots=True)
class Intervals:
    """What is known about the rewards before any is read.

    The sum of arm i over block b, less ``centre[b]`` and divided by ``weight[b]``, is called y.
    """

    centre: Floats  # (blocks,)
    weight: Floats  # (blocks,), 0 where the sum is the centre for every arm
    limit: Floats  # (arms,): y <= limit; infinite where it has to be estimated
    magnitude: float  # sum of the absolute centres of all coordinates: those of a block may cancel
    two_sided: bool = True  # whether -limit <= y holds as well
    square_limit: Floats | None = None  # (arms,): |row|**2 at most; with it, weight is |query|**2

    @property
    def estimated(self) -> bool:
        """Whether the limit of y is not known and must be estimated."""
        return self.square_limit is None and bool(np.isinf(self.limit).any())


def unneeded(n_arms: int) -> Intervals:
    """Return the intervals of a search that reads everything: none at all."""
    nothing = np.empty(0)
    return Intervals(nothing, nothing, np.broadcast_to(np.inf, n_arms), np.inf)


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


def value_intervals(
    metric: str,
    query: Floats,
    low: Floats | float,
    high: Floats | float,
    rounding: float = ROUNDING,
) -> tuple[Floats, Floats]:
    """Return centre and weight of each coordinate's reward, widened for rounding.

    Examples
    --------
    >>> centre, weight = value_intervals("ip", np.array([2.0, -1.0, 0.0]), 0.0, 1.0)
    >>> centre
    array([ 1. , -0.5,  0. ])
    >>> weight.round(6)
    array([1. , 0.5, 0. ])
    """
    smallest, largest = reward_limits(metric, query, low, high)
    half_width = (largest - smallest) / 2
    magnitude = np.maximum(np.abs(smallest), np.abs(largest))
    # The smallest normal number covers rewards so small that they lose digits.
    widened = half_width + rounding * magnitude + TINY
    return smallest + half_width, np.where(half_width > 0, widened, 0.0)


def from_values(
    metric: str, query: Floats, low: Floats, high: Floats, blocks: Blocks, n_arms: int
) -> Intervals:
    """Return the intervals of blocks that follow from limits of the data values, scalars or (N,)."""
    if metric == "ip" and low.ndim == high.ndim == 0:
        return _from_two_limits(query, float(low), float(high), blocks, n_arms)
    centre, weight = value_intervals(metric, query, low, high, _rounding_of(blocks))
    magnitude = float(np.abs(centre).sum())
    return Intervals(blocks.sums(centre), blocks.sums(weight), np.ones(n_arms), magnitude)


def _rounding_of(blocks: Blocks) -> float:
    return ROUNDING + UNIT_ROUNDOFF * blocks.size


def _from_two_limits(
    query: Floats, low: float, high: float, blocks: Blocks, n_arms: int
) -> Intervals:
    """Return the sums of `value_intervals` over blocks: here they are linear in the query."""
    half_width = (high - low) / 2
    middle = low + half_width
    centre = blocks.sums(query) * middle
    weight = blocks.sums(np.abs(query))
    magnitude = float(weight.sum()) * abs(middle)
    constant = weight == 0 if half_width > 0 else slice(None)
    weight *= half_width + _rounding_of(blocks) * max(abs(low), abs(high))
    weight += blocks.size * TINY
    weight[constant] = 0.0
    return Intervals(centre, weight, np.ones(n_arms), magnitude)


def from_scales(
    query: Floats, middle: Floats | float, scale: Floats | float, reach: Floats, blocks: Blocks
) -> Intervals:
    """Return the intervals of inner products that follow from ``|value - middle| <= reach * scale``.

    `reach` has one entry per arm. This holds for inner products only: a squared or absolute
    distance is not linear in the value.
    """
    weight = np.abs(query)
    weight *= scale
    farthest = max(float(np.max(middle)), -float(np.min(middle)))
    margin = _rounding_of(blocks) * farthest / float(np.min(scale))
    limit = reach * (1 + 1e-9) + margin
    centre = query * middle
    centres = blocks.sums(centre)
    magnitude = float(np.abs(centre).sum())
    weight = _without_underflow(blocks.sums(weight), query, blocks)
    return Intervals(centres, weight, limit, magnitude)


def _without_underflow(weight: Floats, query: Floats, blocks: Blocks) -> Floats:
    """Give the smallest weight to blocks whose weight is 0 only because it underflowed.

    They are drawn and read: only where the query is 0 are all rewards 0.
    """
    if not weight.all():
        weight[(weight == 0) & (blocks.sums(np.abs(query)) > 0)] = TINY
    return weight


def from_norms(query: Floats, norms: Floats, blocks: Blocks) -> Intervals:
    """Return the intervals of inner products that follow from upper bounds of the row norms, one per arm."""
    # A little more than |query|**2, which the theorem allows, so that rounding does not make it smaller.
    weight = _without_underflow(blocks.sums(query**2) * (1 + _rounding_of(blocks)), query, blocks)
    widened = norms * (1 + widened_norm_share(blocks.count))
    return Intervals(
        centre=np.zeros(len(weight)),
        weight=weight,
        limit=np.full(len(norms), np.inf),
        magnitude=0.0,
        square_limit=widened**2 + TINY_SQUARE,
    )


def from_distances(query: Floats, blocks: Blocks, n_arms: int) -> Intervals:
    """Return the intervals of negated distances without any limits: they are at most 0."""
    weight = blocks.sums(np.ones(len(query)))
    return Intervals(np.zeros(len(weight)), weight, np.zeros(n_arms), 0.0, two_sided=False)


def to_be_estimated(query: Floats, blocks: Blocks, n_arms: int) -> Intervals:
    """Return intervals for inner products with data without known limits."""
    weight = blocks.sums(np.abs(query))
    return Intervals(np.zeros(len(weight)), weight, np.full(n_arms, np.inf), 0.0)
