"""usearch: a graph, and the exact search without an index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sureshot.baselines._core import whole_number
from sureshot.baselines.base import Found, Method, needed
from sureshot.baselines.libraries.arrays import found_rows, pieces, single

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.baselines.rows import Rows


def exact_top(data: Array, queries: Array, k: int, threads: int) -> Array:
    """Return the k rows with the largest inner products of one query, or of each row of a matrix.

    ``usearch.index.search`` on the data as it is, in row order.
    """
    index = _usearch("exact_top")
    asked, metric = queries.astype(data.dtype), index.MetricKind.IP
    found = index.search(data, asked, k, metric, exact=True, threads=threads)
    # It answers a matrix of one query as it answers a query.
    return np.asarray(found.keys, dtype=np.int64).reshape(*queries.shape[:-1], k)


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
        self._index = _usearch(type(self).__name__).Index(
            ndim=rows.width,
            metric="ip",
            dtype="f32",
            connectivity=self.neighbours,
            expansion_add=self.ef_construction,
        )
        start = 0
        for piece in pieces(rows):
            self._index.add(np.arange(start, start + len(piece)), piece)
            start += len(piece)

    def query(self, query: Array, k: int, *, ef: int = 64) -> Found:
        """Return the best rows that a walk with a list of `ef` rows meets."""
        question, k = self.rows.checked(query, k)
        self._index.expansion_search = whole_number(ef, "ef", 1)
        matches = self._index.search(single(question)[0], k)
        labels = np.asarray(matches.keys, np.int64)
        read = int(matches.computed_distances) * self.rows.width
        return self._best(question, found_rows(labels), k, read)


def _usearch(user: str) -> Any:
    return needed("usearch.index", "usearch", user, "usearch")
