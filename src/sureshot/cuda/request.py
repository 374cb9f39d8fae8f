"""Checks the arguments of `top_k` for an array on a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sureshot._elements import PRECISION
from sureshot._validate.arrays import query_rows, row_factors, selected_arms
from sureshot._validate.bounds import known_bounds, pair
from sureshot._validate.choices import one_of
from sureshot._validate.numbers import loss_and_risk, whole_number
from sureshot._validate.running import drawn_seed
from sureshot.bounds import Bounds
from sureshot.cuda.arrays import DeviceArray, device_array, is_on_device
from sureshot.cuda.compiler import METRICS, QUERIES, ROWS
from sureshot.cuda.plan import MOST_ARMS

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot._validate.bounds import KnownBounds

METHODS = ("betting", "exact")
# Columns and rows are counted in 31 bits on the device.
MOST_COUNT = 2**31 - 2**16


class Request(NamedTuple):
    """What is searched for on a device, checked."""

    data: Any  # the array as it was given
    array: DeviceArray
    asked: Any  # the query as it was given
    query: DeviceArray | Array  # of the host: float32 or float64, (queries, N)
    single: bool
    n_queries: int
    k: int
    metric: str
    epsilon: float
    delta: float
    bounds: Any
    exact: bool
    arms: Ints | None
    row_scale: Floats | None
    seed: int
    key: CallKey | None  # of later calls like this one


class CallKey(NamedTuple):
    """What calls on the same data with the same bounds must have in common to be alike, as it was given."""

    k: Any
    metric: Any
    epsilon: Any
    delta: Any
    method: Any


def call_key(arguments: dict[str, Any]) -> CallKey | None:
    """Return by what a call is remembered; None if it has arguments that only few calls have."""
    for name, value in arguments.items():
        if value is not None and name not in _OF_ALL_CALLS:
            return None
    return CallKey(*(arguments[name] for name in CallKey._fields))


_OF_ALL_CALLS = frozenset((*CallKey._fields, "query", "bounds", "rng"))


def device_request(
    data: Any,
    *,
    query: Any,
    k: Any,
    metric: Any,
    epsilon: Any,
    delta: Any,
    bounds: Any,
    method: Any,
    where: Any,
    row_scale: Any,
    rng: Any,
    **others: Any,
) -> Request:
    """Check the arguments of `top_k` for data on a device; it takes none of the others."""
    array = data_on_device(data)
    rows, width = array.shape
    asked = query_on_device(query, array) if is_on_device(query) else query_rows(query, width)
    k = whole_number(k, "k", 1)
    if k > MOST_ARMS:
        raise ValueError(f"k must be at most {MOST_ARMS} on a device, got {k}")
    key = None
    if where is None and row_scale is None:
        key = CallKey(k, metric, epsilon, delta, method)
    metric = one_of(metric, METRICS, "metric of a search on a device")
    epsilon, delta = loss_and_risk(epsilon, delta)
    method = one_of(method, METHODS, "method of a search on a device")
    refuse_unsupported("search", others)
    arms = None
    if where is not None:
        arms = selected_arms(on_host(where, "where"), rows, "data rows")
    searched = rows if arms is None else len(arms)
    if k > searched:
        raise ValueError(f"k must be at most the number of selected arms, {searched}, got {k}")
    factors = None
    if row_scale is not None:
        factors = row_factors(on_host(row_scale, "row_scale"), metric, rows)
    return Request(
        data=data,
        array=array,
        asked=query,
        query=asked,
        single=len(asked.shape if isinstance(asked, DeviceArray) else np.shape(query)) == 1,
        n_queries=1 if len(asked.shape) == 1 else asked.shape[0],
        k=k,
        metric=metric,
        epsilon=epsilon,
        delta=delta,
        bounds=bounds,
        exact=method == "exact",
        arms=arms,
        row_scale=factors,
        seed=seed_of(rng),
        key=key,
    )


def refuse_unsupported(what: str, arguments: dict[str, Any]) -> None:
    """Raise an error if an argument is given that means nothing on a device."""
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(f"a {what} on a device takes no {name}: expected None, got {value!r}")


def data_on_device(data: Any) -> DeviceArray:
    """Return the data, which must be a matrix that the kernels can read."""
    array = device_array(data, "data")
    if len(array.shape) != 2:
        raise ValueError(
            f"data must have 2 dimensions (arms, coordinates), got shape {array.shape}"
        )
    if array.dtype not in ROWS:
        raise TypeError(f"data on a device must hold one of {', '.join(ROWS)}, got {array.dtype}")
    rows, width = array.shape
    if 0 in array.shape:
        raise ValueError(f"data must not be empty, got shape {array.shape}")
    if max(rows, width) > MOST_COUNT:
        raise ValueError(
            f"data on a device must have fewer than {MOST_COUNT:,} rows and columns, got shape {array.shape}"
        )
    by_row = array.strides[1] == 1 or width == 1
    by_column = array.strides[0] == 1 or rows == 1
    if not (by_row or by_column):
        raise ValueError(
            "data on a device must have rows or columns whose values follow each other, got strides "
            f"{array.strides}; make them so once with data.contiguous() or ascontiguousarray"
        )
    apart, least = (array.strides[0], width) if by_row else (array.strides[1], rows)
    if apart < least and min(rows, width) > 1:
        raise ValueError(
            f"data on a device must have rows that do not overlap, got strides {array.strides}"
        )
    return array


def query_on_device(query: Any, data: DeviceArray) -> DeviceArray | Array:
    """Return a query on the device of the data; other types than float32 and float64 come from the host."""
    array = device_array(query, "query")
    if len(array.shape) not in (1, 2):
        raise ValueError(f"query must have 1 or 2 dimensions, got shape {array.shape}")
    if array.shape[-1] != data.shape[1]:
        raise ValueError(
            f"query must have {data.shape[1]} coordinates like the rows of data, got {array.shape[-1]}"
        )
    if array.shape[0] == 0:
        raise ValueError("query must hold at least one query, got none")
    if array.device != data.device:
        raise ValueError(
            f"query must lie on device {data.device} like data, got device {array.device}"
        )
    if array.dtype not in QUERIES or (array.strides[-1] != 1 and array.shape[-1] > 1):
        return query_rows(on_host(query, "query"), data.shape[1])
    return array


def on_host(values: Any, name: str) -> Array:
    """Return an array of the host, or a copy of one on a device."""
    if not is_on_device(values):
        return np.asarray(values)
    for copy in ("cpu", "get", "copy_to_host"):  # of torch, CuPy, numba
        if hasattr(values, copy):
            values = getattr(values, copy)()
            break
    if str(getattr(values, "dtype", "")) == "torch.bfloat16":
        values = values.float()
    try:
        return np.asarray(values)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} cannot be copied to the host: {error}") from error


_seeds: dict[int, int] = {}


def seed_of(rng: Any) -> int:
    """Return the seed that `rng` draws; that of an integer is kept, since to draw it takes ten microseconds."""
    if type(rng) is not int:
        return drawn_seed(rng)
    seed = _seeds.get(rng)
    if seed is None:
        seed = drawn_seed(rng)
        if len(_seeds) >= 1024:
            _seeds.clear()
        _seeds[rng] = seed
    return seed


class _Element(NamedTuple):
    """The name of an element type: numpy does not know all of them."""

    name: str


class _Shape(NamedTuple):
    """What checks of bounds ask of data."""

    shape: tuple[int, ...]
    dtype: _Element

    def __len__(self) -> int:
        return self.shape[0]


def declared(bounds: Any, array: DeviceArray) -> KnownBounds:
    """Return what bounds that are given as numbers say of all rows, checked."""
    if isinstance(bounds, (tuple, list)):
        low, high = pair(bounds)
        bounds = Bounds(low=low, high=high)
    data: Any = _Shape(array.shape, _Element(array.dtype))
    found = known_bounds(bounds, data, np.arange(array.shape[0]))
    assert found is not None, "a scan is made before"
    return found


def limits(known: KnownBounds, dtype: str) -> tuple[float, float] | None:
    """Return the limits of all values, if there are any, as numbers that the data can have.

    0.1 in float32 is a little more than 0.1.
    """
    if known.low is None or known.high is None:
        return None
    if known.low.ndim or known.high.ndim:
        raise ValueError(
            "bounds of data on a device must be two numbers, norms or a scan, got limits of shapes "
            f"{known.low.shape} and {known.high.shape}; scan(data) knows more than these"
        )
    low, high = float(known.low), float(known.high)
    if dtype in PRECISION:
        low, high = min(low, _nearest(low, dtype)), max(high, _nearest(high, dtype))
    return low, high


def _nearest(limit: float, dtype: str) -> float:
    """Return the nearest number of a type: numpy alone does not know bfloat16, the upper half of float32."""
    with np.errstate(over="ignore"):
        if dtype != "bfloat16":
            return float(np.dtype(dtype).type(limit))
        bits = int(np.float32(limit).view(np.uint32))
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return float(np.uint32(bits).view(np.float32))


def bounds_key(bounds: Any) -> Any:
    """Return what norms made of these bounds are kept by; None if they may be others the next time."""
    if bounds is None or isinstance(bounds, str):
        return bounds or "none"
    if isinstance(bounds, Bounds):
        return id(bounds) if bounds.unchangeable else None
    return None
