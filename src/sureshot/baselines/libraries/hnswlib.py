"""hnswlib: a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sureshot.baselines._core import drawn_seed, whole_number
from sureshot.baselines.base import Found, Method, needed
from sureshot.baselines.libraries.arrays import found_rows, pieces, single

if TYPE_CHECKING:
    import numpy as np

    from sureshot._types import Array
    from sureshot.baselines.rows import Rows


class Hnswlib(Method):
    """hnswlib with inner products: a walk in a graph of neighbours.

    It does not report how many rows it compared: `numbers_read` counts the `ef` rows of its list, far
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
        for piece in pieces(rows):
            self._index.add_items(piece)

    def query(self, query: Array, k: int, *, ef: int = 64) -> Found:
        """Return the best rows that a walk with a list of `ef` rows meets, at least k of them."""
        question, k = self.rows.checked(query, k)
        listed = max(whole_number(ef, "ef", 1), k)
        self._index.set_ef(listed)
        try:
            labels = self._index.knn_query(single(question), k)[0]
        except RuntimeError as error:
            raise ValueError(f"hnswlib finds no {k} rows with ef = {listed}: {error}") from error
        return self._best(
            question, found_rows(labels), k, min(listed, self.rows.count) * self.rows.width
        )
