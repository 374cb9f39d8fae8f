"""Greedy-MIPS: the rows that own the largest single products."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines._core import largest, share_or_count
from sureshot.baselines.base import Found, Method
from sureshot.baselines.rows import NUMBERS_AT_ONCE

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.baselines.rows import Rows


# Entries of the sorted lists that are read at a time, at some 50 bytes each.
ENTRIES_AT_ONCE = 1 << 20


class GreedyMIPS(Method):
    """Candidates are the first B rows met when all products v_ij q_j are gone through, largest first.

    `fit` sorts the rows of each coordinate, O(N n log n), and keeps the order in 2 or 4 bytes per
    number. The published query merges these lists with a heap, one product after the other. A row is
    met first at its largest product, so the candidates are the B rows with the largest
    max_j v_ij q_j, and they are found here without a heap: read the head of every list; the B-th
    largest of the row maxima seen so far can only rise; so lists whose last product read is not above
    it are done with, and of the others twice as much is read, until all are done with. The result is the
    same set (which of two rows with equal maxima comes first was never defined), in a handful of steps.
    Coordinates where the query is 0 are not looked at.

    No guarantee in general: a row with many middling products is never met.

    Parameters
    ----------
    threads
        Threads that sort and that compute exact scores; all there are if None.

    References
    ----------
    H.-F. Yu, C.-J. Hsieh, Q. Lei, I. S. Dhillon, *A Greedy Approach for Budgeted Maximum Inner Product
    Search*, NIPS 2017.

    Examples
    --------
    >>> data = np.random.default_rng(0).normal(size=(100, 20))
    >>> found = GreedyMIPS().fit(data).query(data[7], k=1, B=0.1)
    >>> found.indices, found.candidates
    (array([7]), 10)
    """

    name: ClassVar[str] = "greedy"

    def _prepare(self, rows: Rows) -> None:
        """Sort the rows of each coordinate."""
        small = np.uint16 if rows.count <= 1 << 16 else np.uint32
        # Row j: the rows of the data by their value at coordinate j, smallest first.
        self._order = np.empty((rows.width, rows.count), dtype=small)
        step = max(1, NUMBERS_AT_ONCE // 32 // rows.count)

        def sort(start: int) -> None:
            # Copied to lie side by side: the numbers of one column may be in a page each.
            columns = np.ascontiguousarray(rows.data[:, start : start + step].T)
            if not np.isfinite(columns).all():
                at, row = np.argwhere(~np.isfinite(columns))[0]
                message = (
                    f"GreedyMIPS needs finite data, got {columns[at, row]} in row {row} at coordinate "
                    f"{start + at}"
                )
                raise ValueError(message)
            self._order[start : start + step] = np.argsort(columns, axis=1)

        with ThreadPoolExecutor(rows.threads) as pool:
            list(pool.map(sort, range(0, rows.width, step)))

    def query(self, query: Array, k: int, *, B: float = 0.1) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        B
            The budget: candidates, as a share of the rows (a float) or their number (an integer). The
            paper goes from 10 % to 100 %.
        """
        question, k = self.rows.checked(query, k)
        budget = share_or_count(B, "B", self.rows.count)
        if budget == self.rows.count:
            return self._best(question, np.arange(budget), k, read=0)
        candidates, entries = self._screen(question, budget)
        # Each entry is one number of the sorted list and one of the data.
        return self._best(question, candidates, k, read=2 * entries)

    def _screen(self, query: Floats, budget: int) -> tuple[Ints, int]:
        """Return the candidates, and how many entries of the sorted lists were read."""
        n = self.rows.count
        maxima = np.full(n, -np.inf)
        entries = 0
        lists = np.flatnonzero(query)
        depth, wanted = np.zeros(len(lists), np.int64), np.ones(len(lists), np.int64)
        while len(lists):
            # In pieces, since all lists may have to be read far.
            pieces = np.cumsum(wanted) // ENTRIES_AT_ONCE
            last = np.concatenate(
                [
                    self._read(query, lists[own], depth[own], wanted[own], maxima)
                    for own in np.split(np.arange(len(lists)), np.flatnonzero(np.diff(pieces)) + 1)
                ]
            )
            entries += int(wanted.sum())
            depth = depth + wanted
            threshold = np.partition(maxima, n - budget)[n - budget]
            going_on = (last > threshold) & (depth < n)
            lists, depth = lists[going_on], depth[going_on]
            wanted = np.minimum(depth, n - depth)
        return largest(maxima, budget), entries

    def _read(
        self, query: Floats, lists: Ints, depth: Ints, wanted: Ints, maxima: Floats
    ) -> Floats:
        """Read so many more entries of some lists, from a depth on, and raise the maxima of the rows.

        Returns the last, smallest product of each list.
        """
        columns = np.repeat(lists, wanted)
        ends = np.cumsum(wanted)
        ranks = np.arange(ends[-1]) + np.repeat(depth - ends + wanted, wanted)
        # Smallest last where the query is positive, first where it is negative.
        places = np.where(query[columns] > 0, self.rows.count - 1 - ranks, ranks)
        rows = self._order[columns, places]
        products: Floats = self.rows.data[rows, columns] * query[columns]
        np.maximum.at(maxima, rows, products)
        return products[ends - 1]
