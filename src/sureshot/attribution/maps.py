"""Files as memory maps: never a copy, and only files that are as long as they must be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.attribution.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array

DTYPES = ("float16", "bfloat16", "float32", "float64")


def dtype_named(name: str) -> np.dtype[Any]:
    """Return the element type of this name; numpy learns bfloat16 from ml_dtypes."""
    if name not in DTYPES:
        raise StoreError(f"expected gradients of {', '.join(DTYPES)}; got {name!r}")
    if name != "bfloat16":
        return np.dtype(name)
    try:
        import ml_dtypes  # noqa: PLC0415 - an extra
    except ImportError as error:
        message = "bfloat16 needs ml_dtypes: pip install 'sureshot[attribution]'"
        raise ImportError(message) from error
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def map_rows(path: Path, dtype: np.dtype[Any], shape: tuple[int, int], offset: int = 0) -> Array:
    """Map a raw row-major file; it must be exactly as long as `shape` asks for."""
    if min(shape) < 1:
        raise StoreError(f"{path}: expected at least one row and one column, got shape {shape}")
    expected = offset + shape[0] * shape[1] * dtype.itemsize
    found = _size(path)
    if found != expected:
        problem = "is cut off or still being written" if found < expected else "is too long"
        raise StoreError(
            f"{path} {problem}: {shape[0]:,} rows of {shape[1]:,} {dtype.name} take "
            f"{expected:,} bytes, got {found:,}"
        )
    return np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)


def map_npy(path: Path, dtype: str | None = None) -> Array:
    """Map a file in numpy's format; `dtype` says what two bytes without a type, or uint16, are."""
    try:
        with path.open("rb") as file:
            version = np.lib.format.read_magic(file)
            if version == (1, 0):
                shape, fortran, stored = np.lib.format.read_array_header_1_0(file)
            else:
                shape, fortran, stored = np.lib.format.read_array_header_2_0(file)
            offset = file.tell()
    except (ValueError, EOFError) as error:
        raise StoreError(f"{path} is not a whole .npy file: {error}") from error
    if len(shape) != 2:
        raise StoreError(f"{path}: expected rows and columns, got an array of shape {shape}")
    stored = _meant(path, stored, dtype)
    if fortran:
        return map_rows(path, stored, (shape[1], shape[0]), offset).T
    return map_rows(path, stored, (shape[0], shape[1]), offset)


def _meant(path: Path, stored: np.dtype[Any], dtype: str | None) -> np.dtype[Any]:
    """Return the element type of a .npy file, which cannot say bfloat16."""
    if dtype is None:
        # This is what numpy writes for an array of ml_dtypes.bfloat16.
        dtype = "bfloat16" if stored.str[1:] == "V2" else stored.name
    if dtype not in DTYPES:
        raise StoreError(
            f"{path}: expected gradients of {', '.join(DTYPES)}, got {stored}; if they are "
            "something else that was stored so, say what with dtype="
        )
    meant = dtype_named(dtype)
    same = stored == meant or (stored.kind in "Vu" and stored.itemsize == meant.itemsize)
    if not same or not (stored.isnative or stored.kind == "V"):
        raise StoreError(f"{path}: expected {meant} in this machine's byte order, got {stored.str}")
    return meant


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing") from error
    except ValueError as error:
        raise StoreError(f"{path} is cut off or still being written: {error}") from error
    if not isinstance(content, dict):
        raise StoreError(f"{path}: expected a JSON object, got {type(content).__name__}")
    return content


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError as error:
        raise StoreError(f"{path} is missing") from error
