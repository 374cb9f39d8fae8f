"""Rows times queries, some rows at a time: by our own kernels, or by the library that numpy calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from sureshot._native import Operand
from sureshot.theory.products import PANEL, panel_roundings, panels

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.sources.base import QuerySource
    from sureshot.sources.tiles import Tiles

# Scores that kernels fill before the best are chosen: they stay in the caches meanwhile.
SCORES_OF_KERNELS = 1 << 19
# Rows that BLAS multiplies at once, if they are wide: more of them would have more pages in memory than the
# processor knows at a time, and fewer would round up and pack the queries too often. Of short rows as many as so
# many numbers, and never more than so many scores.
ROWS_AT_ONCE = 2048
NUMBERS_AT_ONCE = 1 << 20
SCORES_AT_ONCE = 1 << 21
# Products of numbers after which Python looks for signals: a fifth of a second.
PRODUCTS_AT_ONCE = 1 << 34


class Multiplication(Protocol):
    """Multiplies tiles of rows with the same queries, in memory that is taken once."""

    rows: int  # of a tile, at most
    roundings: int  # of each term, at most: Lemma 17
    squares_in_double: bool  # or with as many roundings to float32

    def scores(self, arms: Ints, some: slice) -> tuple[Array, Floats]:
        """Return the product of each of some arms with each query, (arms, queries), and their squared norms.

        Until this is called again.
        """


class ByKernels:
    """By our own kernels, which read the rows once and find their norms on the way."""

    squares_in_double = False

    def __init__(self, source: QuerySource, tiles: Tiles, queries: Array, team: Team) -> None:
        self._source, self._tiles, self._team = source, tiles, team
        self._queries = Operand(queries, team)
        n_queries = len(queries)
        self.rows = min(max(1, SCORES_OF_KERNELS // n_queries), source.n_arms)
        self.roundings = self._queries.roundings
        self._scores = np.empty((self.rows, n_queries), np.float32)
        self._squares = np.empty(self.rows)

    def scores(self, arms: Ints, some: slice) -> tuple[Array, Floats]:
        """Return the products of some arms, and their squared norms, until this is called again."""
        chosen = arms[some]
        scores, squares = self._scores[: len(chosen)], self._squares[: len(chosen)]
        self._tiles.multiply(chosen, self._queries, scores, squares, self._team)
        self._source.check_squares(chosen, squares)
        return scores, squares


class ByBlas:
    """By the library that numpy calls, in panels of columns.

    The squared norms of all arms must be known.
    """

    squares_in_double = True

    def __init__(self, tiles: Tiles, queries: Array, squares: Floats) -> None:
        self._tiles, self._squares = tiles, squares
        n_queries, width = queries.shape
        self.rows = min(_rows_at_once(n_queries, width), len(squares))
        self.roundings = panel_roundings(width)
        self._panels = panels(width)
        # BLAS is faster with the longer side first.
        self._queries = [queries[:, columns].T for columns in self._panels]
        self._sums = np.empty((self.rows, n_queries), tiles.dtype)
        self._panel = self._sums if len(self._panels) == 1 else np.empty_like(self._sums)

    def scores(self, arms: Ints, some: slice) -> tuple[Array, Floats]:
        """Return the products of some arms, and their squared norms, until this is called again."""
        chosen = arms[some]
        sums, panel = self._sums[: len(chosen)], self._panel[: len(chosen)]
        with np.errstate(over="ignore", invalid="ignore"):
            for at, (columns, queries) in enumerate(zip(self._panels, self._queries, strict=True)):
                rows = self._tiles.panel(chosen, columns.start, columns.stop)
                np.matmul(rows, queries, out=sums if at == 0 else panel)
                if at > 0:
                    sums += panel
        return sums, self._squares[some]


def _rows_at_once(n_queries: int, width: int) -> int:
    """Return how many rows are multiplied at once: few enough to be interrupted, and for the memory."""
    rows = max(ROWS_AT_ONCE, NUMBERS_AT_ONCE // width)
    most = min(SCORES_AT_ONCE, PRODUCTS_AT_ONCE // min(width, PANEL)) // n_queries
    return max(1, min(rows, most))
