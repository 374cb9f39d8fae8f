"""Today's libraries behind the contract of the baselines: faiss, hnswlib and usearch.

All of them copy the data into an index of float32. Rows that an index returns are ranked again exactly;
what it left out for rounding to float32 stays left out. None of them gives a guarantee, but for the
flat index, which compares everything.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sureshot._validate.numbers import whole_number, whole_number_within
from sureshot._validate.running import drawn_seed
from sureshot.baselines.base import Found, Method, needed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array, Floats
    from sureshot.baselines.rows import Rows


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
        self._index = _faiss(self).IndexFlatIP(rows.width)
        for piece in _pieces(rows):
            self._index.add(piece)

    def query(self, query: Array, k: int) -> Found:
        """Return the k rows with the largest inner products."""
        question, k = self.rows.checked(query, k)
        labels = self._index.search(_single(question), k)[1]
        return self._best(question, _known(labels), k, read=self.rows.count * self.rows.width)


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
        faiss = _faiss(self)
        self._quantizer = faiss.IndexFlatIP(rows.width)
        metric = faiss.METRIC_INNER_PRODUCT
        self._index = faiss.IndexIVFFlat(self._quantizer, rows.width, self.cells, metric)
        self._index.cp.seed = self._seed % 2**31
        self._index.cp.min_points_per_centroid = 1  # which it would print a warning for
        self._index.train(np.ascontiguousarray(rows.data, np.float32))
        for piece in _pieces(rows):
            self._index.add(piece)

    def query(self, query: Array, k: int, *, nprobe: int = 1) -> Found:
        """Return the best rows of `nprobe` cells."""
        question, k = self.rows.checked(query, k)
        nprobe = whole_number_within(nprobe, "nprobe", 1, self.cells, "cells of the fit")
        faiss = _faiss(self)
        statistics = faiss.cvar.indexIVF_stats
        statistics.reset()
        parameters = faiss.SearchParametersIVF(nprobe=nprobe)
        labels = self._index.search(_single(question), k, params=parameters)[1]
        read = (self.cells + int(statistics.ndis)) * self.rows.width
        return self._best(question, _known(labels), k, read)


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
        faiss = _faiss(self)
        metric = faiss.METRIC_INNER_PRODUCT
        self._index = faiss.IndexHNSWFlat(rows.width, self.neighbours, metric)
        for piece in _pieces(rows):
            self._index.add(piece)

    def query(self, query: Array, k: int, *, ef: int = 64) -> Found:
        """Return the best rows that a walk with a list of `ef` rows meets."""
        question, k = self.rows.checked(query, k)
        ef = whole_number(ef, "ef", 1)
        faiss = _faiss(self)
        statistics = faiss.cvar.hnsw_stats
        statistics.reset()
        parameters = faiss.SearchParametersHNSW(efSearch=ef)
        labels = self._index.search(_single(question), k, params=parameters)[1]
        return self._best(question, _known(labels), k, int(statistics.ndis) * self.rows.width)


class Hnswlib(Method):
    """hnswlib with inner products: a walk in a graph of neighbours.

    It does not tell how many rows it compared: `numbers_read` counts the `ef` rows of its list, far
    fewer than it compares. It refuses, with a ValueError, if its walk meets fewer than k rows.

    Parameters
    ----------
    M
        Neighbours of each row.
    ef_construction
        Length of the list while the graph is built.
    rng
        Seed or Generator of the levels of the graph.
    threads
        Threads that compute exact scores; all there are if None. hnswlib has its own.
    """

    name: ClassVar[str] = "hnswlib"

    def __init__(
        self,
        *,
        M: int = 32,
        ef_construction: int = 200,
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        self.neighbours = whole_number(M, "M", 2)
        self.ef_construction = whole_number(ef_construction, "ef_construction", 1)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Build the graph."""
        self._index = needed("hnswlib", "hnswlib", type(self).__name__, "hnswlib").Index(
            space="ip", dim=rows.width
        )
        self._index.init_index(
            max_elements=rows.count,
            M=self.neighbours,
            ef_construction=self.ef_construction,
            random_seed=self._seed % 2**31,
        )
        for piece in _pieces(rows):
            self._index.add_items(piece)

    def query(self, query: Array, k: int, *, ef: int = 64) -> Found:
        """Return the best rows that a walk with a list of `ef` rows meets, at least k of them."""
        question, k = self.rows.checked(query, k)
        listed = max(whole_number(ef, "ef", 1), k)
        self._index.set_ef(listed)
        try:
            labels = self._index.knn_query(_single(question), k)[0]
        except RuntimeError as error:
            raise ValueError(f"hnswlib finds no {k} rows with ef = {listed}: {error}") from error
        return self._best(
            question, _known(labels), k, min(listed, self.rows.count) * self.rows.width
        )


class Usearch(Method):
    """usearch with inner products: a walk in a graph of neighbours.

    Parameters
    ----------
    M
        Neighbours of each row (connectivity).
    ef_construction
        Length of the list while the graph is built (expansion_add).
    threads
        Threads that compute exact scores; all there are if None. usearch has its own.
    """

    name: ClassVar[str] = "usearch"

    def __init__(
        self,
        *,
        M: int = 32,
        ef_construction: int = 200,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        self.neighbours = whole_number(M, "M", 2)
        self.ef_construction = whole_number(ef_construction, "ef_construction", 1)

    def _prepare(self, rows: Rows) -> None:
        """Build the graph."""
        self._index = needed("usearch.index", "usearch", type(self).__name__, "usearch").Index(
            ndim=rows.width,
            metric="ip",
            dtype="f32",
            connectivity=self.neighbours,
            expansion_add=self.ef_construction,
        )
        start = 0
        for piece in _pieces(rows):
            self._index.add(np.arange(start, start + len(piece)), piece)
            start += len(piece)

    def query(self, query: Array, k: int, *, ef: int = 64) -> Found:
        """Return the best rows that a walk with a list of `ef` rows meets."""
        question, k = self.rows.checked(query, k)
        self._index.expansion_search = whole_number(ef, "ef", 1)
        matches = self._index.search(_single(question)[0], k)
        labels = np.asarray(matches.keys, np.int64)
        read = int(matches.computed_distances) * self.rows.width
        return self._best(question, _known(labels), k, read)


def _faiss(method: Method) -> Any:
    return needed("faiss", "faiss", type(method).__name__, "faiss-cpu")


def _pieces(rows: Rows) -> Iterator[Array]:
    """Yield the rows as the indexes take them, without a second copy of all."""
    for piece in rows.pieces():
        yield np.ascontiguousarray(rows.data[piece], np.float32)


def _single(query: Floats) -> Array:
    """Return the query as the only row of float32."""
    return query.astype(np.float32)[None]


def _known(labels: Array) -> Array:
    """Return the rows found; an index fills up with -1 what it did not find."""
    flat = np.asarray(labels, np.int64).ravel()
    return np.unique(flat[flat >= 0])
