"""Other ways to the exact top k of inner products, all of which read everything."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.baselines.libraries import faiss, usearch
from sureshot.experiments.compare import exact_top

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
    "numpy": Rival(
        "numpy", lambda data, query, k, _threads: exact_top(data, query, k), lambda _data: ""
    ),
    "faiss": Rival(
        "faiss-cpu",
        lambda data, query, k, _threads: faiss.exact_top(data, query, k),
        _refused_by_faiss,
    ),
    "usearch": Rival("usearch", usearch.exact_top, _refused_by_usearch),
}


@contextmanager
def limited_to(threads: int) -> Iterator[None]:
    """Let numpy's BLAS and faiss use this many threads; usearch takes them with every search."""
    openmp = import_module("faiss")
    import_module("usearch.index")  # what is not loaded yet cannot be limited
    before = openmp.omp_get_max_threads()
    with import_module("threadpoolctl").threadpool_limits(threads):
        openmp.omp_set_num_threads(threads)
        try:
            yield
        finally:
            openmp.omp_set_num_threads(before)


def versions() -> dict[str, str]:
    """Return the version of each rival."""
    return {f"{name}_version": metadata.version(rival.package) for name, rival in RIVALS.items()}
