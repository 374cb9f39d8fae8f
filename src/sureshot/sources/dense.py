"""Rewards of a numpy array or memory map and a query, summed by the native kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.blocks import Blocks
from sureshot.errors import BoundsError
from sureshot.sources.base import Totals
from sureshot.sources.norms import norms_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

    from sureshot._native import Ledger, Met, Order, Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.sources.norms import PromisedNorms

REWARDS = {
    "ip": _native.Metric.INNER_PRODUCT,
    "sqeuclidean": _native.Metric.SQUARED_EUCLIDEAN,
    "l1": _native.Metric.L1,
}


class DenseSource:
    """Rewards of each row of `data` against `query`.

    Parameters
    ----------
    data
        (n, N), any strides, read-only or not; never copied.
    query
        (N,) float64, contiguous.
    reward
        A key of `REWARDS`.
    blocks
        Coordinates pulled together.
    team
        The threads that read. Every sum is made by one of them, so they never change a result.
    promised
        The norms that the rows are said to have. A row that is read whole is checked.
    """

    def __init__(
        self,
        data: Array,
        query: Floats,
        reward: str,
        blocks: Blocks,
        team: Team,
        promised: PromisedNorms | None = None,
    ) -> None:
        self.data = data
        self.values, self.element = for_kernels(data)
        self.query = query
        self.reward = REWARDS[reward]
        self.blocks = blocks
        self.team = team
        self.promised = promised
        self.n_arms, self.n_coordinates = data.shape
        self.bytes_per_number = data.dtype.itemsize
        self.coordinate_major = is_coordinate_major(data)

    def block_sums(self, arms: Ints, blocks: Ints, squares: Floats | None = None) -> Floats:
        """Return the sum of each arm over each block, shape (len(blocks), len(arms))."""
        sums = np.empty((len(blocks), len(arms)))
        _native.block_sums(
            self.values,
            self.element,
            self.reward,
            self.query,
            arms,
            blocks,
            self.blocks.size,
            self.blocks.shift,
            self.team,
            sums,
            squares,
        )
        finite = np.isfinite(sums).all(axis=0)
        if not finite.all():
            self._refuse(int(arms[int(np.argmin(finite))]))
        return sums

    def advance(
        self,
        ledger: Ledger,
        order: Order,
        team: Team,
        arms: Ints,
        positions: Ints,
        start: int,
        stop: int,
    ) -> Met:
        """Read the drawn blocks [start, stop) of the arms at some positions into the ledger."""
        met = ledger.read(
            team,
            self.values,
            self.element,
            self.reward,
            self.query,
            self.blocks.size,
            self.blocks.shift,
            arms,
            order,
            positions,
            start,
            stop,
        )
        if met.broken >= 0:
            self._refuse(int(arms[met.broken]))
        return met

    def finish(
        self,
        arms: Ints,
        positions: Ints,  # noqa: ARG002 - whole rows are read, whatever was sampled of them
        ledger: Ledger,  # noqa: ARG002
        order: Order,
    ) -> tuple[Floats, int]:
        """Return the sums of the arms over all blocks that can be drawn.

        Whole rows are read again: that is faster than to pass over what was sampled of them, and
        equal rows get equal sums. Blocks that are never drawn are not read here either.
        """
        if order.length == self.blocks.count:
            return self.exact_scores(arms), len(arms) * self.n_coordinates
        drawable = order.undrawn(0)
        ones = np.ones(len(drawable))
        found = self.totals(arms, drawable, ones, ones, squares=self.promised is not None)
        if self.promised is not None and found.squares is not None:
            self.promised.check(arms, np.sqrt(found.squares), whole=False)
        sizes = self.blocks.sums(np.ones(self.n_coordinates))
        return found.high + found.low, len(arms) * int(sizes[drawable].sum())

    def totals(
        self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats, *, squares: bool = False
    ) -> Totals:
        """Return the sums of each arm over all the blocks together."""
        high, low, largest = np.empty((3, len(arms)))
        found = np.empty(len(arms)) if squares else None
        _native.totals(
            self.values,
            self.element,
            self.reward,
            self.query,
            arms,
            blocks,
            self.blocks.size,
            self.blocks.shift,
            centre,
            weight,
            self.team,
            high,
            low,
            largest,
            found,
        )
        self._refuse_unless_finite(high, arms)
        return Totals(high, low, largest, found)

    def exact_scores(
        self,
        arms: Ints,
        sources: Sequence[DenseSource] = (),
        team: Team | None = None,
        norms: Floats | None = None,
    ) -> Floats:
        """Return the sum of all rewards of each arm, for each of the sources if some are given.

        `norms`, one entry per arm, is filled with the norms of the rows in the same pass over them.
        """
        queries = self.query[None]
        if len(sources) > 1:
            queries = np.stack([source.query for source in sources])
        scores = np.empty((len(queries), len(arms)))
        measured = norms is not None or self.promised is not None
        squares = np.empty(len(arms)) if measured else None
        _native.row_scores(
            self.values,
            self.element,
            self.reward,
            queries,
            arms,
            team or self.team,
            scores,
            squares,
        )
        for own in scores:
            self._refuse_unless_finite(own, arms)
        if squares is not None:
            found = norms_of(self.data, arms, squares)
            if not np.isfinite(found).all():
                row = arms[int(np.argmin(np.isfinite(found)))]
                raise BoundsError(f"the norm of data row {row} is too large for float64")
            if norms is not None:
                norms[:] = found
            if self.promised is not None:
                self.promised.check(arms, found)
        return scores if sources else scores[0]

    def _refuse_unless_finite(self, sums: Floats, arms: Ints) -> None:
        if not np.isfinite(sums).all():
            self._refuse(int(arms[int(np.argmax(~np.isfinite(sums)))]))

    def _refuse(self, arm: int) -> NoReturn:
        row = self.data[arm]
        broken = np.flatnonzero(~np.isfinite(row))
        if len(broken):
            message = (
                f"data row {arm} has the value {row[broken[0]]} at coordinate {broken[0]} "
                f"(block {(broken[0] + self.blocks.shift) // self.blocks.size}): expected finite numbers"
            )
        else:
            message = f"the score of data row {arm} is too large for float64"
        raise BoundsError(message)


def is_coordinate_major(data: Array) -> bool:
    """Return whether one column of `data` lies closer together than one row."""
    return abs(data.strides[0]) < abs(data.strides[1])


def row_norms(data: Array, arms: Ints, team: Team) -> Floats:
    """Return the Euclidean norm of each of the given rows: one pass over them."""
    origin = DenseSource(data, np.zeros(data.shape[1]), "sqeuclidean", Blocks(data.shape[1]), team)
    return np.sqrt(-origin.exact_scores(arms))
