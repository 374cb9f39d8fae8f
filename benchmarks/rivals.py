"""Other ways to the exact top k of inner products, all of which read everything."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    # Data, one query or a matrix of them, k, threads; returns rows of the data.
    Search = Callable[[NDArray[Any], NDArray[Any], int, int], NDArray[Any]]


@dataclass(frozen=True)
class Rival:
    """A library: how it searches, and why it cannot search some data (empty if it can)."""

    package: str
    search: Search
    refusal: Callable[[NDArray[Any]], str]


def _numpy(data: NDArray[Any], query: NDArray[Any], k: int, _threads: int) -> NDArray[Any]:
    return np.argpartition(data @ query.T, len(data) - k, axis=0)[len(data) - k :].T


def _faiss(data: NDArray[Any], query: NDArray[Any], k: int, _threads: int) -> NDArray[Any]:
    faiss = import_module("faiss")
    metric = faiss.METRIC_INNER_PRODUCT
    found: NDArray[Any] = faiss.knn(np.atleast_2d(query), data, k, metric=metric)[1]
    return found.reshape(*query.shape[:-1], k)


def _usearch(data: NDArray[Any], query: NDArray[Any], k: int, threads: int) -> NDArray[Any]:
    index = import_module("usearch.index")
    metric = index.MetricKind.IP
    found = index.search(data, query.astype(data.dtype), k, metric, exact=True, threads=threads)
    return np.asarray(found.keys, dtype=np.int64)


def _refused_by_faiss(data: NDArray[Any]) -> str:
    if data.dtype != np.float32:
        return "takes float32 only"
    return _needs_row_major(data)


def _refused_by_usearch(data: NDArray[Any]) -> str:
    if data.dtype.kind in "iu":
        return "takes integer queries only"
    return _needs_row_major(data)


def _needs_row_major(data: NDArray[Any]) -> str:
    return "" if data.flags.c_contiguous else "not possible without a copy"


RIVALS = {
    "numpy": Rival("numpy", _numpy, lambda _data: ""),
    "faiss": Rival("faiss-cpu", _faiss, _refused_by_faiss),
    "usearch": Rival("usearch", _usearch, _refused_by_usearch),
}


@contextmanager
def limited_to(threads: int) -> Iterator[None]:
    """Let numpy's BLAS and faiss use this many threads; usearch is told with every search."""
    faiss = import_module("faiss")
    import_module("usearch.index")  # what is not loaded yet cannot be limited
    before = faiss.omp_get_max_threads()
    with import_module("threadpoolctl").threadpool_limits(threads):
        faiss.omp_set_num_threads(threads)
        try:
            yield
        finally:
            faiss.omp_set_num_threads(before)


def versions() -> dict[str, str]:
    """Return the version of each rival."""
    return {f"{name}_version": metadata.version(rival.package) for name, rival in RIVALS.items()}
