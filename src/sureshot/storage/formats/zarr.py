"""Arrays of zarr: chunks, or the inner chunks of shards."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from sureshot.errors import StorageError
from sureshot.storage.chunked import ChunkedMatrix
from sureshot.storage.extras import library
from sureshot.storage.fingerprint import FileState
from sureshot.storage.matrix import InFile
from sureshot.storage.named import the_one_called

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot.storage.base import Stored

SUFFIXES = (".zarr",)
MODULE = "zarr"

# Chunks that are read at a time.
THREADS = 8


def open_path(path: Path, name: str | None) -> Stored:
    """Open an array of a folder: the one of that name, or the only matrix."""
    zarr = library("zarr", "files", f"{path}")
    try:
        found = zarr.open(str(path), mode="r")
    except Exception as error:
        raise StorageError(f"{path} cannot be opened as zarr: {error}") from error
    if isinstance(found, zarr.Array):
        if name is not None:
            raise ValueError(f"{path} holds one array without a name, got name={name!r}")
        return adopt(found)
    arrays = {
        key: item
        for key, item in found.members(max_depth=None)
        if isinstance(item, zarr.Array) and item.ndim == 2
    }
    wanted = None if name is None else name.strip("/")
    return adopt(the_one_called(wanted, arrays, f"{path}", "an array with 2 dimensions"))


def adopt(array: Any) -> Stored:
    """Return an array of zarr as a matrix."""
    if getattr(array, "ndim", None) != 2:
        shape = getattr(array, "shape", None)
        raise ValueError(f"data must have 2 dimensions (arms, coordinates), got shape {shape}")
    files = _files(array)
    return ChunkedMatrix(
        array,
        array.chunks,
        name=str(array.store_path),
        threads=THREADS,
        changed=None if files is None else _since_now(files[0]),
        files=files,
    )


def _files(array: Any) -> tuple[InFile] | None:
    """Return the folder of an array, if it is one of this machine."""
    root = getattr(array.store_path.store, "root", None)
    if not isinstance(root, Path):
        return None
    folder = root / array.store_path.path
    return (InFile(folder, "all chunks"),) if folder.is_dir() else None


def _since_now(folder: InFile) -> Callable[[], str | None]:
    """Return what says whether a folder has changed since, and how."""
    opened = FileState.of(folder)
    return lambda: opened.difference(FileState.of(folder))
