"""Rows of an array as a matrix product takes them: some rows and columns at a time, never all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels

if TYPE_CHECKING:
    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints


class Tiles:
    """Reads `data`, (n, N), as float32, or as float64 if that is its type; both are exact."""

    def __init__(self, data: Array) -> None:
        values, element = for_kernels(data)
        self.data = data
        self.dtype = np.dtype(np.float64 if data.dtype == np.float64 else np.float32)
        # Whether kernels multiply these rows: not in float64, and by row.
        self.by_kernels = self.dtype == np.float32
        origin = np.zeros(data.shape[1])
        squared = _native.Metric.SQUARED_EUCLIDEAN
        # The rows as kernels take them; what they are compared with counts for squared norms alone.
        self.from_origin = _native.Dense(
            values, element, squared, origin, block=data.shape[1], shift=0
        )
        self._origin = origin[None]

    def panel(self, arms: Ints, start: int, stop: int) -> Array:
        """Return the columns [start, stop) of some rows, which are ascending."""
        columns = self.data[:, start:stop]
        if arms[-1] - arms[0] + 1 == len(arms):
            rows = columns[arms[0] : arms[-1] + 1]
        else:
            rows = columns[arms]
        return rows.astype(self.dtype, copy=False)

    def squared_norms(self, arms: Ints, team: Team) -> Floats:
        """Return the squared norm of each of these rows, computed in double."""
        sums = np.empty((1, len(arms)))
        _native.row_scores(self.from_origin, self._origin, arms, team, sums)
        squares: Floats = np.negative(sums[0])
        return squares
