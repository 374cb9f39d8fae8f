"""Rewards of data values and a query: what every such source checks of what it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.errors import BoundsError
from sureshot.sources.base import QuerySource
from sureshot.sources.norms import norms_of

if TYPE_CHECKING:
    from typing import NoReturn

    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.blocks import Blocks
    from sureshot.sources.norms import PromisedNorms
    from sureshot.storage.matrix import Matrix

REWARDS = {
    "ip": _native.Metric.INNER_PRODUCT,
    "sqeuclidean": _native.Metric.SQUARED_EUCLIDEAN,
    "l1": _native.Metric.L1,
}


def dense_of(rows: Array, query: Floats, reward: str, blocks: Blocks) -> _native.Dense:
    """Return rows and a query as the kernels take them."""
    values, element = for_kernels(rows)
    return _native.Dense(
        values, element, REWARDS[reward], query, block=blocks.size, shift=blocks.shift
    )


class ValueSource(QuerySource):
    """Rewards of the rows of `data`, whose norms may have been promised."""

    data: Array | Matrix
    team: Team

    def check_norms(self, arms: Ints, norms: Floats) -> None:
        """Raise `BoundsError` if these norms of some arms are not what was promised."""
        if self.promised is not None:
            self.promised.check(arms, norms)

    def _checked_norms(self, arms: Ints, squares: Floats) -> Floats:
        norms = norms_of(self.data, arms, squares)
        if not _native.all_finite(norms):
            row = arms[int(np.argmin(np.isfinite(norms)))]
            raise BoundsError(f"the norm of data row {row} is too large for float64")
        self.check_norms(arms, norms)
        return norms

    def _refuse_unless_finite(self, sums: Floats, arms: Ints) -> None:
        """Raise the error that names the first arm whose sums, along the last axis, are not finite."""
        if not _native.all_finite(sums):
            finite = np.isfinite(sums)
            arm = int(arms[int(np.argmin(finite.reshape(-1, len(arms)).all(axis=0)))])
            self._refuse(arm)

    def _refuse(self, arm: int) -> NoReturn:
        row = self.data[arm]
        broken = np.flatnonzero(~np.isfinite(row))
        if len(broken):
            block = (broken[0] + self.blocks.shift) // self.blocks.size
            message = (
                f"data row {arm} has the value {row[broken[0]]} at coordinate {broken[0]} "
                f"(block {block}): expected finite numbers"
            )
        else:
            message = f"the score of data row {arm} is too large for float64"
        raise BoundsError(message)


class ElsewhereSource(ValueSource):
    """Rewards of a matrix that is no array: what is read of it, a subclass says."""

    def __init__(
        self,
        data: Matrix,
        query: Floats,
        reward: str,
        blocks: Blocks,
        team: Team,
        promised: PromisedNorms | None = None,
    ) -> None:
        self.data = data
        self.query = query
        self.reward = reward
        self.blocks = blocks
        self.team = team
        self.promised = promised
        self.n_arms, self.n_coordinates = data.shape
        self.bytes_per_number = data.itemsize

    def exact_scores(self, arms: Ints, blocks: Ints | None = None) -> Floats:
        """Return the sum of all rewards of each arm, or of those in the given blocks."""
        if blocks is not None:
            return super().exact_scores(arms, blocks)
        scores: Floats = self.exact_scores_of(self.query[None], arms, self.team)[0]
        return scores
