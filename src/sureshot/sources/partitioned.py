"""Rewards of a partitioned matrix and a query: block sums are made where the partitions are.

What is sent has no state: the blocks, the arms that are still active and the query's part. What comes back is
one small table of sums for each partition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.sources.costs import in_partitions
from sureshot.sources.values import ElsewhereSource, dense_of
from sureshot.storage.partitioned import Call

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.sources.norms import PromisedNorms
    from sureshot.storage.partitioned import Partitioned, Place


class PartitionedSource(ElsewhereSource):
    """Rewards of each row of `data` against `query`.

    Where each partition has whole rows, every sum has the bits that it has on one machine.

    Parameters
    ----------
    data
        The matrix.
    query, reward, blocks, team, promised
        As those of a `DenseSource`. The team does nothing here: each call works with one thread.
    """

    coordinate_major = False
    data: Partitioned

    def __init__(
        self,
        data: Partitioned,
        query: Floats,
        reward: str,
        blocks: Blocks,
        team: Team,
        promised: PromisedNorms | None = None,
    ) -> None:
        super().__init__(data, query, reward, blocks, team, promised)
        self.costs = in_partitions(blocks.size, data.itemsize, data.round)

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the sum of each arm over each block, shape (len(blocks), len(arms))."""
        sums: Floats = self._sums(arms, blocks, squares=False)[0]
        return sums

    def sums_and_squares(self, arms: Ints, blocks: Ints) -> tuple[Floats, Floats]:
        """Return the block sums, and those of the squared data values in the same shape."""
        sums, squares = self._sums(arms, blocks, squares=True)
        return sums, squares

    def _sums(self, arms: Ints, blocks: Ints, *, squares: bool) -> Floats:
        tables = np.zeros((2 if squares else 1, len(blocks), len(arms)))
        calls: list[Call] = []
        wanted: list[tuple[Ints, Ints]] = []
        for at, place, positions in self.data.owners(arms):
            own, first = self._blocks_of(place)
            inside = np.flatnonzero((blocks >= first) & (blocks < first + own.count))
            if not len(inside):
                continue
            ids = blocks[inside] - first
            spans = [own.span(block) for block in ids.tolist()]
            part = self.query[place.first_column : place.last_column]
            query = np.concatenate([part[start:stop] for start, stop in spans])
            rows = arms[positions] - place.first_row
            arguments = (rows, ids, own, query, self.reward, squares)
            calls.append(Call(at, sums_of_blocks, arguments))
            wanted.append((positions, inside))
        for (positions, inside), found in zip(wanted, self.data.run(calls), strict=True):
            tables[np.ix_(np.arange(len(tables)), inside, positions)] += found
        self._refuse_unless_finite(tables[0], arms)
        return tables

    def exact_scores_of(self, queries: Floats, arms: Ints, team: Team) -> Floats:
        """Return the scores of each arm for several queries of the same data, (queries, arms)."""
        if self.promised is not None:
            return self.exact_scores_and_norms(queries, arms, team)[0]
        return self._scores(queries, arms, squares=False)[0]

    def exact_scores_and_norms(
        self,
        queries: Floats,
        arms: Ints,
        team: Team,  # noqa: ARG002 - the partitions' own work
    ) -> tuple[Floats, Floats]:
        """Return the same scores, and the Euclidean norm of each arm from the same pass."""
        scores, squares = self._scores(queries, arms, squares=True)
        return scores, self._checked_norms(arms, squares)

    def _scores(self, queries: Floats, arms: Ints, *, squares: bool) -> tuple[Floats, Floats]:
        scores, norms = np.zeros((len(queries), len(arms))), np.zeros(len(arms))
        wanted = list(self.data.owners(arms))
        calls = [
            Call(
                at,
                scores_of_rows,
                (
                    arms[positions] - place.first_row,
                    np.ascontiguousarray(queries[:, place.first_column : place.last_column]),
                    self.reward,
                    squares,
                ),
            )
            for at, place, positions in wanted
        ]
        for (_, _, positions), found in zip(wanted, self.data.run(calls), strict=True):
            scores[:, positions] += found[: len(queries)]
            if squares:
                norms[positions] += found[-1]
        self._refuse_unless_finite(scores, arms)
        return scores, norms

    def _blocks_of(self, place: Place) -> tuple[Blocks, int]:
        """Return the blocks as a partition has them, and the first of them.

        A block that two partitions share is added up in two parts.
        """
        size, start = self.blocks.size, place.first_column + self.blocks.shift
        width = place.last_column - place.first_column
        return Blocks(width, size, start % size), start // size


def sums_of_blocks(
    values: Array, rows: Ints, ids: Ints, blocks: Blocks, query: Floats, reward: str, squares: bool
) -> Floats:
    """Return the sums of some rows of a partition over some of its blocks, and those of their squares.

    `query` has the coordinates of these blocks, one block after the other.
    """
    whole = np.zeros(values.shape[1])
    done = 0
    for start, stop in map(blocks.span, ids.tolist()):
        whole[start:stop] = query[done : done + stop - start]
        done += stop - start
    found = np.empty((2 if squares else 1, len(ids), len(rows)))
    _native.block_sums(dense_of(values, whole, reward, blocks), rows, ids, Team(1), *found)
    return found


def scores_of_rows(
    values: Array, rows: Ints, queries: Floats, reward: str, squares: bool
) -> Floats:
    """Return the scores of some rows of a partition for each query, and at the end their squared norms."""
    found = np.empty((len(queries) + 1, len(rows)))
    blocks = Blocks(values.shape[1], values.shape[1])
    _native.row_scores(
        dense_of(values, queries[0], reward, blocks),
        queries,
        rows,
        Team(1),
        found[:-1],
        found[-1] if squares else None,
    )
    return found
