"""Checks what a baseline is made of, and what it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._validate.arrays import data_array, query_rows
from sureshot._validate.numbers import whole_number
from sureshot._validate.running import thread_count

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


def fit_request(data: Any, threads: Any) -> tuple[Array, int]:
    """Check what a baseline is made of: data that matrix products take, and threads."""
    data = data_array(data)
    if data.dtype not in (np.float32, np.float64):
        raise TypeError(f"data of a baseline must hold float32 or float64, got {data.dtype}")
    return data, thread_count(threads)


def query_request(query: Any, k: Any, shape: tuple[int, int]) -> tuple[Floats, int]:
    """Check what a baseline is asked; `shape` is that of its data."""
    if np.ndim(query) != 1:
        raise ValueError(f"query must have 1 dimension, got shape {np.shape(query)}")
    queries: Floats = query_rows(query, shape[1]).astype(np.float64, copy=False)
    k = whole_number(k, "k", 1)
    if k > shape[0]:
        raise ValueError(f"k must be at most the number of data rows, {shape[0]}, got {k}")
    return queries[0], k
