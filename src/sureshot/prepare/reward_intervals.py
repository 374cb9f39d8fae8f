"""Which intervals the rewards of a query have, by what is known of the data, and what they rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._validate.request import DISTANCES
from sureshot.search.condition import assumption, estimate, fact
from sureshot.theory import intervals

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot._validate.bounds import KnownBounds
    from sureshot.blocks import Blocks
    from sureshot.search.condition import Condition
    from sureshot.search.methods import Method
    from sureshot.theory.intervals import Intervals

# Norm bets are taken when the root mean square they work with is at most this part of the range that
# range bets work with. The sums of a block average out, which only norm bets profit from.
NORM_SHARE = 0.1
NORM_SHARE_OF_BLOCKS = 0.5
BLOCK = 16  # coordinates from which on it is called a block here

# More than the rounding of the middle and the width of a scan.
SCAN_ROUNDING = 1e-9


def choose_intervals(
    metric: str,
    query: Floats,
    bounds: KnownBounds,
    computed_norms: Floats | None,
    method: Method,
    blocks: Blocks,
    n_arms: int,
) -> tuple[Intervals, Condition]:
    """Return the best intervals that are known, and what they rest on.

    `computed_norms` are those of the searched rows, if they were computed in this call.
    """
    if metric in DISTANCES:
        return _of_distances(metric, query, bounds, method, blocks, n_arms)
    by_value = _by_value(query, bounds, blocks, n_arms)
    norms = bounds.raised_norms() if computed_norms is None else computed_norms
    # Norms give no limits of single rewards, which some methods need.
    if norms is not None and not method.needs_limits:
        by_norm = intervals.from_norms(query, norms, blocks)
        if by_value is None or _norms_are_better(by_value, by_norm, blocks.size):
            if computed_norms is not None:
                return by_norm, fact("the norms were computed")
            return by_norm, _of_inner_products(metric, bounds, values_count=by_value is not None)
    if by_value is not None:
        return by_value, _of_inner_products(metric, bounds, values_count=True)
    return intervals.to_be_estimated(query, blocks, n_arms), estimate()


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
        found = intervals.from_distances(query, blocks, n_arms)
        return found, fact("a distance has no negative terms")
    low, high = limits
    if low.ndim == 2:
        low, high = low.min(), high.max()
    found = intervals.from_values(metric, query, low, high, blocks, n_arms)
    return found, assumption(bounds.words)


def _by_value(query: Floats, bounds: KnownBounds, blocks: Blocks, n_arms: int) -> Intervals | None:
    """Return the intervals of inner products that follow from limits of the values, if there are any."""
    if bounds.reach is not None and bounds.middle is not None and bounds.scale is not None:
        return intervals.from_scales(query, bounds.middle, bounds.scale, bounds.reach, blocks)
    limits = bounds.limits()
    if limits is None:
        return None
    low, high = limits
    if low.ndim == 2:  # limits of each row
        middle = (low.min() + high.max()) / 2
        reach = np.maximum(high - middle, middle - low)[:, 0]
        return intervals.from_scales(query, middle, 1.0, reach, blocks)
    return intervals.from_values("ip", query, low, high, blocks, n_arms)


def _norms_are_better(by_value: Intervals, by_norm: Intervals, block: int) -> bool:
    """Return whether bets with norms are expected to need fewer pulls than bets with limits."""
    if by_norm.square_limit is None:
        return False
    share = NORM_SHARE if block < BLOCK else NORM_SHARE_OF_BLOCKS
    root = np.sqrt(by_norm.weight.sum() * np.median(by_norm.square_limit))
    return bool(root <= share * by_value.weight.sum() * np.median(by_value.limit))


def _of_inner_products(metric: str, bounds: KnownBounds, *, values_count: bool) -> Condition:
    """Return what intervals from given bounds rest on; a cosine rests on the norms as well."""
    words = {bounds.words}
    if metric == "cosine" and bounds.exact_norms is not None:
        words = {bounds.words, bounds.norm_words} if values_count else {bounds.norm_words}
    return assumption(" and ".join(sorted(words)))
