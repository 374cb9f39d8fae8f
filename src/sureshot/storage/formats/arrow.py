"""Columns of Arrow whose values are lists of one length, in IPC files that are not compressed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.extras import library
from sureshot.storage.file import FileMatrix
from sureshot.storage.named import the_one_called
from sureshot.storage.residency import in_memory
from sureshot.storage.stacks import RowStack

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sureshot._types import Array
    from sureshot.storage.base import Stored

SUFFIXES = (".arrow", ".feather", ".ipc")
MODULE = "pyarrow"


def open_path(path: Path, name: str | None) -> Array | Stored:
    """Open a column of a file: the one of that name, or the only one of lists."""
    pyarrow = library("pyarrow", "files", f"{path}")
    with pyarrow.memory_map(str(path)) as source:
        try:
            table = pyarrow.ipc.open_file(source).read_all()
            lists = {
                field.name: table[field.name]
                for field in table.schema
                if pyarrow.types.is_fixed_size_list(field.type)
            }
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            raise StorageError(f"{path} cannot be opened as an Arrow file: {error}") from error
        column = the_one_called(name, lists, f"{path}", "a column of lists of one length")
        _refuse_damaged(column, f"{path}")
        source.seek(0)
        first = source.read_buffer(1).address
        maps = [_map(path, chunk, first) for chunk in column.chunks if len(chunk)]
    if len(maps) < 2 or in_memory(maps):
        return _stacked(maps)
    # One matrix, of which many requests can be made at once, and not many that are read one after the other.
    width = maps[0].shape[1]
    begins = [one.offset + np.arange(len(one)) * width * one.itemsize for one in maps]
    shape = (sum(map(len, maps)), width)
    return FileMatrix(path, maps[0].dtype, shape, begins=np.concatenate(begins))


def _refuse_damaged(column: Any, name: str) -> None:
    """Raise `StorageError` if lengths and buffers do not fit: pyarrow would read beyond its memory."""
    try:
        column.validate(full=True)
    except library("pyarrow", "files", name).ArrowInvalid as error:
        raise StorageError(f"{name} is damaged: {error}") from error


def adopt(column: Any) -> Array | Stored:
    """Return a column of lists of one length as a matrix."""
    pyarrow = library("pyarrow", "files", "a column")
    is_column = isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray))
    if not is_column or not pyarrow.types.is_fixed_size_list(column.type):
        what = getattr(column, "type", type(column).__name__)
        raise TypeError(f"data must be a column of lists of one length, got {what}")
    chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
    return _stacked([_array(chunk) for chunk in chunks if len(chunk)])


def _stacked(parts: Sequence[Array]) -> Array | Stored:
    if not parts:
        raise ValueError("data must not be empty, got a column without rows")
    return parts[0] if len(parts) == 1 else RowStack(parts)


def _map(path: Path, chunk: Any, first: int) -> np.memmap:
    """Return a memory map of some rows; the file is mapped from the address `first` on."""
    rows = _array(chunk)
    offset = rows.ctypes.data - first
    if not 0 <= offset <= path.stat().st_size - rows.nbytes:
        message = (
            f"{path} is compressed, so that its rows must be unpacked: write it without compression"
        )
        raise StorageError(message)
    return np.memmap(path, rows.dtype, "r", offset, rows.shape)


def _array(chunk: Any) -> Array:
    if chunk.null_count or chunk.flatten().null_count:
        raise ValueError("data must have a number everywhere, got a column with nulls")
    numbers = chunk.type.value_type
    types = library("pyarrow", "files", "a column").types
    if not (types.is_floating(numbers) or types.is_integer(numbers)):  # bools are bits there
        raise TypeError(f"data must hold numbers of whole bytes, got a column of {numbers}")
    values: Array = chunk.flatten().to_numpy(zero_copy_only=True)
    return values.reshape(len(chunk), chunk.type.list_size)
