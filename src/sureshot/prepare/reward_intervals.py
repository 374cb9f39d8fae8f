"""Which intervals the rewards of a query have, by what is known of the data, and what they rest on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot._validate.request import DISTANCES
from sureshot.query_sums import QuerySums
from sureshot.search.condition import assumption, estimate, fact
from sureshot.theory import intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._native import Team
    from sureshot._types import Array, Floats
    from sureshot._validate.bounds import KnownBounds
    from sureshot.blocks import Blocks
    from sureshot.query_sums import Summed
    from sureshot.search.condition import Condition
    from sureshot.search.methods import Method
    from sureshot.theory.intervals import Intervals

# Norm bets are taken when the root mean square they work with is at most this part of the range that
# range bets work with. The sums of a block average out, which only norm bets profit from.
NORM_SHARE = 0.1
NORM_SHARE_OF_BLOCKS = 0.5
BLOCK = 16  # coordinates from which on it is called a block here

# Coordinates of the query, at least, that this is predicted from.
SAMPLED_COORDINATES = 4096

# More than the rounding of the middle and the width of a scan.
SCAN_ROUNDING = 1e-9


def choose_intervals(
    metric: str,
    query: Array,
    bounds: KnownBounds,
    computed_norms: Floats | None,
    method: Method,
    blocks: Blocks,
    n_arms: int,
    team: Team,
) -> tuple[Intervals, Condition]:
    """Return the best intervals that are known, and what they rest on.

    The query is of float64 or float32. `computed_norms` are those of the searched rows, if they were computed in this call.
    """
    if metric in DISTANCES:
        return _of_distances(
            metric, query.astype(np.float64, copy=False), bounds, method, blocks, n_arms
        )
    sums = QuerySums(query, blocks, team)
    by_value = _by_value(sums, bounds, n_arms)
    norms = bounds.norms if computed_norms is None else computed_norms
    # Norms give no limits of single rewards, which some methods need.
    if norms is not None and not method.needs_limits:
        squares, limits = sums.squares(), _limits_of_norms(bounds, computed_norms, blocks)
        if by_value is None or _norms_are_better(by_value, squares, limits, blocks):
            by_norm = intervals.from_norms(sums, squares.sums, limits.of_arms)
            if computed_norms is not None:
                return by_norm, fact("the norms were computed")
            return by_norm, _of_inner_products(metric, bounds, values_count=by_value is not None)
    if by_value is not None:
        return by_value.intervals(), _of_inner_products(metric, bounds, values_count=True)
    return intervals.to_be_estimated(sums, n_arms), estimate()


def norms_suit(
    query: Array, bounds: KnownBounds, method: Method, blocks: Blocks, n_arms: int, team: Team
) -> bool:
    """Return whether norm bets would be taken for inner products with a query in these blocks."""
    if bounds.norms is None or method.needs_limits:
        return False
    sums = QuerySums(query, blocks, team)
    with np.errstate(over="ignore", invalid="ignore"):
        by_value = _by_value(sums, bounds, n_arms)
        limits = _limits_of_norms(bounds, None, blocks)
        return by_value is None or _norms_are_better(by_value, sums.squares(), limits, blocks)


@dataclass(frozen=True, slots=True)
class ArmLimits:
    """A limit of each arm, and the typical one."""

    of_arms: Floats
    typical: float

    @classmethod
    def of(cls, limits: Floats) -> ArmLimits:
        """Return these limits with their median."""
        return cls(limits, float(np.median(limits)))


@dataclass(frozen=True, slots=True)
class ByValue:
    """Intervals that follow from limits of the values, and what they are chosen by before they are made."""

    weights: float  # of all blocks together, about
    typical_limit: float
    intervals: Callable[[], Intervals]


def _limits_of_norms(
    bounds: KnownBounds, computed_norms: Floats | None, blocks: Blocks
) -> ArmLimits:
    def limits() -> ArmLimits:
        norms = bounds.raised_norms() if computed_norms is None else computed_norms
        assert norms is not None, "norm bets have norms"
        return ArmLimits.of(intervals.squares_of_norms(norms, blocks))

    return limits() if computed_norms is not None else bounds.kept(("norms", blocks.count), limits)


def _of_distances(
    metric: str, query: Floats, bounds: KnownBounds, method: Method, blocks: Blocks, n_arms: int
) -> tuple[Intervals, Condition]:
    limits = bounds.limits()
    if method.needs_limits and not (
        bounds.middle is None or bounds.scale is None or bounds.reach is None
    ):
        width = bounds.scale * bounds.reach.max() * (1 + SCAN_ROUNDING)
        limits = bounds.middle - width, bounds.middle + width
    if limits is None:
        # A distance has a limit on one side without any bounds, which is the side that counts.
        found = intervals.from_distances(blocks, n_arms)
        return found, fact("a distance has no negative terms")
    low, high = limits
    if low.ndim == 2:
        low, high = low.min(), high.max()
    found = intervals.from_values(metric, query, low, high, blocks, n_arms)
    return found, assumption(bounds.words)


def _by_value(sums: QuerySums, bounds: KnownBounds, n_arms: int) -> ByValue | None:
    """Return what follows for inner products from limits of the values, if there are any."""
    if bounds.reach is not None and bounds.middle is not None and bounds.scale is not None:
        return _by_reach(sums, bounds, bounds.middle, bounds.scale, bounds.reach)
    limits = bounds.limits()
    if limits is None:
        return None
    low, high = limits
    if low.ndim == 2:  # limits of each row
        middle = (low.min() + high.max()) / 2
        reach = np.maximum(high - middle, middle - low)[:, 0]
        return _by_reach(sums, bounds, np.array(middle), np.ones(1), reach)
    if low.ndim == high.ndim == 0:
        found = intervals.from_two_limits(sums, float(low), float(high), n_arms)
    else:
        query = sums.query.astype(np.float64, copy=False)
        found = intervals.from_values("ip", query, low, high, sums.blocks, n_arms)
    return ByValue(float(found.weight.sum()), 1.0, lambda: found)


def _by_reach(
    sums: QuerySums, bounds: KnownBounds, middle: Floats, scale: Floats, reach: Floats
) -> ByValue:
    blocks = sums.blocks
    limits = bounds.kept(
        ("reach", blocks.size),
        lambda: ArmLimits.of(intervals.limits_of_reach(reach, middle, scale, blocks)),
    )
    # From some of the coordinates: most often norms are chosen, and a pass over all of them is saved.
    step = max(1, len(sums.query) // SAMPLED_COORDINATES)
    # Side by side: apart from each other they would come from memory one by one.
    scales = bounds.kept(("scale", step), scale[::step].copy)
    some = np.abs(sums.query[::step]) * scales
    return ByValue(
        float(some.mean()) * len(sums.query),
        limits.typical,
        lambda: intervals.from_scales(sums, sums.absolute(scale).sums, middle, limits.of_arms),
    )


def _norms_are_better(
    by_value: ByValue, squares: Summed, limits: ArmLimits, blocks: Blocks
) -> bool:
    """Return whether bets with norms are expected to need fewer pulls than bets with limits."""
    share = NORM_SHARE if blocks.size < BLOCK else NORM_SHARE_OF_BLOCKS
    root = math.sqrt(squares.total) * math.sqrt(limits.typical)
    return root <= share * by_value.weights * by_value.typical_limit


def _of_inner_products(metric: str, bounds: KnownBounds, *, values_count: bool) -> Condition:
    """Return what intervals from given bounds rest on; a cosine rests on the norms as well."""
    words = {bounds.words}
    if metric == "cosine" and bounds.exact_norms is not None:
        words = {bounds.words, bounds.norm_words} if values_count else {bounds.norm_words}
    return assumption(" and ".join(sorted(words)))
