"""The arguments of `top_k`, `best_arms` and `scan`, checked and frozen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sureshot._validate.arrays import (
    data_array,
    has_zero_row,
    row_factors,
    selected_arms,
    sized_query_rows,
    weighted,
)
from sureshot._validate.bounds import known_bounds, pair
from sureshot._validate.calling import calling
from sureshot._validate.choices import kind, one_of
from sureshot._validate.memory import (
    PER_ARM,
    PER_REWARD,
    PER_SCANNED_COORDINATE,
    PER_SCANNED_ROW,
    refuse_beyond_memory,
)
from sureshot._validate.methods import (
    block_length,
    known_budget,
    known_method,
    refuse_small_budget,
    with_replacement,
)
from sureshot._validate.numbers import finite_number, loss_and_risk, whole_number
from sureshot._validate.running import (
    drawn_seed,
    place_to_save,
    progress_function,
    seed_to_draw,
    thread_count,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sureshot._seed import Seed
    from sureshot._types import Array, Floats, Ints
    from sureshot._validate.bounds import KnownBounds
    from sureshot._validate.calling import Calling
    from sureshot.query_sizes import QuerySizes
    from sureshot.result import RoundInfo, ScanInfo
    from sureshot.search.methods import Method
    from sureshot.storage.matrix import Matrix

METRICS = ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")
# Searched as negated distances, shown as distances.
DISTANCES = ("sqeuclidean", "l1")


class TopKRequest(NamedTuple):
    """The arguments of `top_k`, checked."""

    data: Array | Matrix
    queries: Floats  # (queries, N)
    query_sizes: QuerySizes | None  # of a large table, as it is
    single: bool
    k: int
    metric: str
    epsilon: float
    delta: float
    bounds: KnownBounds | None  # None: the searched rows are to be scanned
    method: Method
    replacement: bool
    budget: float | None
    budget_seconds: float | None
    arms: Ints
    row_scale: Floats | None  # of the searched arms
    expected_score: float | None
    seed: Seed
    threads: int
    block: int | None
    progress: Callable[[RoundInfo], object] | None


@dataclass(frozen=True, slots=True)
class ArmsRequest:
    """The arguments of `best_arms`, checked."""

    n_arms: int
    n_rewards: int
    k: int
    epsilon: float
    delta: float
    low: float
    high: float
    method: Method
    replacement: bool
    budget: float | None
    budget_seconds: float | None
    arms: Ints
    seed: int
    seed_given: bool  # or drawn here, because no rng was given
    progress: Callable[[RoundInfo], object] | None
    calling: Calling


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """The arguments of `scan`, checked."""

    data: Array | Matrix
    threads: int
    save: Path | bool  # True: beside the data, False: nowhere
    progress: Callable[[ScanInfo], object] | None


def top_k_request(
    *,
    data: Any,
    query: Any,
    k: Any,
    metric: Any,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    method: Any,
    replacement: Any,
    budget: Any,
    budget_seconds: Any,
    where: Any,
    row_scale: Any,
    expected_score: Any,
    rng: Any,
    threads: Any,
    block: Any,
    progress: Any,
) -> TopKRequest:
    """Check the arguments of `top_k`."""
    data = data_array(data)
    queries, sizes = sized_query_rows(query, data.shape[1], lambda: thread_count(threads))
    k = whole_number(k, "k", 1)
    metric = one_of(metric, METRICS, "metric")
    given, queries = queries, weighted(queries, data, metric)
    if metric == "cosine" and has_zero_row(queries):
        raise ValueError("metric='cosine' needs a query that is not all zeros")
    epsilon, delta = loss_and_risk(epsilon, delta)
    method = known_method(method, k)
    replacement = with_replacement(replacement, method)
    budget, budget_seconds = known_budget(budget, budget_seconds, method)
    arms = selected_arms(where, len(data), "data rows")
    _refuse_more_than_there_are(k, arms)
    refuse_small_budget(budget, len(arms), data.shape[1], method)
    # Only now, because they are cut to the searched arms.
    known = known_bounds(bounds, data, arms)
    if method.needs_limits and known is not None and not known.limits_known:
        message = (
            f"method={method.name!r} needs bounds=(low, high) of the data values, or a scan; "
            f"got {bounds!r}"
        )
        raise ValueError(message)
    row_scale = row_factors(row_scale, metric, len(data))
    if expected_score is not None:
        expected_score = finite_number(expected_score, "expected_score")
    return TopKRequest(
        data=data,
        queries=queries,
        query_sizes=sizes if queries is given else None,
        single=np.ndim(query) == 1,
        k=k,
        metric=metric,
        epsilon=epsilon,
        delta=delta,
        bounds=known,
        method=method,
        replacement=replacement,
        budget=budget,
        budget_seconds=budget_seconds,
        arms=arms,
        row_scale=None if row_scale is None else row_scale[arms],
        expected_score=expected_score,
        seed=seed_to_draw(rng),
        threads=thread_count(threads),
        block=block_length(block, method),
        progress=progress_function(progress),
    )


def best_arms_request(
    *,
    pull: Any,
    n_arms: Any,
    n_rewards: Any,
    k: Any,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    method: Any,
    replacement: Any,
    budget: Any,
    budget_seconds: Any,
    where: Any,
    rng: Any,
    progress: Any,
    executor: Any,
    pulls_per_call: Any,
    concurrency: Any,
    retries: Any,
    journal: Any,
) -> ArmsRequest:
    """Check the arguments of `best_arms`."""
    if not callable(pull):
        raise TypeError(f"pull must be a function of (arms, coordinates), got {kind(pull)}")
    n_arms = whole_number(n_arms, "n_arms", 1)
    n_rewards = whole_number(n_rewards, "n_rewards", 1)
    k = whole_number(k, "k", 1)
    epsilon, delta = loss_and_risk(epsilon, delta)
    low, high = pair(bounds)
    low, high = finite_number(low, "bounds[0]"), finite_number(high, "bounds[1]")
    if low >= high:
        raise ValueError(f"bounds must have low < high, got ({low:g}, {high:g})")
    method = known_method(method, k)
    replacement = with_replacement(replacement, method)
    budget, budget_seconds = known_budget(budget, budget_seconds, method)
    if where is None:
        refuse_beyond_memory(PER_ARM * n_arms, f"n_arms={n_arms}", "select some with where")
    refuse_beyond_memory(PER_REWARD * n_rewards, f"n_rewards={n_rewards}")
    arms = selected_arms(where, n_arms, "arms")
    _refuse_more_than_there_are(k, arms)
    refuse_small_budget(budget, len(arms), n_rewards, method)
    return ArmsRequest(
        n_arms=n_arms,
        n_rewards=n_rewards,
        k=k,
        epsilon=epsilon,
        delta=delta,
        low=low,
        high=high,
        method=method,
        replacement=replacement,
        budget=budget,
        budget_seconds=budget_seconds,
        arms=arms,
        seed=drawn_seed(rng),
        seed_given=rng is not None,
        progress=progress_function(progress),
        calling=calling(pull, executor, pulls_per_call, concurrency, retries, journal),
    )


def scan_request(*, data: Any, threads: Any, save: Any, progress: Any) -> ScanRequest:
    """Check the arguments of `scan`."""
    data = data_array(data)
    rows, width = data.shape
    refuse_beyond_memory(
        PER_SCANNED_ROW * rows + PER_SCANNED_COORDINATE * width,
        f"a scan of data of shape {data.shape}",
    )
    return ScanRequest(
        data=data,
        threads=thread_count(threads),
        save=place_to_save(save),
        progress=progress_function(progress, "ScanInfo"),
    )


def _refuse_more_than_there_are(k: int, arms: Ints) -> None:
    if k > len(arms):
        raise ValueError(f"k must be at most the number of selected arms, {len(arms)}, got {k}")
