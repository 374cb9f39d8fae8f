"""Sums of rows whose columns come some at a time, with the bits that they have if all come at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import LANES, Metric

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats


class LaneSums:
    """Rewards of some rows for each query, column j in the sum j % LANES as the kernels have them.

    Examples
    --------
    >>> sums, rows, query = LaneSums(1, 2), np.arange(10.0).reshape(2, 5), np.ones((1, 5))
    >>> for part in (slice(0, 3), slice(3, 5)):
    ...     sums.add(rows[:, part], Metric.INNER_PRODUCT, query[:, part], _native.Team(1))
    >>> sums.joined()
    array([[10., 35.]])
    """

    def __init__(self, n_queries: int, n_rows: int) -> None:
        self._sums = np.zeros((n_queries, n_rows, LANES))
        self._columns = 0  # so many were added; the next one belongs to the first lane of `_sums`

    def add(self, values: Array, metric: Metric, queries: Floats, team: Team) -> None:
        """Add the next columns of the rows."""
        own = np.ascontiguousarray(queries)
        _native.add_scores(*for_kernels(values), metric, own, team, self._sums)
        self._columns += values.shape[1]
        if values.shape[1] % LANES:
            self._sums = np.roll(self._sums, -values.shape[1], axis=2)

    def joined(self) -> Floats:
        """Return the sums, (queries, rows)."""
        lanes = np.moveaxis(np.roll(self._sums, self._columns, axis=2), 2, 0)
        first, second, third, fourth = lanes[:4] + lanes[4:]  # as the kernels do
        joined: Floats = (first + third) + (second + fourth)
        return joined


class Squares:
    """The sums of squares of some rows: their squared distance from zero."""

    def __init__(self, n_rows: int) -> None:
        self._sums = LaneSums(1, n_rows)

    def add(self, values: Array, team: Team) -> None:
        """Add the next columns of the rows."""
        self._sums.add(values, Metric.SQUARED_EUCLIDEAN, np.zeros((1, values.shape[1])), team)

    def joined(self) -> Floats:
        """Return the sums, one for each row."""
        squares: Floats = 0.0 - self._sums.joined()[0]
        return squares
