"""An open file that many requests at a time are made of, and whether it is still the one that was opened."""

from __future__ import annotations

import mmap
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot.errors import StorageError

if TYPE_CHECKING:
    from sureshot._types import Array, Ints

# Requests at a time: a disk answers so many in the time of a few.
REQUESTS = 32

# What Linux says about the memory of this process: which files are mapped where.
MAPS = Path("/proc/self/maps")

# All files of a process share the threads that wait for them: there may be thousands of files.
_readers: weakref.WeakValueDictionary[int, _native.FileReader] = weakref.WeakValueDictionary()


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


class OpenFile:
    """A file that is open as long as this object lives."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.descriptor = os.open(self.path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self.descriptor)
        self.status = FileStatus.of(os.fstat(self.descriptor))
        self._own: tuple[int, _native.FileReader] | None = None
        if hasattr(os, "posix_fadvise"):
            # Without this the kernel reads ahead, which is far more than what is asked for.
            os.posix_fadvise(self.descriptor, 0, 0, os.POSIX_FADV_RANDOM)

    def read(self, offsets: Ints, length: int, out: Array) -> None:
        """Fill `out`, bytes, with so many from each offset on. Raises `StorageError`."""
        try:
            self._reader.read(self.descriptor, offsets, length, out)
        except OSError as error:
            self.check_unchanged()
            raise StorageError(f"{self.path}: {error.strerror or error}") from error

    @property
    def _reader(self) -> _native.FileReader:
        # A process that was forked has none of the threads of its parent.
        process = os.getpid()
        if self._own is None or self._own[0] != process:
            reader = _readers.get(process)
            if reader is None:
                reader = _readers[process] = _native.FileReader(REQUESTS)
            self._own = process, reader
        return self._own[1]

    def check_long_enough(self, needed: int, what: str) -> None:
        """Raise `StorageError` if the file has fewer bytes than are needed."""
        if needed > self.status.size:
            raise StorageError(
                f"{self.path} is cut off: {what} end at byte {needed}, but it has "
                f"{self.status.size} bytes"
            )

    def check_unchanged(self) -> None:
        """Raise `StorageError` if the file has changed since it was opened."""
        now = FileStatus.of(os.fstat(self.descriptor))
        if now != self.status:
            raise StorageError(
                f"{self.path} has changed while it was searched: it had {self.status.size} "
                f"bytes, now {now.size}; search again when no other program writes to it"
            )

    def is_mapped_at(self, address: int) -> bool:
        """Return whether the memory at an address is known to be a map of this file.

        Another file may have its name by now. What the system says of the map is compared with what it says
        of another map of this file: some file systems have other numbers for the file itself.
        """
        if not MAPS.exists() or self.status.size == 0:
            return False
        with mmap.mmap(self.descriptor, 1, access=mmap.ACCESS_READ) as own:
            view = np.frombuffer(own, np.uint8)
            files = [_file_mapped_at(one) for one in (address, view.ctypes.data)]
            del view  # or else the map could not be closed
        return files[0] is not None and files[0] == files[1]


def _file_mapped_at(address: int) -> tuple[str, str] | None:
    """Return device and inode of the file that is mapped at an address."""
    with MAPS.open() as lines:
        for line in lines:
            span, _, _, device, inode, *_ = line.split(maxsplit=5)
            first, last = (int(end, 16) for end in span.split("-"))
            if first <= address < last:
                return (device, inode) if inode != "0" else None
    return None
