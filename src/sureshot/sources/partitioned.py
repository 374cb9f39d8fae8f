"""Rewards of a partitioned matrix and a query: block sums are made where the partitions are.

What is sent has no state: the blocks, the arms that are still active and the query's part. What comes back is
one small table of sums for each partition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    evaluated_at_once = math.inf  # some of the rows would be in some of the partitions
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
        # Partitions of the same columns are sent the same objects, which are packed once.
        of_columns: dict[int, tuple[Ints, Wanted]] = {}
        for at, place, positions in self.data.owners(arms):
            if place.first_column not in of_columns:
                of_columns[place.first_column] = self._wanted(place, blocks)
            inside, what = of_columns[place.first_column]
            if not len(inside):
                continue
            rows = arms[positions] - place.first_row
            calls.append(Call(at, sums_of_blocks, (rows, what, self.reward, squares)))
            wanted.append((positions, inside))
        for (positions, inside), found in zip(wanted, self.data.run(calls), strict=True):
            tables[np.ix_(np.arange(len(tables)), inside, positions)] += found
        self._refuse_unless_finite(tables[0], arms)
        return tables

    def exact_scores_of(self, queries: Array, arms: Ints, team: Team) -> Floats:
        """Return the scores of each arm for several queries of the same data, (queries, arms)."""
        if self.promised is not None:
            return self.exact_scores_and_norms(queries, arms, team)[0]
        return self._scores(queries, arms, squares=False)[0]

    def exact_scores_and_norms(
        self,
        queries: Array,
        arms: Ints,
        team: Team,  # noqa: ARG002 - the partitions' own work
    ) -> tuple[Floats, Floats]:
        """Return the same scores, and the Euclidean norm of each arm from the same pass."""
        scores, squares = self._scores(queries, arms, squares=True)
        return scores, self._checked_norms(arms, squares)

    def _scores(self, queries: Array, arms: Ints, *, squares: bool) -> tuple[Floats, Floats]:
        queries = queries.astype(np.float64, copy=False)
        scores, norms = np.zeros((len(queries), len(arms))), np.zeros(len(arms))
        wanted = list(self.data.owners(arms))
        parts = {
            first: _packed(queries[:, first:last])
            for first, last in {place.columns for _, place, _ in wanted}
        }
        calls = [
            Call(
                at,
                scores_of_rows,
                (arms[own] - place.first_row, parts[place.first_column], self.reward, squares),
            )
            for at, place, own in wanted
        ]
        for (_, _, positions), found in zip(wanted, self.data.run(calls), strict=True):
            scores[:, positions] += found[: len(queries)]
            if squares:
                norms[positions] += found[-1]
        self._refuse_unless_finite(scores, arms)
        return scores, norms

    def _wanted(self, place: Place, blocks: Ints) -> tuple[Ints, Wanted]:
        """Return which of the blocks a partition has, and these as it has them.

        A block that two partitions share is added up in two parts.
        """
        size, start = self.blocks.size, place.first_column + self.blocks.shift
        own = Blocks(place.last_column - place.first_column, size, start % size)
        first = start // size
        inside = np.flatnonzero((blocks >= first) & (blocks < first + own.count))
        ids = blocks[inside] - first
        part = self.query[slice(*place.columns)]
        pieces = [part[slice(*own.span(block))] for block in ids.tolist()]
        return inside, Wanted(ids, own, _packed(np.concatenate([part[:0], *pieces])))


def _packed(numbers: Floats) -> Array:
    """Return numbers as they are sent: in half of the bytes where that loses nothing."""
    with np.errstate(over="ignore"):
        short = np.ascontiguousarray(numbers, np.float32)
    return short if np.array_equal(short, numbers) else np.ascontiguousarray(numbers)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Some blocks of a partition, and the query's coordinates in them, one block after the other."""

    ids: Ints
    blocks: Blocks
    query: Array


def sums_of_blocks(values: Array, rows: Ints, wanted: Wanted, reward: str, squares: bool) -> Floats:
    """Return the sums of some rows of a partition over some of its blocks, and those of their squares."""
    whole, ids, blocks = np.zeros(values.shape[1]), wanted.ids, wanted.blocks
    done = 0
    for start, stop in map(blocks.span, ids.tolist()):
        whole[start:stop] = wanted.query[done : done + stop - start]
        done += stop - start
    found = np.empty((2 if squares else 1, len(ids), len(rows)))
    _native.block_sums(dense_of(values, whole, reward, blocks), rows, ids, Team(1), *found)
    return found


def scores_of_rows(values: Array, rows: Ints, packed: Array, reward: str, squares: bool) -> Floats:
    """Return the scores of some rows of a partition for each query, and at the end their squared norms."""
    queries = np.ascontiguousarray(packed, np.float64)
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
