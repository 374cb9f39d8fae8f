"""Rows times queries by the library that numpy calls, some rows at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory.products import PANEL, panel_roundings, panels

if TYPE_CHECKING:
    from sureshot._types import Array, Ints
    from sureshot.sources.tiles import Tiles

# Rows that BLAS multiplies at once, if they are wide: more of them would have more pages in memory than the
# processor knows at a time, and fewer would round up and pack the queries too often. Of short rows as many as so
# many numbers, and never more than so many scores.
ROWS_AT_ONCE = 2048
NUMBERS_AT_ONCE = 1 << 20
SCORES_AT_ONCE = 1 << 21
# Products of numbers after which Python looks for signals: a fifth of a second.
PRODUCTS_AT_ONCE = 1 << 34


class Multiplication:
    """Multiplies tiles of rows with the same queries, in panels of columns and in memory that is taken once.

    Parameters
    ----------
    tiles
        The rows.
    queries
        (queries, coordinates), of the type of the tiles.
    n_arms
        How many rows there are.
    """

    def __init__(self, tiles: Tiles, queries: Array, n_arms: int) -> None:
        self._tiles = tiles
        n_queries, width = queries.shape
        self.rows = min(_rows_at_once(n_queries, width), n_arms)  # of a tile, at most
        self.roundings = panel_roundings(width)  # of each term, at most: Lemma 17
        self._panels = panels(width)
        # BLAS is faster with the longer side first.
        self._queries = [queries[:, columns].T for columns in self._panels]
        self._sums = np.empty((self.rows, n_queries), tiles.dtype)
        self._panel = self._sums if len(self._panels) == 1 else np.empty_like(self._sums)

    def scores(self, arms: Ints) -> Array:
        """Return the product of each of some arms with each query, (arms, queries), until this is called again."""
        sums, panel = self._sums[: len(arms)], self._panel[: len(arms)]
        with np.errstate(over="ignore", invalid="ignore"):
            for at, (columns, queries) in enumerate(zip(self._panels, self._queries, strict=True)):
                rows = self._tiles.panel(arms, columns.start, columns.stop)
                np.matmul(rows, queries, out=sums if at == 0 else panel)
                if at > 0:
                    sums += panel
        return sums


def _rows_at_once(n_queries: int, width: int) -> int:
    """Return how many rows are multiplied at once: few enough to be interrupted, and for the memory."""
    rows = max(ROWS_AT_ONCE, NUMBERS_AT_ONCE // width)
    most = min(SCORES_AT_ONCE, PRODUCTS_AT_ONCE // min(width, PANEL)) // n_queries
    return max(1, min(rows, most))
