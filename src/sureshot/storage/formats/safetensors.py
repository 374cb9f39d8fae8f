"""Files of safetensors: a header in JSON, then the tensors as they lie in memory. No library is needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.extras import bfloat16
from sureshot.storage.file import FileMatrix
from sureshot.storage.named import the_one_called

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array
    from sureshot.storage.base import Stored

SUFFIXES = (".safetensors",)

TYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "I16": "int16",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}

# No header is longer, says the format.
LONGEST_HEADER = 100_000_000


def open_path(path: Path, name: str | None) -> Array | Stored:
    """Open a tensor of a file: the one of that name, or the only matrix."""
    header, first = _header(path)
    matrices = {
        key: value
        for key, value in header.items()
        if key != "__metadata__" and len(value["shape"]) == 2
    }
    tensor = the_one_called(name, matrices, f"{path}", "a tensor with 2 dimensions")
    dtype = bfloat16() if tensor["dtype"] == "BF16" else _dtype(tensor["dtype"], path)
    start, stop = tensor["data_offsets"]
    rows, columns = tensor["shape"]
    if stop - start != rows * columns * dtype.itemsize or first + stop > path.stat().st_size:
        raise StorageError(f"{path} is cut off, or its header is wrong")
    offset = first + start
    if offset % dtype.itemsize or rows * columns == 0:
        return FileMatrix(path, dtype, (rows, columns), offset=offset)
    return np.memmap(path, dtype, "r", offset, (rows, columns))


def _header(path: Path) -> tuple[dict[str, Any], int]:
    """Return what the header says, and the byte at which the tensors begin."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= LONGEST_HEADER:
            raise StorageError(f"{path} is not a safetensors file")
        text = file.read(length)
    try:
        header = json.loads(text)
        valid = all(_valid(value) for key, value in header.items() if key != "__metadata__")
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise StorageError(f"{path} is cut off, or not a safetensors file") from error
    if not valid:
        raise StorageError(f"{path} is not a safetensors file: its header is wrong")
    return header, 8 + length


def _valid(tensor: dict[str, Any]) -> bool:
    """Return whether a header says of a tensor what the format allows: natural numbers, in this order."""
    shape, (start, stop) = tensor["shape"], tensor["data_offsets"]
    natural = all(type(number) is int and number >= 0 for number in (*shape, start, stop))
    return natural and start <= stop and isinstance(tensor["dtype"], str)


def _dtype(name: str, path: Path) -> np.dtype[Any]:
    if name not in TYPES:
        raise TypeError(f"{path} must hold one of BF16, {', '.join(TYPES)}, got {name}")
    return np.dtype(TYPES[name])
