"""An array in memory as a stored matrix: a part of a stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.storage.base import Access, Stored
from sureshot.storage.residency import file_of

if TYPE_CHECKING:
    from sureshot._types import Array, Ints
    from sureshot.storage.matrix import InFile

# A piece that is copied, a byte of it, and a call, in nanoseconds.
REQUEST = 100.0
BYTE = 0.15
ROUND = 200_000.0

# Columns that are copied together: fewer would not cost less.
COLUMNS = 256


class MemoryMatrix(Stored):
    """A checked array, read piece by piece."""

    def __init__(self, data: Array) -> None:
        self.data = data
        self.shape = (data.shape[0], data.shape[1])
        self.dtype = data.dtype
        self.access = Access(REQUEST, BYTE, ROUND, min(COLUMNS, data.shape[1]))

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""
        for at, start in enumerate(starts.tolist()):
            np.take(self.data[:, start : start + size], rows, axis=0, out=out[:, at])

    def files(self) -> tuple[InFile, ...] | None:
        """Return the file of a memory map."""
        file = file_of(self.data)
        return None if file is None else (file,)

    def check_unchanged(self) -> None:
        """Do nothing: whoever writes to an array during a search does so on purpose."""
