"""LSH-MIPS: rows that share a hash with the query."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines._core import drawn_seed, whole_number, whole_number_within
from sureshot.baselines.base import Found, Method
from sureshot.baselines.sphere import Sphere

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.baselines.rows import Rows

# Bits of one hash; they are kept in 64, and a search looks for the number after the last of a kind.
MOST_BITS = 62


class LSHMIPS(Method):
    """Candidates are the rows that agree with the query in all a bits of at least one of b hashes.

    A bit is the side of a random hyperplane through the origin (signed random projections) on which a row
    lies, after it has been lifted to a sphere. `fit` computes most_bits × most_tables of them for every
    row, O(N n a b), as a matrix product in pieces for each table, and sorts the table by its hashes. The hash
    of `a` bits is the beginning of the longest one, so every smaller a and b is served by the
    same fit. The random directions, N for each bit, are kept for the queries: hashing a query
    reads a b N numbers, which the usual analysis of this method leaves out.

    The best row v is a candidate with probability 1 − (1 − (1 − θ/π)^a)^b, θ the angle between it and
    the query on the sphere, which is not known beforehand.

    Parameters
    ----------
    most_bits, most_tables
        The largest `a` and `b` that can be asked for.
    rng
        Seed or Generator of the random directions.
    threads
        Threads that compute exact scores; all there are if None.

    References
    ----------
    B. Neyshabur, N. Srebro, *On Symmetric and Asymmetric LSHs for Inner Product Search*, ICML 2015, with
    the reduction of Y. Bachrach et al., *Speeding Up the Xbox Recommender System Using a Euclidean
    Transformation for Inner-Product Spaces*, RecSys 2014.

    Examples
    --------
    >>> data = np.random.default_rng(0).normal(size=(100, 20))
    >>> method = LSHMIPS(rng=0).fit(data)
    >>> method.query(data[7], k=1, a=3, b=10).indices
    array([7])
    >>> method.query(data[7], k=1, a=0, b=1).candidates
    100
    """

    name: ClassVar[str] = "lsh"

    def __init__(
        self,
        *,
        most_bits: int = 20,
        most_tables: int = 50,
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        limit = "the bits of one hash are kept in 64"
        self.most_bits = whole_number_within(most_bits, "most_bits", 1, MOST_BITS, limit)
        self.most_tables = whole_number(most_tables, "most_tables", 1)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Hash every row."""
        rng = np.random.default_rng(self._seed)
        self._sphere = sphere = Sphere(rows)
        shape = (self.most_tables, self.most_bits, rows.width)
        self._directions = rng.standard_normal(shape, dtype=rows.data.dtype.type)
        heights = rng.standard_normal(shape[:2])
        hashes = np.empty((self.most_tables, rows.count), np.int64)
        for own, directions, height in zip(hashes, self._directions, heights, strict=True):
            own[:] = self._hashes(sphere.projections(directions, height))
        self._order = np.argsort(hashes, axis=1, kind="stable")
        self._hashed = np.take_along_axis(hashes, self._order, axis=1)

    def query(self, query: Array, k: int, *, a: int = 4, b: int = 20) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        a
            Bits of one hash, all of which must agree; 0: every row agrees. The paper goes from 1 to 20.
        b
            Hashes, one of which must agree. The paper goes from 1 to 50.
        """
        rows = self.rows
        question, k = rows.checked(query, k)
        a = whole_number_within(a, "a", 0, self.most_bits, "most_bits of the fit")
        b = whole_number_within(b, "b", 1, self.most_tables, "most_tables of the fit")
        bits = self._directions[:b, :a] @ self._sphere.unit(question)
        missing = self.most_bits - a
        first = self._hashes(bits.T) << missing
        is_candidate = np.zeros(rows.count, dtype=np.bool_)
        read = a * b * rows.width
        for order, hashed, hash_ in zip(self._order, self._hashed, first, strict=False):
            start, stop = np.searchsorted(hashed, (hash_, hash_ + (1 << missing)))
            is_candidate[order[start:stop]] = True
            read += int(stop - start)
        return self._best(question, np.flatnonzero(is_candidate), k, read)

    @staticmethod
    def _hashes(projections: Array) -> Array:
        """Return the number whose bits, the highest first, are the signs of the projections."""
        hashes = np.zeros(projections.shape[1:], np.int64)
        for one in projections:
            hashes = 2 * hashes + (one > 0)
        return hashes
