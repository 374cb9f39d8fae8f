"""Whether a memory map lies in memory, and the file behind it where it does not."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.array_utils import byte_bounds

from sureshot import _native
from sureshot._elements import ELEMENTS, for_kernels, name_of
from sureshot.errors import StorageError
from sureshot.storage.column_file import ColumnFileMatrix
from sureshot.storage.file import FileMatrix, in_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array
    from sureshot.storage.base import Stored
    from sureshot.storage.matrix import InFile

# Smaller maps are read whole before anything else could be decided.
SMALLEST_FILE = 1 << 26

# Maps of several that are looked at.
SAMPLED = 16

# From which share of the pages on a map is searched as memory.
RESIDENT = 0.9


def matrix_behind(data: Array) -> Array | Stored:
    """Return the file of a memory map that is not in memory, or the array itself."""
    if not isinstance(data, np.memmap) or data.ndim != 2 or not data.size:
        return data
    if name_of(data.dtype) not in ELEMENTS or not data.dtype.isnative:
        return data  # which is refused by the check of all data
    root = _root(data)
    if root is None or root.filename is None:
        return data
    _refuse_if_cut_off(data, root)
    form = _form(data)
    if form is None or in_memory([data]):
        return data
    offset, stride = _offset(data, root), max(data.strides)
    try:
        stored = form(root.filename, data.dtype, data.shape, offset=offset, stride=stride)
    except (OSError, StorageError):
        return data  # The file was deleted or renamed, which does not matter to its map.
    return stored if stored.file.is_mapped_at(data.ctypes.data) else data


def in_memory(maps: Sequence[Array]) -> bool:
    """Return whether memory maps are searched as memory, by what a few of them are."""
    if sum(one.nbytes for one in maps) < SMALLEST_FILE:
        return True
    sample = maps[:: -(-len(maps) // SAMPLED)]
    shares = [_native.resident_share(*for_kernels(one)) for one in sample]
    return sum(shares) >= RESIDENT * len(shares)


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


def _refuse_if_cut_off(data: Array, root: np.memmap) -> None:
    """Raise `StorageError` if the file lacks a part of the map: to read that would end the process."""
    size = root._mmap.size()  # type: ignore[attr-defined] # of the file that is mapped
    needed = root.offset + byte_bounds(data)[1] - root.ctypes.data
    if size < needed:
        raise StorageError(
            f"{root.filename} is cut off: its map ends at byte {needed}, but it has {size} bytes"
        )


def _form(data: Array) -> type[FileMatrix | ColumnFileMatrix] | None:
    """Return what a file is whose rows, or whose columns, are contiguous and follow each other."""
    (rows, columns), (row, column), item = data.shape, data.strides, data.itemsize
    if column == item and row >= columns * item:
        return FileMatrix
    if row == item and column >= rows * item:
        return ColumnFileMatrix
    return None
