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
    from sureshot.query_sums import QuerySums

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
    centre, weight = value_intervals(metric, query, low, high, rounding_of(blocks))
    magnitude = float(np.abs(centre).sum())
    return Intervals(blocks.sums(centre), blocks.sums(weight), np.ones(n_arms), magnitude)


def rounding_of(blocks: Blocks) -> float:
    """Return the share by which the interval of a block is widened."""
    return ROUNDING + UNIT_ROUNDOFF * blocks.size


def from_two_limits(sums: QuerySums, low: float, high: float, n_arms: int) -> Intervals:
    """Return the sums of `value_intervals` of inner products over blocks: here they are linear in the query."""
    half_width = (high - low) / 2
    middle = low + half_width
    absolute, blocks = sums.absolute(), sums.blocks
    magnitude = absolute.total * abs(middle)
    weight = absolute.sums * (half_width + rounding_of(blocks) * max(abs(low), abs(high)))
    weight += blocks.size * TINY
    weight[absolute.sums == 0 if half_width > 0 else slice(None)] = 0.0
    return Intervals(sums.products(np.array(middle)).sums, weight, np.ones(n_arms), magnitude)


def limits_of_reach(reach: Floats, middle: Floats, scale: Floats, blocks: Blocks) -> Floats:
    """Return the limit of y of each arm that follows from ``|value - middle| <= reach * scale``."""
    farthest = max(float(np.max(middle)), -float(np.min(middle)))
    margin = rounding_of(blocks) * farthest / float(np.min(scale))
    return reach * (1 + 1e-9) + margin


def from_scales(sums: QuerySums, weight: Floats, middle: Floats, limit: Floats) -> Intervals:
    """Return the intervals of inner products that follow from limits of the reach.

    `weight` has the sums of ``|query| * scale`` over the blocks, `limit` is that of `limits_of_reach`. This
    holds for inner products only: a squared or absolute distance is not linear in the value.
    """
    centre = sums.products(middle)
    return Intervals(centre.sums, _without_underflow(weight, sums), limit, centre.total)


def _without_underflow(weight: Floats, sums: QuerySums) -> Floats:
    """Give the smallest weight to blocks whose weight is 0 only because it underflowed.

    They are drawn and read: only where the query is 0 are all rewards 0.
    """
    if not weight.all():
        weight[(weight == 0) & (sums.absolute().sums > 0)] = TINY
    return weight


def squares_of_norms(norms: Floats, blocks: Blocks) -> Floats:
    """Return the limits of the squared norms that follow from upper bounds of the norms."""
    widened: Floats = norms * (1 + widened_norm_share(blocks.count))
    return widened**2 + TINY_SQUARE


def from_norms(sums: QuerySums, squares: Floats, square_limit: Floats) -> Intervals:
    """Return the intervals of inner products that follow from limits of the squared norms, one per arm.

    `squares` has the sums of ``query**2`` over the blocks.
    """
    # A little more than |query|**2, which the theorem allows, so that rounding does not make it smaller.
    weight = _without_underflow(squares * (1 + rounding_of(sums.blocks)), sums)
    return Intervals(
        centre=np.zeros(len(weight)),
        weight=weight,
        limit=np.full(len(square_limit), np.inf),
        magnitude=0.0,
        square_limit=square_limit,
    )


def from_distances(blocks: Blocks, n_arms: int) -> Intervals:
    """Return the intervals of negated distances without any limits: they are at most 0."""
    weight = blocks.sizes()
    return Intervals(np.zeros(len(weight)), weight, np.zeros(n_arms), 0.0, two_sided=False)


def to_be_estimated(sums: QuerySums, n_arms: int) -> Intervals:
    """Return intervals for inner products with data without known limits."""
    weight = sums.absolute().sums
    return Intervals(np.zeros(len(weight)), weight, np.full(n_arms, np.inf), 0.0)
