"""A matrix that lies in a file, row after row, and is read by many requests at once.

A memory map would fetch what it needs page by page, each only when the last one has come, or by the
kernel's readahead far more than it needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.storage.base import Access, Stored
from sureshot.storage.matrix import InFile
from sureshot.storage.open_file import OpenFile

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from sureshot._types import Array, Ints

# A scattered request, a byte of a stream, and a call, in nanoseconds: on the machine of
# ``measurements/scale``, which repeats their measurement.
REQUEST = 10_000.0
BYTE = 0.65
ROUND = 500_000.0

# What is read together is a page, or more where rows are so long that so many units are enough.
PAGE = 4096
LONGEST_UNIT = 1 << 16
UNITS_OF_ROW = 1024


class FileMatrix(Stored):
    """A matrix of `shape` in a file, from byte `offset` on, each row `stride` bytes after the last one.

    Rows are contiguous. Where they do not follow each other, `begins` has the byte after `offset` that each of them
    begins with. The file is opened here, and closed with the object.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        dtype: np.dtype[Any],
        shape: tuple[int, int],
        *,
        offset: int = 0,
        stride: int | None = None,
        begins: Ints | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.offset = offset
        self.stride = shape[1] * dtype.itemsize if stride is None else stride
        self.begins = begins
        self.access = file_access(shape[1], dtype.itemsize)
        self.file = OpenFile(path)
        last = (shape[0] - 1) * self.stride if begins is None else int(begins.max())
        self.file.check_long_enough(
            offset + last + shape[1] * dtype.itemsize,
            f"{shape[0]} rows of {shape[1]} numbers of {dtype} from byte {offset} on",
        )

    def __repr__(self) -> str:
        return (
            f"FileMatrix({str(self.file.path)!r}, {self.dtype}, {self.shape}, offset={self.offset})"
        )

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""
        item = self.itemsize
        begins = rows * self.stride if self.begins is None else self.begins[rows]
        offsets = self.offset + begins[:, None] + starts * item
        self.file.read(offsets.ravel(), size * item, out.reshape(-1).view(np.uint8))

    def files(self) -> tuple[InFile, ...]:
        """Return the file, once for all rows that follow each other."""
        begins = np.zeros(1, np.int64)
        if self.begins is not None:
            begins = self.begins[np.append(True, np.diff(self.begins) != self.stride)]
        strides = (self.stride, self.itemsize)
        return tuple(
            in_file(self.file.path, self.offset + begin, strides, self.dtype)
            for begin in begins.tolist()
        )

    def check_unchanged(self) -> None:
        """Raise `StorageError` if the file has changed since it was opened."""
        self.file.check_unchanged()


def in_file(path: Path, offset: int, strides: tuple[int, ...], dtype: np.dtype[Any]) -> InFile:
    """Return where numbers lie that begin at some byte of a file."""
    return InFile(path, f"byte {offset} in steps of {strides} bytes as {dtype}")


def file_access(width: int, itemsize: int) -> Access:
    """Return what it costs to read a file whose rows have so many numbers."""
    return Access(REQUEST, BYTE, ROUND, unit_columns(width, itemsize))


def unit_columns(width: int, itemsize: int) -> int:
    """Return how many columns of a file are read together.

    Examples
    --------
    >>> unit_columns(10**6, 4), unit_columns(10**8, 4), unit_columns(100, 8)
    (1024, 16384, 100)
    """
    wanted = width * itemsize // UNITS_OF_ROW
    unit = PAGE
    while unit < min(wanted, LONGEST_UNIT):
        unit *= 2
    return min(unit // itemsize, width)
