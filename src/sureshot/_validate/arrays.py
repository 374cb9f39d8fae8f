"""Checks arrays: the data, the queries, which rows are searched, and their factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._elements import ELEMENTS, all_finite, is_number, name_of
from sureshot._validate.choices import kind, listed
from sureshot._validate.memory import PER_ROW, refuse_beyond_memory
from sureshot.query_sizes import QuerySizes
from sureshot.storage.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array, Floats, Ints

# The metrics that row_scale works with.
SCALED = ("ip", "abs-ip")

# Numbers of queries that are checked at once.
CHECKED_AT_ONCE = 1 << 20

# Bytes of a table of queries whose sizes are found when it is checked: to pass over it twice would take longer than to
# keep them.
LARGE_TABLE = 1 << 20


def data_array(data: Any) -> Array | Matrix:
    """Return the data, which must be stored, or an array that the kernels can read where it is."""
    known = isinstance(data, (np.ndarray, Matrix)) and not isinstance(data, np.ma.MaskedArray)
    if not known:
        message = (
            "data must be a numpy array, memory map or stored matrix of shape (arms, coordinates), "
            f"got {kind(data)}"
        )
        raise TypeError(message)
    if data.ndim != 2:
        raise ValueError(f"data must have 2 dimensions (arms, coordinates), got shape {data.shape}")
    if name_of(data.dtype) not in ELEMENTS:
        elements = ", ".join(ELEMENTS)
        raise TypeError(f"data must hold one of {elements}, got {data.dtype}")
    if not data.dtype.isnative:
        message = (
            f"data must have this machine's byte order, got {data.dtype.str!r}; convert it once "
            "with data.astype(data.dtype.newbyteorder('='))"
        )
        raise TypeError(message)
    if 0 in data.shape:
        raise ValueError(f"data must not be empty, got shape {data.shape}")
    if isinstance(data, np.ndarray):
        _refuse_unless_aligned(data)
    matrix: Array | Matrix = data
    return matrix


def _refuse_unless_aligned(data: Array) -> None:
    row, column = data.strides
    if row % data.itemsize or column % data.itemsize or not data.flags.aligned:
        message = (
            f"data must be aligned to its elements of {data.itemsize} bytes, got strides "
            f"{data.strides}; copy that field once with numpy.ascontiguousarray"
        )
        raise ValueError(message)


def weighted(queries: Array, data: Array | Matrix, metric: str) -> Array:
    """Return the queries times the weights that the columns of the data have, if they have any."""
    weights = data.column_weights if isinstance(data, Matrix) else None
    if weights is None:
        return queries
    if metric not in SCALED:
        message = f"data with weights of its parts works with metric {listed(SCALED)}, got metric={metric!r}"
        raise ValueError(message)
    return queries * weights


def query_rows(query: Any, width: int) -> Array:
    """Return the queries as rows of float64, or of float32 if they are: a large batch is not copied."""
    return _checked_rows(query, width, all_finite)


def sized_query_rows(
    query: Any, width: int, threads: Callable[[], int]
) -> tuple[Array, QuerySizes | None]:
    """Return the same and, of a large table of float32, the sizes of the queries, from the pass that checks them."""
    sizes = None

    def are_finite(queries: Array) -> bool:
        nonlocal sizes
        if queries.nbytes < LARGE_TABLE or len(queries) == 1 or queries.dtype != np.float32:
            return all_finite(queries)
        sizes = QuerySizes.found_by(threads(), queries)
        return sizes.are_finite

    return _checked_rows(query, width, are_finite), sizes


def _checked_rows(query: Any, width: int, are_finite: Callable[[Array], bool]) -> Array:
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
    dtype = given.dtype if given.dtype == np.float32 else np.float64
    queries = np.ascontiguousarray(given, dtype=dtype).reshape(-1, width)
    if not are_finite(queries):
        rows = max(1, CHECKED_AT_ONCE // width)
        for start in range(0, len(queries), rows):
            finite = np.isfinite(queries[start : start + rows])
            if not finite.all():
                row, coordinate = np.argwhere(~finite)[0]
                message = (
                    f"query must be finite, got {queries[start + row, coordinate]} "
                    f"at coordinate {coordinate}"
                    + ("" if given.ndim == 1 else f" of query {start + row}")
                )
                raise ValueError(message)
    if (
        given.dtype.kind in "iu"
        and not (queries.astype(given.dtype).reshape(given.shape) == given).all()
    ):
        message = f"query values of type {given.dtype} must fit into float64 without loss"
        raise ValueError(message)
    return queries


def has_zero_row(queries: Array) -> bool:
    """Return whether a query is all zeros: then its first value is, and there are at least as many as it has values."""
    if np.count_nonzero(queries[:, 0]) == len(queries):
        return False
    zeros = queries.size - np.count_nonzero(queries)
    return zeros >= queries.shape[1] and not queries.any(axis=1).all()


def selected_arms(where: Any, n_arms: int, what: str) -> Ints:
    """Return the arms that `where` selects, ascending; `what` names them in messages."""
    if where is None:
        refuse_beyond_memory(
            PER_ROW * n_arms, f"to search all {n_arms} {what}", "select some with where"
        )
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


def row_factors(row_scale: Any, metric: str, n_arms: int) -> Floats | None:
    """Return the factor of each row."""
    if row_scale is None:
        return None
    if metric not in SCALED:
        message = f"row_scale works with metric {listed(SCALED)}, got metric={metric!r}"
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
