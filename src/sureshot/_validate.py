"""The only place that judges what a user passes. Checks stand in argument order."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._elements import ELEMENTS, is_number
from sureshot._native import Team
from sureshot._validate_bounds import KnownBounds, kind, known_bounds, one_of, pair
from sureshot._validate_numbers import whole_number
from sureshot._validate_pulls import Pulling, pulling
from sureshot.blocks import Blocks
from sureshot.search.run import BANDITS, FIXED_BUDGET, METHODS, TOP_ONE, WITH_BUDGET
from sureshot.sources.dense import is_coordinate_major
from sureshot.theory.budgets import fewest_pulls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sureshot._types import Array, Floats, Ints
    from sureshot.result import RoundInfo

METRICS = ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")
# Searched as negated distances, shown as distances.
DISTANCES = ("sqeuclidean", "l1")
# Those that row_scale works with.
SCALED = ("ip", "abs-ip")

# Methods that pull single coordinates and need limits of every reward.
RANGE_METHODS = ("bounded-me", *BANDITS)

# More than any machine has; the native code counts threads in 32 bits.
MOST_THREADS = 1 << 16

# Bytes that come together from memory.
CACHE_LINE = 64

# Bytes from which on an array has pages of its own, and so always the same place within a cache line.
LARGE_ARRAY = 1 << 25

# Columns read together where only norms are known.
COLUMNS_FOR_NORMS = 16


@dataclass(frozen=True, slots=True)
class TopKRequest:
    """The arguments of `top_k`, checked."""

    data: Array
    queries: Floats  # (queries, N)
    single: bool
    k: int
    metric: str
    epsilon: float
    delta: float
    bounds: KnownBounds
    method: str
    replacement: bool
    budget: float | None
    budget_seconds: float | None
    arms: Ints
    row_scale: Floats | None  # of the searched arms
    seed: int
    threads: int
    team: Team
    blocks: Blocks
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
    method: str
    replacement: bool
    budget: float | None
    budget_seconds: float | None
    arms: Ints
    seed: int
    seed_given: bool  # or drawn here, because no rng was given
    progress: Callable[[RoundInfo], object] | None
    pulling: Pulling


def top_k_request(
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
    rng: Any,
    threads: Any,
    block: Any,
    progress: Any,
) -> TopKRequest:
    """Check the arguments of `top_k`."""
    data = _data(data)
    queries = _queries(query, data.shape[1])
    k = _count(k, "k")
    metric = one_of(metric, METRICS, "metric")
    if metric == "cosine" and not queries.any(axis=1).all():
        raise ValueError("metric='cosine' needs a query that is not all zeros")
    epsilon, delta = _promise(epsilon, delta)
    method = _method(method, k)
    replacement = _replacement(replacement, method)
    budget, budget_seconds = _budget(budget, budget_seconds, method)
    arms = _arms(where, len(data), "data rows")
    if k > len(arms):
        raise ValueError(f"k must be at most the number of selected arms, {len(arms)}, got {k}")
    _refuse_small_budget(budget, len(arms), data.shape[1], method)
    row_scale = _row_scale(row_scale, metric, len(data))
    threads = _threads(threads)
    team = Team(threads)
    if data.nbytes >= LARGE_ARRAY:
        team.start()  # They take their time to wake up: meanwhile the problem is set up.
    known = known_bounds(bounds, data, arms, team)
    if method in RANGE_METHODS and known.low is None and known.reach is None:
        message = (
            f"method={method!r} needs bounds=(low, high) of the data values, or a scan; "
            f"got {bounds!r}"
        )
        raise ValueError(message)
    only_norms = known.low is None and known.reach is None
    only_norms = only_norms and (metric == "cosine" or known.norms is not None)
    return TopKRequest(
        data=data,
        queries=queries,
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
        seed=_seed(rng),
        threads=threads,
        team=team,
        blocks=_blocks(block, data, method, only_norms=only_norms),
        progress=_progress(progress),
    )


def best_arms_request(
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
    n_arms = _count(n_arms, "n_arms")
    n_rewards = _count(n_rewards, "n_rewards")
    k = _count(k, "k")
    epsilon, delta = _promise(epsilon, delta)
    low, high = pair(bounds)
    low, high = _real(low, "bounds[0]"), _real(high, "bounds[1]")
    if low >= high:
        raise ValueError(f"bounds must have low < high, got ({low:g}, {high:g})")
    method = _method(method, k)
    replacement = _replacement(replacement, method)
    budget, budget_seconds = _budget(budget, budget_seconds, method)
    arms = _arms(where, n_arms, "arms")
    if k > len(arms):
        raise ValueError(f"k must be at most the number of selected arms, {len(arms)}, got {k}")
    _refuse_small_budget(budget, len(arms), n_rewards, method)
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
        seed=_seed(rng),
        seed_given=rng is not None,
        progress=_progress(progress),
        pulling=pulling(pull, executor, pulls_per_call, concurrency, retries, journal),
    )


def scan_request(data: Any, threads: Any) -> tuple[Array, Team]:
    """Check the arguments of `scan`."""
    return _data(data), Team(_threads(threads))


def fit_request(data: Any, threads: Any) -> tuple[Array, int]:
    """Check what a baseline is made of: data that matrix products take, and threads."""
    data = _data(data)
    if data.dtype not in (np.float32, np.float64):
        raise TypeError(f"data of a baseline must hold float32 or float64, got {data.dtype}")
    return data, _threads(threads)


def query_request(query: Any, k: Any, shape: tuple[int, int]) -> tuple[Floats, int]:
    """Check what a baseline is asked; `shape` is that of its data."""
    if np.ndim(query) != 1:
        raise ValueError(f"query must have 1 dimension, got shape {np.shape(query)}")
    queries = _queries(query, shape[1])
    k = _count(k, "k")
    if k > shape[0]:
        raise ValueError(f"k must be at most the number of data rows, {shape[0]}, got {k}")
    return queries[0], k


def seed_of(rng: Any) -> int:
    """Return a seed drawn from what a user gave as `rng`."""
    return _seed(rng)


def _data(data: Any) -> Array:
    if not isinstance(data, np.ndarray) or isinstance(data, np.ma.MaskedArray):
        message = (
            f"data must be a numpy array or memory map of shape (arms, coordinates), "
            f"got {kind(data)}"
        )
        raise TypeError(message)
    if data.ndim != 2:
        raise ValueError(f"data must have 2 dimensions (arms, coordinates), got shape {data.shape}")
    if data.dtype.name not in ELEMENTS:
        known = ", ".join(ELEMENTS)
        raise TypeError(f"data must hold one of {known}, got {data.dtype}")
    if not data.dtype.isnative:
        message = (
            f"data must have this machine's byte order, got {data.dtype.str!r}; convert it once "
            "with data.astype(data.dtype.newbyteorder('='))"
        )
        raise TypeError(message)
    if data.size == 0:
        raise ValueError(f"data must not be empty, got shape {data.shape}")
    if any(stride % data.itemsize for stride in data.strides) or not data.flags.aligned:
        message = (
            f"data must be aligned to its elements of {data.itemsize} bytes, got strides "
            f"{data.strides}; copy that field once with numpy.ascontiguousarray"
        )
        raise ValueError(message)
    return data


def _queries(query: Any, width: int) -> Floats:
    given = np.asarray(query)
    if not is_number(given.dtype) or given.dtype.itemsize > 8:
        raise TypeError(f"query must hold real numbers of at most 64 bits, got {given.dtype}")
    if given.ndim not in (1, 2):
        raise ValueError(f"query must have 1 or 2 dimensions, got shape {given.shape}")
    if given.shape[-1] != width:
        message = (
            f"query must have {width} coordinates like the rows of data, got {given.shape[-1]}"
        )
        raise ValueError(message)
    if len(given) == 0:
        raise ValueError("query must hold at least one query, got none")
    queries = np.ascontiguousarray(given, dtype=np.float64).reshape(-1, width)
    if not np.isfinite(queries).all():
        row, coordinate = np.argwhere(~np.isfinite(queries))[0]
        message = (
            f"query must be finite, got {queries[row, coordinate]} at coordinate {coordinate}"
            + ("" if given.ndim == 1 else f" of query {row}")
        )
        raise ValueError(message)
    if (
        given.dtype.kind in "iu"
        and not (queries.astype(given.dtype).reshape(given.shape) == given).all()
    ):
        message = f"query values of type {given.dtype} must fit into float64 without loss"
        raise ValueError(message)
    return queries


def _count(value: Any, name: str) -> int:
    return whole_number(value, name, 1)


def _real(value: Any, name: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def _promise(epsilon: Any, delta: Any) -> tuple[float, float]:
    epsilon = _real(epsilon, "epsilon")
    if epsilon < 0:
        raise ValueError(f"epsilon must be at least 0, got {epsilon:g}")
    delta = _real(delta, "delta")
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta:g}")
    return epsilon, delta


def _budget(budget: Any, seconds: Any, method: str) -> tuple[float | None, float | None]:
    if budget is not None:
        budget = _real(budget, "budget")
        if not 0 < budget <= 1:
            message = (
                f"budget must be a share of all numbers, above 0 and at most 1, got {budget:g}"
            )
            raise ValueError(message)
    if seconds is not None:
        seconds = _real(seconds, "budget_seconds")
        if seconds <= 0:
            raise ValueError(f"budget_seconds must be above 0, got {seconds:g}")
    if method not in WITH_BUDGET and not (budget is None and seconds is None):
        message = f"a budget works with {_names(WITH_BUDGET)}, got method={method!r}"
        raise ValueError(message)
    if method in FIXED_BUDGET and seconds is not None:
        message = (
            f"method={method!r} plans its pulls beforehand and cannot watch the clock: expected "
            f"budget, got budget_seconds={seconds:g}"
        )
        raise ValueError(message)
    if method in FIXED_BUDGET and budget is None:
        message = (
            f"method={method!r} spends a fixed budget: expected budget=, a share of all numbers "
            "above 0 and at most 1, got None"
        )
        raise ValueError(message)
    return budget, seconds


def _method(method: Any, k: int) -> str:
    name = one_of(method, METHODS, "method")
    if k > 1 and name in TOP_ONE:
        others = [other for other in METHODS if other not in TOP_ONE]
        message = (
            f"method={name!r} finds the best arm only, got k={k}; methods for more are "
            f"{_names(others)}"
        )
        raise ValueError(message)
    return name


def _replacement(replacement: Any, method: str) -> bool:
    if replacement is not None and not isinstance(replacement, (bool, np.bool_)):
        raise TypeError(f"replacement must be None, True or False, got {replacement!r}")
    if replacement and method not in BANDITS:
        message = (
            f"method={method!r} never reads a number twice: replacement=True works with "
            f"{_names(BANDITS)}"
        )
        raise ValueError(message)
    return method in BANDITS if replacement is None else bool(replacement)


def _refuse_small_budget(
    budget: float | None, n_arms: int, n_coordinates: int, method: str
) -> None:
    if method not in FIXED_BUDGET or budget is None:
        return
    numbers, fewest = int(budget * n_arms * n_coordinates), fewest_pulls(method, n_arms)
    if numbers < fewest:
        message = (
            f"method={method!r} needs a budget of at least {fewest} pulls for {n_arms} arms, got "
            f"budget={budget:g}, which is {numbers} pulls"
        )
        raise ValueError(message)


def _names(methods: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in methods)


def _blocks(block: Any, data: Array, method: str, *, only_norms: bool) -> Blocks:
    """One coordinate where a column is contiguous, else a cache line.

    Norm bets weigh a block by the squared query, so a single coordinate with a small query value has
    an enormous normalised reward: where nothing but norms is known, columns are read in blocks, too.
    """
    n_coordinates = int(data.shape[1])
    if block is not None:
        size = _count(block, "block")
        if method in RANGE_METHODS and size != 1:
            raise ValueError(f"method={method!r} pulls single coordinates, got block={size}")
    elif method in RANGE_METHODS:
        size = 1
    elif is_coordinate_major(data):
        size = COLUMNS_FOR_NORMS if only_norms else 1
    else:
        size = CACHE_LINE // data.itemsize
    size = min(size, n_coordinates)
    return Blocks(n_coordinates, size, _shift(data, size))


def _shift(data: Array, size: int) -> int:
    """Return by how much the first block must be shorter for the others to begin with a cache line.

    A block across two lines costs twice the time. Small arrays are in the caches anyway, and their
    address may change from run to run, on which no search should depend.
    """
    row, number = data.strides
    whole_lines = row % CACHE_LINE == 0 and size * data.itemsize % CACHE_LINE == 0
    if number != data.itemsize or not whole_lines or data.nbytes < LARGE_ARRAY:
        return 0
    return int(data.ctypes.data % CACHE_LINE // data.itemsize)


def _arms(where: Any, n_arms: int, what: str) -> Ints:
    if where is None:
        return np.arange(n_arms)
    selection = np.asarray(where)
    if selection.ndim != 1:
        raise ValueError(f"where must have 1 dimension, got shape {selection.shape}")
    if selection.dtype == np.bool_:
        if len(selection) != n_arms:
            message = f"where as a mask must have one entry per arm, {n_arms}, got {len(selection)}"
            raise ValueError(message)
        selection = np.flatnonzero(selection)
    elif selection.dtype.kind not in "iu" and len(selection):
        message = f"where must be a boolean mask or an array of indices, got {selection.dtype}"
        raise TypeError(message)
    if len(selection) == 0:
        raise ValueError(f"where must select at least one of the {what}, got none")
    ordered = np.sort(selection.astype(np.int64))
    if ordered[0] < 0 or ordered[-1] >= n_arms:
        wrong = ordered[0] if ordered[0] < 0 else ordered[-1]
        raise ValueError(f"where must hold indices from 0 to {n_arms - 1}, got {wrong}")
    repeated = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(repeated):
        raise ValueError(f"where must not repeat an index, got {ordered[repeated[0]]} twice")
    return ordered


def _row_scale(row_scale: Any, metric: str, n_arms: int) -> Floats | None:
    if row_scale is None:
        return None
    if metric not in SCALED:
        message = f"row_scale works with metric {_names(SCALED)}, got metric={metric!r}"
        if metric == "cosine":
            message += ", which is the inner product over the norms: give those with Bounds"
        raise ValueError(message)
    given = np.asarray(row_scale)
    if not is_number(given.dtype):
        raise TypeError(f"row_scale must hold numbers, got {given.dtype}")
    if given.shape != (n_arms,):
        message = (
            f"row_scale must have one factor for each of the {n_arms} rows, got shape {given.shape}"
        )
        raise ValueError(message)
    factors = given.astype(np.float64)
    right = np.isfinite(factors) & (factors > 0)
    if not right.all():
        row = int(np.argmin(right))
        message = f"row_scale must be finite and above 0, got {factors[row]:g} for row {row}"
        raise ValueError(message)
    return factors


def _seed(rng: Any) -> int:
    """Draw the seed of this call, so that each query of a batch can start from the same one."""
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        message = f"rng must be None, a non-negative integer or a numpy Generator, got {rng!r}"
        raise type(error)(message) from None
    return int(generator.integers(2**63))


def _threads(threads: Any) -> int:
    if threads is not None:
        return min(_count(threads, "threads"), MOST_THREADS)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _progress(progress: Any) -> Callable[[RoundInfo], object] | None:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of one RoundInfo, got {kind(progress)}")
    return progress  # type: ignore[no-any-return]
