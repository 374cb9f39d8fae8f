"""Puts a problem together: source, scale, and what the bounds say of the rewards."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from sureshot._validate import DISTANCES, RANGE_METHODS
from sureshot.search import cosine
from sureshot.search.problem import Problem
from sureshot.sources import select
from sureshot.theory import intervals
from sureshot.theory.intervals import Intervals

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Floats
    from sureshot._validate import ArmsRequest, TopKRequest
    from sureshot.sources.rewards import Rewards

# Norm bets are taken when the root mean square they work with is at most this part of the range that
# range bets work with. The sums of a block average out, which only norm bets profit from.
NORM_SHARE = 0.1
NORM_SHARE_OF_BLOCKS = 0.5
BLOCK = 16  # coordinates from which on it is called a block here

# The largest value of a query, as a power of two, is at most this, and at least one over it.
QUERY_EXPONENT = 300


def top_k_problem(
    request: TopKRequest, query: Floats, computed: Floats | None, team: Team
) -> Problem:
    """Return the problem of one query of `top_k`.

    `computed` are the norms of the searched rows, for cosines, if they were computed in this call.
    """
    n_arms, bounds, query_norm = len(request.arms), request.bounds, None
    unit = 1.0
    if request.metric not in DISTANCES:
        query, unit = in_range(query)
    scale = np.full(n_arms, unit) if request.row_scale is None else request.row_scale * unit
    if request.metric == "cosine":
        norms = bounds.exact_norms if computed is None else computed
        query_norm = cosine.norm_of(query)
        if norms is None:
            scale = np.full(n_arms, np.nan)  # found with the norms
        else:
            scale, query_norm = cosine.factors(norms, request.arms, query_norm), None
    with np.errstate(over="ignore", invalid="ignore"):
        known, assumption = _known(request, query, computed)
    rests_on_norms = request.metric == "cosine" and bounds.exact_norms is not None
    return Problem(
        source=select.dense_source(request, query, team),
        arms=request.arms,
        scale=scale,
        k=request.k,
        epsilon=request.epsilon,
        delta=request.delta,
        intervals=known,
        assumption=assumption,
        condition=f"as long as {bounds.norm_words}" if rests_on_norms else "",
        query_norm=query_norm,
        replacement=request.replacement,
        budget=_numbers(request.budget, n_arms * request.data.shape[1]),
        deadline=_deadline(request.budget_seconds),
        team=team,
        signs=(1.0, -1.0) if request.metric == "abs-ip" else (1.0,),
    )


def in_range(query: Floats) -> tuple[Floats, float]:
    """Return the query over a power of two, and that power: 1 for all but the oddest queries.

    Inner products are in proportion to the query. One whose squares would be too large or too small for
    float64 is scaled just as far as to have squares. Then no score is lost that float64 can hold.
    """
    largest = float(np.abs(query).max())
    exponent = math.frexp(largest)[1]
    beyond = exponent - min(max(exponent, -QUERY_EXPONENT), QUERY_EXPONENT)
    if beyond == 0 or largest == 0:
        return query, 1.0
    return np.ldexp(query, -beyond), math.ldexp(1.0, beyond)


def best_arms_problem(request: ArmsRequest, rewards: Rewards) -> Problem:
    """Return the problem of `best_arms`."""
    assumption = "unconditional as long as every reward lies within the given bounds"
    other = [] if rewards.journal is None else rewards.journal.changed
    if other:
        # Its rewards came in the order of the same seed: what they suggest is no longer random.
        assumption = (
            "as long as every reward lies within the given bounds, and nothing in the journal, which "
            f"was begun with another {' and '.join(other)}, suggested this search"
        )
    n_arms, n_rewards = len(request.arms), request.n_rewards
    half_width = (request.high - request.low) / 2
    magnitude = max(abs(request.low), abs(request.high))
    return Problem(
        source=select.function_source(request, rewards),
        arms=request.arms,
        scale=np.full(n_arms, 1 / n_rewards),
        k=request.k,
        epsilon=request.epsilon,
        delta=request.delta,
        intervals=Intervals(
            centre=np.full(n_rewards, request.low + half_width),
            weight=np.full(n_rewards, half_width + intervals.ROUNDING * magnitude),
            limit=np.ones(n_arms),
            magnitude=n_rewards * abs(request.low + half_width),
        ),
        assumption=assumption,
        unconditional=not other,
        replacement=request.replacement,
        budget=_numbers(request.budget, n_arms * n_rewards),
        deadline=_deadline(request.budget_seconds),
    )


def _numbers(share: float | None, everything: int) -> int | None:
    return None if share is None else int(share * everything)


def _deadline(seconds: float | None) -> float | None:
    return None if seconds is None else time.perf_counter() + seconds


def _known(request: TopKRequest, query: Floats, computed: Floats | None) -> tuple[Intervals, str]:
    """Return the best intervals that the bounds allow, and what they rest on."""
    bounds, blocks, n_arms = request.bounds, request.blocks, len(request.arms)
    if request.metric in ("sqeuclidean", "l1"):
        low, high = bounds.low, bounds.high
        scanned = bounds.middle is not None and bounds.scale is not None
        if request.method in RANGE_METHODS and scanned and bounds.reach is not None:
            width = bounds.scale * bounds.reach.max() * (1 + 1e-9)
            low, high = bounds.middle - width, bounds.middle + width
        if low is None or high is None:
            found = intervals.from_distances(query, blocks, n_arms)
            return found, "unconditional: a distance has no negative terms"
        if low.ndim == 2:
            low, high = low.min(), high.max()
        found = intervals.from_values(request.metric, query, low, high, blocks, n_arms)
        return found, f"unconditional as long as {bounds.words}"

    by_value = by_norm = None
    if bounds.reach is not None and bounds.middle is not None and bounds.scale is not None:
        by_value = intervals.from_scales(query, bounds.middle, bounds.scale, bounds.reach, blocks)
    elif bounds.low is not None and bounds.high is not None and bounds.low.ndim == 2:
        middle = (bounds.low.min() + bounds.high.max()) / 2
        reach = np.maximum(bounds.high - middle, middle - bounds.low)[:, 0]
        by_value = intervals.from_scales(query, middle, 1.0, reach, blocks)
    elif bounds.low is not None and bounds.high is not None:
        by_value = intervals.from_values("ip", query, bounds.low, bounds.high, blocks, n_arms)
    norms = bounds.norms if computed is None else computed
    # Where every reward must have limits of its own, norms say nothing.
    if norms is not None and request.method not in RANGE_METHODS:
        by_norm = intervals.from_norms(query, norms, blocks)

    words = {bounds.words}
    if request.metric == "cosine" and bounds.exact_norms is not None:
        words = {bounds.norm_words} if by_value is None else {bounds.words, bounds.norm_words}
    assumption = f"unconditional as long as {' and '.join(sorted(words))}"
    if by_norm is not None and (
        by_value is None or _norms_are_better(by_value, by_norm, blocks.size)
    ):
        return by_norm, assumption if computed is None else "unconditional: the norms were computed"
    if by_value is not None:
        return by_value, assumption
    return intervals.to_be_estimated(query, blocks, n_arms), ""


def _norms_are_better(by_value: Intervals, by_norm: Intervals, block: int) -> bool:
    if by_norm.square_limit is None:
        return False
    share = NORM_SHARE if block < BLOCK else NORM_SHARE_OF_BLOCKS
    root = np.sqrt(by_norm.weight.sum() * np.median(by_norm.square_limit))
    return bool(root <= share * by_value.weight.sum() * np.median(by_value.limit))
