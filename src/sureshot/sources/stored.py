"""Rewards of a stored matrix and a query: pieces are read into memory and summed by the native kernels."""

from __future__ import annotations

from contextlib import closing
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot.blocks import Blocks
from sureshot.sources.costs import from_storage
from sureshot.sources.lane_sums import LaneSums, Squares
from sureshot.sources.portions import pieces_of, rows_of
from sureshot.sources.values import REWARDS, ElsewhereSource, dense_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.sources.norms import PromisedNorms
    from sureshot.sources.portions import Pieces, Rows
    from sureshot.storage.base import Stored


class StoredSource(ElsewhereSource):
    """Rewards of each row of `data` against `query`.

    A sum has the bits that the same numbers have in memory: the same kernels add them up.

    Parameters
    ----------
    data
        The matrix.
    query, reward, blocks, team, promised
        As those of a `DenseSource`.
    """

    evaluated_at_once = 4.0  # nothing is read ahead of the first portion
    data: Stored

    def __init__(
        self,
        data: Stored,
        query: Floats,
        reward: str,
        blocks: Blocks,
        team: Team,
        promised: PromisedNorms | None = None,
    ) -> None:
        super().__init__(data, query, reward, blocks, team, promised)
        self.coordinate_major = data.by_column
        self.arms_together = data.access.unit_rows
        self.costs = from_storage(data.access, blocks.size, data.itemsize)

    def in_other_layouts(self) -> Iterator[tuple[str, StoredSource]]:
        """Yield how the data could be stored, in words, and this source as it would be then, never to be read."""
        for layout in self.data.other_layouts():
            other = copy(self)
            other.blocks = Blocks(self.n_coordinates, layout.access.unit_columns)
            other.costs = from_storage(layout.access, other.blocks.size, self.bytes_per_number)
            yield layout.words, other

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the sum of each arm over each block, shape (len(blocks), len(arms))."""
        sums = np.empty((len(blocks), len(arms)))
        self._add_blocks(arms, blocks, sums, None)
        return sums

    def sums_and_squares(self, arms: Ints, blocks: Ints) -> tuple[Floats, Floats]:
        """Return the block sums, and those of the squared data values in the same shape."""
        sums, squares = np.empty((2, len(blocks), len(arms)))
        self._add_blocks(arms, blocks, sums, squares)
        return sums, squares

    def _add_blocks(self, arms: Ints, blocks: Ints, sums: Floats, squares: Floats | None) -> None:
        for some, size in self._of_one_size(blocks):
            starts = np.maximum(blocks[some] * self.blocks.size - self.blocks.shift, 0)
            with closing(pieces_of(self.data, arms, starts, size)) as found:
                for pieces in found:
                    self._add_pieces(pieces, starts, some, sums, squares)
        self._refuse_unless_finite(sums, arms)

    def _add_pieces(
        self, pieces: Pieces, starts: Ints, places: Ints, sums: Floats, squares: Floats | None
    ) -> None:
        n_arms, n_blocks, size = pieces.values.shape
        rows = pieces.values.reshape(n_arms, n_blocks * size)
        columns = (starts[pieces.starts, None] + np.arange(size)).ravel()
        found = np.empty((1 if squares is None else 2, n_blocks, n_arms))
        _native.block_sums(
            dense_of(rows, self.query[columns], self.reward, Blocks(n_blocks * size, size)),
            np.arange(n_arms),
            np.arange(n_blocks),
            self.team,
            *found,
        )
        place = np.ix_(places[pieces.starts], np.arange(sums.shape[1])[pieces.rows])
        sums[place] = found[0]
        if squares is not None:
            squares[place] = found[1]

    def _of_one_size(self, blocks: Ints) -> Iterator[tuple[Ints, int]]:
        """Yield the places of blocks that have as many coordinates, and that number."""
        odd = [
            block for block in {0, self.blocks.count - 1} if self._size(block) != self.blocks.size
        ]
        usual = np.flatnonzero(~np.isin(blocks, odd))
        if len(usual):
            yield usual, self.blocks.size
        for block in odd:
            places = np.flatnonzero(blocks == block)
            if len(places):
                yield places, self._size(block)

    def _size(self, block: int) -> int:
        start, stop = self.blocks.span(block)
        return stop - start

    def exact_scores_of(self, queries: Array, arms: Ints, team: Team) -> Floats:
        """Return the scores of each arm for several queries of the same data, (queries, arms)."""
        if self.promised is not None:
            return self.exact_scores_and_norms(queries, arms, team)[0]
        return self._read_rows(queries, arms, team, None)

    def exact_scores_and_norms(
        self, queries: Array, arms: Ints, team: Team
    ) -> tuple[Floats, Floats]:
        """Return the same scores, and the Euclidean norm of each arm from the same pass."""
        squares = np.empty(len(arms))
        scores = self._read_rows(queries, arms, team, squares)
        return scores, self._checked_norms(arms, squares)

    def _read_rows(self, queries: Array, arms: Ints, team: Team, squares: Floats | None) -> Floats:
        queries, scores = (
            queries.astype(np.float64, copy=False),
            np.empty((len(queries), len(arms))),
        )
        with closing(rows_of(self.data, arms)) as found:
            for rows in found:
                if rows.columns == slice(0, self.n_coordinates):
                    own = None if squares is None else squares[rows.places]
                    scores[:, rows.places] = self._scores(queries, rows, team, own)
                    continue
                if rows.columns.start == 0:
                    sums, square_sums = (
                        LaneSums(len(queries), len(rows.arms)),
                        Squares(len(rows.arms)),
                    )
                part = queries[:, rows.columns]
                sums.add(rows.values, REWARDS[self.reward], part, team)
                if squares is not None:
                    square_sums.add(rows.values, team)
                if rows.columns.stop == self.n_coordinates:
                    scores[:, rows.places] = sums.joined()
                    if squares is not None:
                        squares[rows.places] = square_sums.joined()
        self._refuse_unless_finite(scores, arms)
        return scores

    def _scores(self, queries: Floats, rows: Rows, team: Team, squares: Floats | None) -> Floats:
        """Return the scores of whole rows."""
        scores, width = np.empty((len(queries), len(rows.arms))), self.n_coordinates
        dense = dense_of(rows.values, self.query, self.reward, Blocks(width, width))
        _native.row_scores(dense, queries, rows.arms, team, scores, squares)
        return scores
