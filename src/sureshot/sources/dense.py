"""Rewards of a numpy array or memory map and a query, summed by the native kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot.errors import BoundsError

if TYPE_CHECKING:
    from typing import NoReturn

    from sureshot._types import Array, Floats, Ints

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
    block
        Coordinates pulled together.
    threads
        Threads for one call. Every sum is made by one thread, so this never changes a result.
    """

    def __init__(self, data: Array, query: Floats, reward: str, block: int, threads: int) -> None:
        self.data = data
        self.query = query
        self.reward = REWARDS[reward]
        self.block = block
        self.threads = threads
        self.n_arms, self.n_coordinates = data.shape
        self.bytes_per_number = data.dtype.itemsize

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        """Return the sum of each arm over each block, shape (len(arms), len(blocks))."""
        sums = np.empty((len(blocks), len(arms)))
        _native.block_sums(
            self.data, self.reward, self.query, arms, blocks, self.block, self.threads, sums
        )
        if not np.isfinite(sums).all():
            position = np.argwhere(~np.isfinite(sums.T))[0]
            self._refuse(arms[position[0]], blocks[position[1]], sums.T[tuple(position)])
        return sums.T

    def totals(self, arms: Ints, blocks: Ints, low: Floats, high: Floats) -> Floats:
        """Return the sum of each arm over all the blocks, each checked against its limits."""
        totals = np.empty(len(arms))
        arm, block, found = _native.checked_totals(
            self.data,
            self.reward,
            self.query,
            arms,
            blocks,
            self.block,
            low,
            high,
            self.threads,
            totals,
        )
        if arm >= 0:
            limits = f", outside [{low[block]:.6g}, {high[block]:.6g}]"
            self._refuse(arms[arm], blocks[block], found, limits)
        return totals

    def exact_scores(self, arms: Ints) -> Floats:
        """Return the sum of all rewards of each arm."""
        scores = np.empty(len(arms))
        _native.row_scores(self.data, self.reward, self.query, arms, self.threads, scores)
        if not np.isfinite(scores).all():
            position = int(np.argmax(~np.isfinite(scores)))
            row = self.data[arms[position]]
            broken = np.flatnonzero(~np.isfinite(row))
            if len(broken):
                message = (
                    f"data row {arms[position]} has the value {row[broken[0]]} at coordinate "
                    f"{broken[0]}: expected finite numbers"
                )
            else:
                message = f"the score of data row {arms[position]} is too large for float64"
            raise BoundsError(message)
        return scores

    def _refuse(self, row: int, block: int, found: float, limits: str = "") -> NoReturn:
        start = block * self.block
        stop = min(start + self.block, self.n_coordinates)
        where = f"coordinate {start}" if stop == start + 1 else f"coordinates {start} to {stop - 1}"
        if limits and np.isfinite(found):
            advice = "; the values there break the given bounds: pass wider ones"
        else:
            advice = ": expected finite numbers"
            limits = ""
        message = f"data row {row} has reward {found:.6g} at {where}{limits}{advice}"
        raise BoundsError(message)


def row_norms(data: Array, arms: Ints, threads: int) -> Floats:
    """Return the Euclidean norm of each of the given rows: one pass over them."""
    origin = DenseSource(data, np.zeros(data.shape[1]), "sqeuclidean", 1, threads)
    return np.sqrt(-origin.exact_scores(arms))
