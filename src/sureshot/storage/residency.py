"""Whether a memory map lies in memory, and the file behind it where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.storage.file import FileMatrix, in_file

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.storage.base import Stored
    from sureshot.storage.matrix import InFile

# Smaller maps are read whole before anything else could be decided.
SMALLEST_FILE = 1 << 26

# From which share of the pages on a map is searched as memory.
RESIDENT = 0.9


def matrix_behind(data: Array) -> Array | Stored:
    """Return the file of a memory map that is not in memory, or the array itself."""
    if not isinstance(data, np.memmap) or data.nbytes < SMALLEST_FILE:
        return data
    root = _root(data)
    if root is None or root.filename is None or not _has_rows(data):
        return data
    if _native.resident_share(for_kernels(data)[0]) >= RESIDENT:
        return data
    return FileMatrix(
        root.filename, data.dtype, data.shape, offset=_offset(data, root), stride=data.strides[0]
    )


def file_of(data: Array) -> InFile | None:
    """Return the file of a memory map, or of a view of one; None for other arrays."""
    root = _root(data)
    if root is None or root.filename is None:
        return None
    return in_file(Path(root.filename), _offset(data, root), data.strides, data.dtype)


def _root(data: Array) -> np.memmap | None:
    """Return the map that this is a view of: a view keeps the offset of its map, not its own."""
    while isinstance(data.base, np.ndarray):
        data = data.base
    # A map whose changes are its own may differ from its file.
    return data if isinstance(data, np.memmap) and data.mode != "c" else None


def _offset(data: Array, root: np.memmap) -> int:
    """Return the byte of the file at which the first number lies."""
    return int(root.offset + data.ctypes.data - root.ctypes.data)


def _has_rows(data: Array) -> bool:
    """Return whether rows are contiguous and follow each other."""
    row, number = data.strides
    return number == data.itemsize and row >= data.shape[1] * data.itemsize
