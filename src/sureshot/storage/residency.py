"""Whether a memory map lies in memory, and the file behind it where it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.storage.file import FileMatrix

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.storage.base import Stored

# Smaller maps are read whole before anything else could be decided.
SMALLEST_FILE = 1 << 26

# From which share of the pages on a map is searched as memory.
RESIDENT = 0.9


def matrix_behind(data: Array) -> Array | Stored:
    """Return the file of a memory map that is not in memory, or the array itself."""
    if not isinstance(data, np.memmap) or data.nbytes < SMALLEST_FILE:
        return data
    root = _root(data)
    # A map whose changes are its own may differ from its file.
    if root.filename is None or root.mode == "c" or not _has_rows(data):
        return data
    if _native.resident_share(for_kernels(data)[0]) >= RESIDENT:
        return data
    offset = root.offset + data.ctypes.data - root.ctypes.data
    return FileMatrix(root.filename, data.dtype, data.shape, offset=offset, stride=data.strides[0])


def _root(data: Array) -> np.memmap:
    """Return the map that this is a view of: a view keeps the offset of its map, not its own."""
    while isinstance(data.base, np.memmap):
        data = data.base
    assert isinstance(data, np.memmap)
    return data


def _has_rows(data: Array) -> bool:
    """Return whether rows are contiguous and follow each other."""
    row, number = data.strides
    return number == data.itemsize and row >= data.shape[1] * data.itemsize
