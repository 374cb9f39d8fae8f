"""Datasets of HDF5: contiguous ones are read from their file directly, chunked ones by h5py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.chunked import ChunkedMatrix
from sureshot.storage.extras import library
from sureshot.storage.file import FileMatrix, unit_columns
from sureshot.storage.matrix import InFile
from sureshot.storage.named import the_one_called
from sureshot.storage.open_file import FileStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array
    from sureshot.storage.base import Stored

SUFFIXES = (".h5", ".hdf5", ".hdf")
MODULE = "h5py"
BYTES_OF_CHECKSUM = 4


def open_path(path: Path, name: str | None) -> Array | Stored:
    """Open a dataset of a file: the one of that name, or the only matrix."""
    h5py = library("h5py", "files", f"{path}")
    found: dict[str, Any] = {}

    def visit(key: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 2:
            found[key] = item

    try:
        h5py.File(path, "r").visititems(visit)
    except (
        KeyError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:  # damaged files raise any of these
        raise StorageError(f"{path} cannot be opened as HDF5: {error}") from error
    wanted = None if name is None else name.strip("/")
    return adopt(the_one_called(wanted, found, f"{path}", "a dataset with 2 dimensions"))


def adopt(dataset: Any) -> Array | Stored:
    """Return a dataset of h5py as a matrix."""
    if not dataset:  # which is what h5py says of objects whose file is closed
        raise ValueError("data must be a dataset of an open file, got one whose file is closed")
    if getattr(dataset, "ndim", None) != 2:
        shape = getattr(dataset, "shape", None)
        raise ValueError(f"data must have 2 dimensions (arms, coordinates), got shape {shape}")
    file, name = dataset.file, f"{dataset.file.filename}:{dataset.name}"
    if file.mode != "r":
        file.flush()  # or else the file may lack what was written
    path = Path(file.filename)
    # Of other drivers the file of that name holds something else, or nothing yet.
    in_file = file.driver == "sec2" and path.exists()
    own = in_file and dataset.external is None and not dataset.is_virtual
    offset = dataset.id.get_offset() if own and dataset.chunks is None else None
    shape = (int(dataset.shape[0]), int(dataset.shape[1]))
    if offset is not None and dataset.size:
        if offset % dataset.dtype.itemsize:
            return FileMatrix(path, dataset.dtype, shape, offset=offset)
        return np.memmap(path, dataset.dtype, "r", offset, shape)
    if dataset.fletcher32:
        _refuse_short_chunks(dataset, name)
    # What is not in chunks is read row by row.
    chunks = dataset.chunks or (1, unit_columns(shape[1], dataset.dtype.itemsize))
    # h5py lets one thread at a time read.
    return ChunkedMatrix(
        dataset,
        chunks,
        name=name,
        changed=_changes(path) if in_file else None,
        files=(InFile(path, dataset.name),) if own else None,
    )


def _refuse_short_chunks(dataset: Any, name: str) -> None:
    """Raise an error if a chunk has no room for its checksum: the HDF5 library would read before its beginning."""

    def visit(chunk: Any) -> None:
        if chunk.size < BYTES_OF_CHECKSUM:
            raise StorageError(f"{name} is damaged: one of its chunks has {chunk.size} bytes")

    dataset.id.chunk_iter(visit)


def _changes(path: Path) -> Callable[[], str | None]:
    """Return a function that says whether a file has changed since."""
    opened = FileStatus.of(path.stat())

    def changed() -> str | None:
        if not path.exists():
            return "its file is gone"
        same = FileStatus.of(path.stat()) == opened
        return None if same else "its file was written to"

    return changed
