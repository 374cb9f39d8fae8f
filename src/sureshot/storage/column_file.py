"""A matrix that lies in a file column after column: what numpy calls Fortran order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.storage.base import Access, Stored
from sureshot.storage.file import BYTE, REQUEST, ROUND, in_file
from sureshot.storage.open_file import OpenFile

if TYPE_CHECKING:
    import os

    from sureshot._types import Array, Ints
    from sureshot.storage.matrix import InFile

# Bytes of a column that are read together where few of its rows are wanted.
UNIT = 1 << 14

# Rows that a stream reads of each column: long pieces, and many columns at a time.
ROWS_OF_STREAM = 1 << 16

# Bytes that are read before the wanted rows are picked from them.
AT_ONCE = 1 << 25


class ColumnFileMatrix(Stored):
    """A matrix of `shape` in a file, from byte `offset` on, each column `stride` bytes after the last one.

    Columns are contiguous. The file is opened here, and closed with the object.
    """

    by_column = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        dtype: np.dtype[Any],
        shape: tuple[int, int],
        *,
        offset: int = 0,
        stride: int | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.offset = offset
        self.stride = shape[0] * dtype.itemsize if stride is None else stride
        unit = min(UNIT // dtype.itemsize, shape[0])
        self.access = Access(REQUEST, BYTE, ROUND, unit_columns=1, unit_rows=unit)
        self.file = OpenFile(path)
        self.file.check_long_enough(
            offset + (shape[1] - 1) * self.stride + shape[0] * dtype.itemsize,
            f"{shape[1]} columns of {shape[0]} numbers of {dtype} from byte {offset} on",
        )

    def __repr__(self) -> str:
        return f"ColumnFileMatrix({str(self.file.path)!r}, {self.dtype}, {self.shape}, offset={self.offset})"

    @property
    def stream_rows(self) -> int:
        """How many rows are best read together where all are wanted."""
        return ROWS_OF_STREAM

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""
        columns = (starts[:, None] + np.arange(size)).ravel()
        by_column = out.transpose(1, 2, 0)
        first, count = int(rows.min()), int(rows.max() - rows.min()) + 1
        if count == len(rows) and by_column.flags.c_contiguous and bool((np.diff(rows) == 1).all()):
            self._read_pieces(columns, np.array([first]), count, by_column)
            return
        # Pieces of each column that hold all of these rows: one, or many of the length of a unit.
        unit = self.access.unit_rows
        units = np.unique(rows // unit)
        if len(units) * unit >= count:
            pieces, length = np.array([first]), count
            piece, inside = np.zeros(len(rows), np.int64), rows - first
        else:
            pieces, length = np.minimum(units * unit, self.shape[0] - unit), unit
            piece = np.searchsorted(units, rows // unit)
            inside = rows - pieces[piece]
        some = max(1, AT_ONCE // (len(pieces) * length * self.itemsize))
        for at in range(0, len(columns), some):
            values = np.empty((len(columns[at : at + some]), len(pieces), length), self.dtype)
            self._read_pieces(columns[at : at + some], pieces, length, values)
            which = np.arange(at, at + len(values))
            out[:, which // size, which % size] = values[:, piece, inside].T

    def _read_pieces(self, columns: Ints, pieces: Ints, length: int, out: Array) -> None:
        """Fill `out`, (columns, pieces, length), with so many rows from each of `pieces` on."""
        item = self.itemsize
        offsets = self.offset + columns[:, None] * self.stride + pieces * item
        self.file.read(offsets.ravel(), length * item, out.reshape(-1).view(np.uint8))

    def files(self) -> tuple[InFile, ...]:
        """Return the file."""
        strides = (self.itemsize, self.stride)
        return (in_file(self.file.path, self.offset, strides, self.dtype),)

    def check_unchanged(self) -> None:
        """Raise `StorageError` if the file has changed since it was opened."""
        self.file.check_unchanged()
