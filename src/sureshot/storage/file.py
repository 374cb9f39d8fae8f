"""A matrix that lies in a file, row after row, and is read by many requests at once.

A memory map would fetch what it needs page by page, each only when the last one has come, or by the
kernel's readahead far more than it needs.
"""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot import _native
from sureshot.errors import StorageError
from sureshot.storage.base import Access, Stored
from sureshot.storage.matrix import InFile

if TYPE_CHECKING:
    from sureshot._types import Array, Ints

# Requests at a time: a disk answers so many in the time of a few.
REQUESTS = 32

# A scattered request, a byte of a stream, and a call, in nanoseconds: on the machine of
# ``measurements/scale``, which repeats their measurement.
REQUEST = 10_000.0
BYTE = 0.65
ROUND = 500_000.0

# What is read together is a page, or more where rows are so long that so many units are enough.
PAGE = 4096
LONGEST_UNIT = 1 << 16
UNITS_OF_ROW = 1024


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What tells that a file is still the one that was opened."""

    size: int
    modified: int  # nanoseconds
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileStatus:
        """Return what matters of a status."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


class FileMatrix(Stored):
    """A matrix of `shape` in a file, from byte `offset` on, each row `stride` bytes after the last one.

    Rows are contiguous. The file is opened here, and closed with the object.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        dtype: np.dtype[Any],
        shape: tuple[int, int],
        *,
        offset: int = 0,
        stride: int | None = None,
    ) -> None:
        self.path = Path(path)
        self.shape = shape
        self.dtype = dtype
        self.offset = offset
        self.stride = shape[1] * dtype.itemsize if stride is None else stride
        self.access = file_access(shape[1], dtype.itemsize)
        self._file = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        self._readers: dict[int, _native.FileReader] = {}
        weakref.finalize(self, _close, self._file, self._readers)
        self._opened = FileStatus.of(os.fstat(self._file))
        needed = offset + (shape[0] - 1) * self.stride + shape[1] * dtype.itemsize
        if needed > self._opened.size:
            raise StorageError(
                f"{self.path} is cut off: {shape[0]} rows of {shape[1]} numbers of {dtype} from byte "
                f"{offset} on end at byte {needed}, but it has {self._opened.size} bytes"
            )
        if hasattr(os, "posix_fadvise"):
            # Without this the kernel reads ahead, which is far more than what is asked for.
            os.posix_fadvise(self._file, 0, 0, os.POSIX_FADV_RANDOM)

    def __repr__(self) -> str:
        return f"FileMatrix({str(self.path)!r}, {self.dtype}, {self.shape}, offset={self.offset})"

    def read(self, rows: Ints, starts: Ints, size: int, out: Array) -> None:
        """Fill `out`, (rows, starts, size), with `size` columns of each row from each start on."""
        item = self.itemsize
        offsets = self.offset + rows[:, None] * self.stride + starts * item
        try:
            self._reader.read(offsets.ravel(), size * item, out.reshape(-1).view(np.uint8))
        except OSError as error:
            self.check_unchanged()
            raise StorageError(f"{self.path}: {error.strerror or error}") from error

    @property
    def _reader(self) -> _native.FileReader:
        # A process that was forked has none of the threads of its parent.
        process = os.getpid()
        if process not in self._readers:
            self._readers[process] = _native.FileReader(self._file, REQUESTS)
        return self._readers[process]

    def files(self) -> tuple[InFile, ...]:
        """Return the file."""
        return (in_file(self.path, self.offset, (self.stride, self.itemsize), self.dtype),)

    def check_unchanged(self) -> None:
        """Raise `StorageError` if the file has changed since it was opened."""
        now = FileStatus.of(os.fstat(self._file))
        if now != self._opened:
            raise StorageError(
                f"{self.path} has changed while it was searched: it had {self._opened.size} bytes, "
                f"now {now.size}; search again when no other program writes to it"
            )


def _close(file: int, readers: dict[int, _native.FileReader]) -> None:
    readers.clear()  # which ends their threads
    os.close(file)


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
