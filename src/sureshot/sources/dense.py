"""Rewards of a numpy array or memory map and a query, summed by the native kernels."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.blocks import Blocks
from sureshot.sources.base import Screened, Totals
from sureshot.sources.costs import in_memory
from sureshot.sources.screening import RoundedQuery, ScreenedBest, rounded_float
from sureshot.sources.values import REWARDS, ValueSource, dense_of

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.sources.norms import PromisedNorms
    from sureshot.sources.screening import Wanted

# Arms of coordinate-major data that are so far apart have a cache line each.
SCATTERED = 16


class DenseSource(ValueSource):
    """Rewards of each row of `data` against `query`.

    Parameters
    ----------
    data
        (n, N), any strides, read-only or not; never copied.
    query
        (N,) float64 or float32, contiguous.
    reward
        A key of `REWARDS`.
    blocks
        Coordinates that are read together.
    team
        The threads that read. Every sum is made by one of them, so they never change a result.
    promised
        The norms that the rows are said to have. A row that is read whole is checked.
    """

    dense: _native.Dense
    data: Array

    def __init__(
        self,
        data: Array,
        query: Array,
        reward: str,
        blocks: Blocks,
        team: Team,
        promised: PromisedNorms | None = None,
    ) -> None:
        values, element = for_kernels(data)
        self.data = data
        self._query = query
        self.reward = reward
        self.blocks = blocks
        self.team = team
        self.promised = promised
        self.dense = dense_of(data, query, reward, blocks)
        self.n_arms, self.n_coordinates = data.shape
        self.bytes_per_number = data.dtype.itemsize
        self.coordinate_major = _native.coordinate_major(values, element)
        self.costs = in_memory(
            blocks.size, self.bytes_per_number, coordinate_major=self.coordinate_major
        )

    @cached_property
    def query(self) -> Floats:  # type: ignore[override] # made when it is first asked for
        """The query in float64: to widen a long one takes as long as to read some rows."""
        return self._query.astype(np.float64, copy=False)

    def check_squares(self, arms: Ints, squares: Floats) -> None:
        """Raise the same by squared norms that are computed in float32."""
        if self.promised is not None:
            doubtful = arms[self.promised.doubtful(arms, squares)]
            if len(doubtful):
                self.check_norms(doubtful, row_norms(self.data, doubtful, self.team))

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the sum of each arm over each block, shape (len(blocks), len(arms))."""
        sums = np.empty((len(blocks), len(arms)))
        _native.block_sums(self.dense, arms, blocks, self.team, sums)
        self._refuse_unless_finite(sums, arms)
        return sums

    def sums_and_squares(self, arms: Ints, blocks: Ints) -> tuple[Floats, Floats]:
        """Return the block sums, and those of the squared data values in the same shape."""
        sums, squares = np.empty((2, len(blocks), len(arms)))
        _native.block_sums(self.dense, arms, blocks, self.team, sums, squares)
        self._refuse_unless_finite(sums, arms)
        return sums, squares

    def totals(self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats) -> Totals:
        """Return the sums of each arm over all the blocks together."""
        high, low, largest = np.empty((3, len(arms)))
        _native.totals(self.dense, arms, blocks, centre, weight, self.team, high, low, largest)
        self._refuse_unless_finite(high, arms)
        return Totals(high, low, largest)

    def piece_totals(self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats) -> Totals:
        """Return the sums of each arm over blocks in long pieces.

        By column they are read as fast as everything is, and `Totals.largest` is that of all of them as one block.
        """
        if not self.coordinate_major:
            return self.totals(arms, blocks, centre, weight)
        high, low = np.zeros((2, len(arms)))
        _native.column_sums(self.dense, arms, blocks, self.team, high)
        self._refuse_unless_finite(high, arms)
        return Totals(high, low, np.abs(high - centre.sum()) / weight.sum())

    def exact_scores(self, arms: Ints, blocks: Ints | None = None) -> Floats:
        """Return the sum of all rewards of each arm, given the blocks outside of which all are zero, if there are any."""
        if blocks is None:
            return self._own_scores(arms)
        scores, squares = np.empty((2, len(arms)))
        starts, stops = _runs(blocks, self.blocks)
        wanted = None if self.promised is None else squares
        _native.run_scores(self.dense, starts, stops, arms, self.team, scores, wanted)
        self._refuse_unless_finite(scores, arms)
        if self.promised is not None:
            self.promised.check(arms, np.sqrt(squares), whole=False)
        return scores

    def _own_scores(self, arms: Ints) -> Floats:
        """Return the same over whole rows: the query is read as it was given."""
        scores, squares = np.empty((1, len(arms))), None
        if self.promised is not None:
            squares = np.empty(len(arms))
        _native.row_scores(self.dense, None, arms, self.team, scores, squares)
        self._refuse_unless_finite(scores, arms)
        if squares is not None:
            self._checked_norms(arms, squares)
        own: Floats = scores[0]
        return own

    def exact_scores_of(self, queries: Array, arms: Ints, team: Team) -> Floats:
        """Return the scores of each arm for several queries of the same data, (queries, arms).

        In float32 the queries are read as they are, and widened a part at a time.
        """
        if self.promised is not None:
            return self.exact_scores_and_norms(queries, arms, team)[0]
        scores = np.empty((len(queries), len(arms)))
        _native.row_scores(self.dense, queries, arms, team, scores)
        self._refuse_unless_finite(scores, arms)
        return scores

    def exact_scores_of_pairs(self, queries: Array, starts: Ints, arms: Ints, team: Team) -> Floats:
        """Return the scores of the arms from ``starts[i]`` to ``starts[i + 1]`` for the query i."""
        scores = np.empty(len(arms))
        _native.pair_scores(self.dense, queries, starts, arms, team, scores)
        self._refuse_unless_finite(scores, arms)
        return scores

    def exact_scores_and_norms(
        self, queries: Array, arms: Ints, team: Team
    ) -> tuple[Floats, Floats]:
        """Return the same scores, and the Euclidean norm of each arm from the same pass."""
        scores, squares = np.empty((len(queries), len(arms))), np.empty(len(arms))
        _native.row_scores(self.dense, queries, arms, team, scores, squares)
        self._refuse_unless_finite(scores, arms)
        return scores, self._checked_norms(arms, squares)

    def rounded_query(self, arms: Ints) -> RoundedQuery | None:
        """Return the query in float32; or None if there is no screen of these arms.

        There is none of float64, which is read no faster, nor of scattered arms of coordinate-major data, whose
        values come one to a cache line.
        """
        if self.bytes_per_number == 8 or (self.coordinate_major and are_scattered(arms)):
            return None
        found = None
        if self._query.dtype == np.float32:
            found = rounded_float(self.reward, self._query)
        return self._rounded(self.query) if found is None else found

    def _rounded(self, query: Floats) -> RoundedQuery | None:
        if self.bytes_per_number == 8:
            return None
        found = _native.rounded_query(REWARDS[self.reward], query)
        return None if found is None else RoundedQuery(*found)

    def screened_best(
        self, query: RoundedQuery, arms: Ints, wanted: Wanted, team: Team
    ) -> ScreenedBest:
        """Return the arms that can be among the k best, and their exact scores.

        Rows without the norm that is promised are among these.
        """
        promised = self.promised
        return ScreenedBest(
            *_native.screen_and_evaluate(
                self.dense,
                query.values,
                arms,
                team,
                scale=wanted.scale,
                absolute=wanted.absolute,
                unit=query.unit,
                fixed=wanted.fixed,
                of_root=wanted.of_root,
                of_score=wanted.of_score,
                best=wanted.best,
                k=wanted.k,
                first=wanted.first,
                share=wanted.share,
                norms=None if promised is None else promised.of(arms),
                screened_leeway=0.0 if promised is None else promised.screened_leeway,
                leeway=0.0 if promised is None else promised.leeway,
            )
        )

    def screened_scores(self, queries: Floats, arms: Ints, team: Team) -> Screened | None:
        """Return about these scores, from a pass in float32.

        There is none where `rounded_query` finds none. Arms without the norm that is promised get an infinite one, so that they are evaluated and
        refused.
        """
        if self.coordinate_major and are_scattered(arms):
            return None
        rounded: list[RoundedQuery] = []
        for query in queries:
            one = self._rounded(query)
            if one is None:
                return None
            rounded.append(one)
        scores = np.empty((len(queries), len(arms)))
        squares = np.empty(len(arms)) if self.reward == "ip" else None
        values = np.stack([query.values for query in rounded])
        _native.screen(self.dense, values, arms, team, scores, squares)
        if squares is not None and self.promised is not None:
            squares[self.promised.doubtful(arms, squares)] = np.inf
        scores *= np.array([query.unit for query in rounded])[:, None]
        return Screened(tuple(rounded), scores, squares)


def _runs(blocks: Ints, layout: Blocks) -> tuple[Ints, Ints]:
    """Return the coordinates at which each run of neighbours among ascending blocks starts and stops.

    Examples
    --------
    >>> _runs(np.array([0, 1, 4]), Blocks(9, size=2))
    (array([0, 8]), array([4, 9]))
    """
    ends = np.flatnonzero(np.diff(blocks) != 1)
    first, last = np.append(0, ends + 1), np.append(ends, len(blocks) - 1)
    starts = blocks[first] * layout.size - layout.shift
    stops = (blocks[last] + 1) * layout.size - layout.shift
    return np.maximum(starts, 0), np.minimum(stops, layout.n_coordinates)


def are_scattered(arms: Ints) -> bool:
    """Return whether these ascending arms share hardly any cache lines of a column."""
    return len(arms) < 2 or int(arms[-1] - arms[0]) >= SCATTERED * len(arms)


def is_coordinate_major(data: Array) -> bool:
    """Return whether one column of `data` lies closer together than one row."""
    return _native.coordinate_major(*for_kernels(data))


def row_norms(data: Array, arms: Ints, team: Team) -> Floats:
    """Return the Euclidean norm of each of the given rows: one pass over them."""
    origin = DenseSource(data, np.zeros(data.shape[1]), "sqeuclidean", Blocks(data.shape[1]), team)
    return np.sqrt(-origin.exact_scores(arms))
