"""The only place that judges what a user passes. Checks stand in argument order."""

from __future__ import annotations

import operator
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.search.run import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from sureshot._types import Array, Floats, Ints
    from sureshot.result import RoundInfo

METRICS = ("ip", "sqeuclidean", "l1", "cosine")
# Searched as negated distances, shown as distances.
DISTANCES = ("sqeuclidean", "l1")
# Element types the kernels read.
ELEMENT_TYPES = ("float32", "float64", "int8", "uint8", "int16", "bool")


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the data values, scalars or one per coordinate."""

    low: Floats
    high: Floats


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
    limits: Limits | None
    method: str
    arms: Ints
    seed: int
    threads: int
    progress: Callable[[RoundInfo], object] | None


@dataclass(frozen=True, slots=True)
class ArmsRequest:
    """The arguments of `best_arms`, checked."""

    pull: Callable[[Ints, Ints], Array]
    n_arms: int
    n_rewards: int
    k: int
    epsilon: float
    delta: float
    low: float
    high: float
    method: str
    arms: Ints
    seed: int
    progress: Callable[[RoundInfo], object] | None


def top_k_request(
    data: Any,
    query: Any,
    k: Any,
    metric: Any,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    method: Any,
    where: Any,
    rng: Any,
    threads: Any,
    progress: Any,
) -> TopKRequest:
    """Check the arguments of `top_k`."""
    data = _data(data)
    queries = _queries(query, data.shape[1])
    k = _count(k, "k")
    metric = _one_of(metric, METRICS, "metric")
    if metric == "cosine" and not queries.any(axis=1).all():
        raise ValueError("metric='cosine' needs a query that is not all zeros")
    epsilon, delta = _promise(epsilon, delta)
    limits = None if bounds is None else _limits(bounds, data.shape[1], data.dtype)
    method = _one_of(method, METHODS, "method")
    if method == "bounded-me" and limits is None:
        raise ValueError(
            "method='bounded-me' needs bounds=(low, high) of the data values, got None"
        )
    arms = _arms(where, len(data), "data rows")
    if k > len(arms):
        raise ValueError(f"k must be at most the number of selected arms, {len(arms)}, got {k}")
    return TopKRequest(
        data=data,
        queries=queries,
        single=np.ndim(query) == 1,
        k=k,
        metric=metric,
        epsilon=epsilon,
        delta=delta,
        limits=limits,
        method=method,
        arms=arms,
        seed=_seed(rng),
        threads=_threads(threads),
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
    where: Any,
    rng: Any,
    progress: Any,
) -> ArmsRequest:
    """Check the arguments of `best_arms`."""
    if not callable(pull):
        raise TypeError(f"pull must be a function of (arms, coordinates), got {_kind(pull)}")
    n_arms = _count(n_arms, "n_arms")
    n_rewards = _count(n_rewards, "n_rewards")
    k = _count(k, "k")
    epsilon, delta = _promise(epsilon, delta)
    low, high = _pair(bounds)
    low, high = _real(low, "bounds[0]"), _real(high, "bounds[1]")
    if low >= high:
        raise ValueError(f"bounds must have low < high, got ({low:g}, {high:g})")
    method = _one_of(method, METHODS, "method")
    arms = _arms(where, n_arms, "arms")
    if k > len(arms):
        raise ValueError(f"k must be at most the number of selected arms, {len(arms)}, got {k}")
    return ArmsRequest(
        pull=pull,
        n_arms=n_arms,
        n_rewards=n_rewards,
        k=k,
        epsilon=epsilon,
        delta=delta,
        low=low,
        high=high,
        method=method,
        arms=arms,
        seed=_seed(rng),
        progress=_progress(progress),
    )


def refuse_zero_rows(norms: Floats, arms: Ints) -> None:
    """Refuse rows without a direction: their cosine is not defined."""
    if not norms.all():
        row = arms[int(np.argmin(norms))]
        message = (
            f"metric='cosine' needs rows that are not zero, and data row {row} has norm 0; "
            "leave such rows out with where="
        )
        raise ValueError(message)


def _kind(value: object) -> str:
    return type(value).__name__


def _data(data: Any) -> Array:
    if not isinstance(data, np.ndarray) or isinstance(data, np.ma.MaskedArray):
        message = (
            f"data must be a numpy array or memory map of shape (arms, coordinates), "
            f"got {_kind(data)}"
        )
        raise TypeError(message)
    if data.ndim != 2:
        raise ValueError(f"data must have 2 dimensions (arms, coordinates), got shape {data.shape}")
    if data.dtype.name not in ELEMENT_TYPES:
        known = ", ".join(ELEMENT_TYPES)
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
    if given.dtype.kind not in "fiub":
        raise TypeError(f"query must hold real numbers, got an array of {given.dtype}")
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
    if not (queries == given.reshape(-1, width)).all():
        message = f"query values of type {given.dtype} must fit into float64 without loss"
        raise ValueError(message)
    return queries


def _count(value: Any, name: str) -> int:
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError  # noqa: TRY301 - the same message as for any other non-integer
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if count < 1:
        raise ValueError(f"{name} must be at least 1, got {count}")
    return count


def _one_of(value: Any, known: Collection[str], name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {_kind(value)}")
    if value not in known:
        choices = ", ".join(repr(choice) for choice in known)
        raise ValueError(f"{name} must be one of {choices}; got {value!r}")
    return value


def _real(value: Any, name: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
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


def _pair(bounds: Any) -> tuple[Any, Any]:
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        raise TypeError(f"bounds must be a pair (low, high), got {bounds!r}")
    return bounds[0], bounds[1]


def _limits(bounds: Any, width: int, dtype: np.dtype[Any]) -> Limits:
    low, high = _pair(bounds)
    low, high = _limit(low, "low", width), _limit(high, "high", width)
    if low.ndim == high.ndim == 0 and low >= high:
        raise ValueError(f"bounds must have low < high, got ({low:g}, {high:g})")
    if (low > high).any():
        j = int(np.argmax(np.broadcast_to(low > high, (width,))))
        raise ValueError(f"bounds must have low <= high, but not so at coordinate {j}")
    if dtype.kind == "f":
        # 0.1 in float32 is a little more than 0.1: limits mean the nearest values the data can have.
        with np.errstate(over="ignore"):
            rounded_low, rounded_high = low.astype(dtype), high.astype(dtype)
        low = np.where(np.isfinite(rounded_low), np.minimum(low, rounded_low), low)
        high = np.where(np.isfinite(rounded_high), np.maximum(high, rounded_high), high)
    return Limits(low, high)


def _limit(value: Any, name: str, width: int) -> Floats:
    given = np.asarray(value)
    if given.dtype.kind not in "fiub":
        raise TypeError(f"bounds must be numbers, got {name} = {value!r}")
    limit = given.astype(np.float64)
    if limit.shape not in ((), (width,)):
        message = (
            f"bounds must be scalars or arrays of shape ({width},), one per coordinate; "
            f"got {name} of shape {limit.shape}"
        )
        raise ValueError(message)
    if not np.isfinite(limit).all():
        raise ValueError(f"bounds must be finite, got {name} = {value!r}")
    return limit


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
        return _count(threads, "threads")
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _progress(progress: Any) -> Callable[[RoundInfo], object] | None:
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be a function of one RoundInfo, got {_kind(progress)}")
    return progress  # type: ignore[no-any-return]
