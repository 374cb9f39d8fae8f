"""Draws rows of a column in proportion to their absolute values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.baselines.rows import Rows

# Rows whose values are added up beforehand: the sums take 1/32 of the memory of float64 data, and a draw
# reads 32 numbers to find its row within them.
ROWS_PER_SUM = 32

# Draws made at a time, each of which looks at a block.
DRAWS_AT_ONCE = 1 << 15


class Columns:
    """The sums of |values| of each column over the blocks of rows so far, shape (blocks + 1, N).

    Tables from which a row is drawn in constant time would be a copy of the data for each column.
    These sums are small: a draw finds its block by bisection and reads the block.
    """

    def __init__(self, rows: Rows, *, user: str, non_negative: bool = False) -> None:
        self.rows = rows
        data = rows.data
        starts = range(0, rows.count, ROWS_PER_SUM)
        self._sums = np.zeros((len(starts) + 1, rows.width))
        for number, start in enumerate(starts):
            piece = data[start : start + ROWS_PER_SUM]
            if non_negative and (piece < 0).any():
                row, coordinate = np.argwhere(piece < 0)[0]
                message = (
                    f"{user} needs data without negative values, got {piece[row, coordinate]:g} in "
                    f"row {start + row} at coordinate {coordinate}"
                )
                raise ValueError(message)
            np.abs(piece).sum(axis=0, dtype=np.float64, out=self._sums[number + 1])
        np.cumsum(self._sums, axis=0, out=self._sums)
        if not np.isfinite(self.totals).all():
            coordinate = int(np.argmin(np.isfinite(self.totals)))
            message = f"{user} needs finite data, got other values at coordinate {coordinate}"
            raise ValueError(message)

    @property
    def totals(self) -> Floats:
        """The sum of the absolute values of each column."""
        last: Floats = self._sums[-1]
        return last

    def draw(self, columns: Ints, rng: np.random.Generator) -> tuple[Ints, int]:
        """Draw one row for each of the given columns, and say how many numbers that read."""
        levels = rng.random(len(columns)) * self.totals[columns]
        rows = np.empty(len(columns), np.int64)
        read = 0
        for start in range(0, len(columns), DRAWS_AT_ONCE):
            piece = slice(start, start + DRAWS_AT_ONCE)
            rows[piece], count = self._find(columns[piece], levels[piece])
            read += count
        return rows, read

    def _find(self, columns: Ints, levels: Floats) -> tuple[Ints, int]:
        """Return the row of each column at which the sum of its absolute values passes a level."""
        low = np.zeros(len(columns), np.int64)
        high = np.full(len(columns), len(self._sums) - 1)
        steps = 0
        while (high - low > 1).any():
            middle = (low + high) // 2
            below = self._sums[middle, columns] <= levels
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            steps += 1
        inside = np.minimum(ROWS_PER_SUM, self.rows.count)
        # The last block may reach over the end: those places repeat the last row and count as 0.
        places = low[:, None] * ROWS_PER_SUM + np.arange(inside)
        exists = places < self.rows.count
        values = self.rows.data[np.minimum(places, self.rows.count - 1), columns[:, None]]
        sums = np.cumsum(np.abs(values) * exists, axis=1, dtype=np.float64)
        passed = (sums <= (levels - self._sums[low, columns])[:, None]).sum(axis=1)
        # Rounding may put a level above the last sum: the last value above 0 is meant.
        last = (sums < sums[:, -1:]).sum(axis=1)
        rows: Ints = low * ROWS_PER_SUM + np.minimum(passed, last)
        return rows, len(columns) * (steps + int(inside))
