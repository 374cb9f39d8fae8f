"""Several matrices as one, without copying them: one below the other, or side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.storage.base import Access, Stored
from sureshot.storage.memory import MemoryMatrix
from sureshot.storage.residency import matrix_behind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Floats, Ints
    from sureshot.storage.matrix import InFile

    Part = Array | Stored


class Stack(Stored):
    """Parts that are read together. Reading costs what the most expensive part costs."""

    def __init__(self, parts: Sequence[Part], shape: tuple[int, int]) -> None:
        self.parts = tuple(map(_stored, parts))
        self.shape = shape
        self.dtype = parts[0].dtype
        accesses = [part.access for part in self.parts]
        self.access = Access(
            request=max(access.request for access in accesses),
            byte=max(access.byte for access in accesses),
            round=max(access.round for access in accesses),
            unit_columns=min(max(access.unit_columns for access in accesses), shape[1]),
            unit_rows=max(access.unit_rows for access in accesses),
        )

    @property
    def stream_rows(self) -> int:
        """How many rows are best read together where all are wanted."""
        return max(part.stream_rows for part in self.parts)

    def files(self) -> tuple[InFile, ...] | None:
        """Return the files of all parts, if they are known of each."""
        found: tuple[InFile, ...] = ()
        for part in self.parts:
            files = part.files()
            if files is None:
                return None
            found += files
        return found

    def check_unchanged(self) -> None:
        """Raise `StorageError` if a part is known to have changed since it was opened."""
        for part in self.parts:
            part.check_unchanged()


class RowStack(Stack):
    """Matrices of equal width, one below the other."""

    def __init__(self, parts: Sequence[Part]) -> None:
        heights = [part.shape[0] for part in parts]
        super().__init__(parts, (sum(heights), parts[0].shape[1]))
        self._ends = np.cumsum(heights)

    def units_of(self, rows: Ints) -> Ints:
        """Return a number for each row, the same for those that come together."""
        owner = np.searchsorted(self._ends, rows, side="right")
        units = np.empty(len(rows), np.int64)
        for at in np.unique(owner).tolist():
            own, first = owner == at, int(self._ends[at]) - self.parts[at].shape[0]
            # No two parts have the same numbers: a part has no more units than rows.
            units[own] = first + self.parts[at].units_of(rows[own] - first)
        return units

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""
        owner = np.searchsorted(self._ends, rows, side="right")
        for at in np.unique(owner).tolist():
            places = np.flatnonzero(owner == at)
            first = int(self._ends[at]) - self.parts[at].shape[0]
            if len(places) == len(rows):
                self.parts[at].read(rows - first, starts, size, out)
                return
            values = np.empty((len(places), len(starts), size), self.dtype)
            self.parts[at].read(rows[places] - first, starts, size, values)
            out[places] = values


class ColumnStack(Stack):
    """Matrices of equal height, side by side; the inner products of a part may have a weight."""

    def __init__(self, parts: Sequence[Part], weights: Floats | None) -> None:
        widths = [part.shape[1] for part in parts]
        super().__init__(parts, (parts[0].shape[0], sum(widths)))
        self._ends = np.cumsum(widths)
        self._tallest = max(self.parts, key=lambda part: part.stream_rows)
        if weights is not None:
            self.column_weights = np.repeat(weights, widths)

    def units_of(self, rows: Ints) -> Ints:
        """Return a number for each row, the same for those that come together."""
        return self._tallest.units_of(rows)

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""
        for at, start in enumerate(starts.tolist()):
            self._read_piece(rows, start, size, out[:, at])

    def _read_piece(self, rows: Ints, start: int, size: int, out: Array) -> None:
        """Fill `out`, (rows, size), from the parts that the columns from `start` on lie in."""
        done = 0
        while done < size:
            at = int(np.searchsorted(self._ends, start + done, side="right"))
            inside = start + done - (int(self._ends[at]) - self.parts[at].shape[1])
            some = min(size - done, self.parts[at].shape[1] - inside)
            values = np.empty((len(rows), 1, some), self.dtype)
            self.parts[at].read(rows, np.array([inside]), some, values)
            out[:, done : done + some] = values[:, 0]
            done += some


def _stored(part: Part) -> Stored:
    behind = part if isinstance(part, Stored) else matrix_behind(part)
    return behind if isinstance(behind, Stored) else MemoryMatrix(behind)
