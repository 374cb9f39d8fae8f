"""One search as each library does it: the calls that are timed."""

from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.rivals.libraries import RIVALS

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Call = Callable[[], Any]

OURS = "sureshot"


def sides(
    data: NDArray[np.float32], queries: NDArray[np.float32], metric: str, k: int, threads: int
) -> dict[str, Call]:
    """Return what is timed, by name. What can be known of the data beforehand, norms, is known."""
    asked = queries[0] if len(queries) == 1 else queries
    found = {OURS: _ours(data, asked, metric, k, threads)}
    if metric == "ip":
        for name, rival in RIVALS.items():
            found[name] = partial(rival.search, data, asked, k, threads)
        return found
    found["numpy"] = _numpy(data, asked, metric, k)
    if metric == "sqeuclidean":
        faiss = import_module("faiss")
        found["faiss"] = lambda: faiss.knn(np.atleast_2d(asked), data, k, metric=faiss.METRIC_L2)
    return found


def _ours(
    data: NDArray[np.float32], asked: NDArray[np.float32], metric: str, k: int, threads: int
) -> Call:
    bounds = None
    if metric == "cosine":
        bounds = sureshot.Bounds(norms=sureshot.scan(data).norms, norms_exact=True)
    return lambda: sureshot.top_k(
        data, asked, k, metric=metric, bounds=bounds, threads=threads, rng=0
    )


def _numpy(data: NDArray[np.float32], asked: NDArray[np.float32], metric: str, k: int) -> Call:
    """Return how one query is answered with numpy by somebody who keeps the norms of the rows."""
    squares = np.einsum("ij,ij->i", data, data)
    if metric == "cosine":
        inverse = 1 / np.sqrt(squares)
        return lambda: _largest((data @ asked) * inverse, k)
    half = squares / 2
    return lambda: _largest(data @ asked - half, k)


def _largest(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    return np.argpartition(scores, len(scores) - k)[len(scores) - k :]
