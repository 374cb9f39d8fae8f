"""faiss: a flat index, cells, a graph, and the exact search without an index."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sureshot.baselines._core import drawn_seed, whole_number, whole_number_within
from sureshot.baselines.base import Found, Method, needed
from sureshot.baselines.libraries.arrays import found_rows, pieces, single

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.baselines.rows import Rows


def exact_top(data: Array, queries: Array, k: int) -> Array:
    """Return the k rows with the largest inner products of one query, or of each row of a matrix.

    ``faiss.knn`` on the data as it is, float32 in row order.
    """
    faiss = _faiss("exact_top")
    metric = faiss.METRIC_INNER_PRODUCT
    found: Array = faiss.knn(np.atleast_2d(queries), data, k, metric=metric)[1]
    return found.reshape(*queries.shape[:-1], k)


class FaissFlat(Method):
    """faiss `IndexFlatIP`: every inner product, in float32.

    Parameters
    ----------
    threads
        Threads that compute exact scores; all there are if None. faiss has its own.
    """

    name: ClassVar[str] = "faiss-flat"

    def _prepare(self, rows: Rows) -> None:
        """Copy the rows into the index."""
        self._index = _faiss(type(self).__name__).IndexFlatIP(rows.width)
        for piece in pieces(rows):
            self._index.add(piece)

    def query(self, query: Array, k: int) -> Found:
        """Return the k rows with the largest inner products."""
        question, k = self.rows.checked(query, k)
        labels = self._index.search(single(question), k)[1]
        return self._best(question, found_rows(labels), k, read=self.rows.count * self.rows.width)


class FaissIVF(Method):
    """faiss `IndexIVFFlat`: the rows in the cells whose centroids have the largest inner products.

    Parameters
    ----------
    cells
        How many (nlist); the square root of the number of rows if None. `fit` sets the attribute
        `cells`.
    rng
        Seed or Generator of the clustering.
    threads
        Threads that compute exact scores; all there are if None. faiss has its own.
    """

    name: ClassVar[str] = "faiss-ivf"

    def __init__(
        self,
        *,
        cells: int | None = None,
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        self._wanted = None if cells is None else whole_number(cells, "cells", 1)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Cluster the rows and copy them into the cells."""
        self.cells = self._wanted or math.isqrt(rows.count)
        if self.cells > rows.count:
            raise ValueError(
                f"cells must be at most the number of rows, {rows.count}, got {self.cells}"
            )
        faiss = _faiss(type(self).__name__)
        self._quantizer = faiss.IndexFlatIP(rows.width)
        metric = faiss.METRIC_INNER_PRODUCT
        self._index = faiss.IndexIVFFlat(self._quantizer, rows.width, self.cells, metric)
        self._index.cp.seed = self._seed % 2**31
        self._index.cp.min_points_per_centroid = 1  # which it would print a warning for
        self._index.train(np.ascontiguousarray(rows.data, np.float32))
        for piece in pieces(rows):
            self._index.add(piece)

    def query(self, query: Array, k: int, *, nprobe: int = 1) -> Found:
        """Return the best rows of `nprobe` cells."""
        question, k = self.rows.checked(query, k)
        nprobe = whole_number_within(nprobe, "nprobe", 1, self.cells, "cells of the fit")
        faiss = _faiss(type(self).__name__)
        statistics = faiss.cvar.indexIVF_stats
        statistics.reset()
        parameters = faiss.SearchParametersIVF(nprobe=nprobe)
        labels = self._index.search(single(question), k, params=parameters)[1]
        read = (self.cells + int(statistics.ndis)) * self.rows.width
        return self._best(question, found_rows(labels), k, read)


class FaissHNSW(Method):
    """faiss `IndexHNSWFlat` with inner products: a walk in a graph of neighbours.

    Parameters
    ----------
    M
        Neighbours of each row.
    threads
        Threads that compute exact scores; all there are if None. faiss has its own.
    """

    name: ClassVar[str] = "faiss-hnsw"

    def __init__(self, *, M: int = 32, threads: int | None = None) -> None:
        super().__init__(threads=threads)
        self.neighbours = whole_number(M, "M", 2)

    def _prepare(self, rows: Rows) -> None:
        """Build the graph."""
        faiss = _faiss(type(self).__name__)
        metric = faiss.METRIC_INNER_PRODUCT
        self._index = faiss.IndexHNSWFlat(rows.width, self.neighbours, metric)
        for piece in pieces(rows):
            self._index.add(piece)

    def query(self, query: Array, k: int, *, ef: int = 64) -> Found:
        """Return the best rows that a walk with a list of `ef` rows meets."""
        question, k = self.rows.checked(query, k)
        ef = whole_number(ef, "ef", 1)
        faiss = _faiss(type(self).__name__)
        statistics = faiss.cvar.hnsw_stats
        statistics.reset()
        parameters = faiss.SearchParametersHNSW(efSearch=ef)
        labels = self._index.search(single(question), k, params=parameters)[1]
        return self._best(question, found_rows(labels), k, int(statistics.ndis) * self.rows.width)


def _faiss(user: str) -> Any:
    return needed("faiss", "faiss", user, "faiss-cpu")
