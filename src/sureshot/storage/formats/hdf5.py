"""Datasets of HDF5: contiguous ones are read from their file directly, chunked ones by h5py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.chunked import ChunkedMatrix
from sureshot.storage.extras import library
from sureshot.storage.file import FileMatrix, FileStatus
from sureshot.storage.matrix import InFile
from sureshot.storage.named import the_one_called

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.storage.base import Stored

SUFFIXES = (".h5", ".hdf5", ".hdf")
MODULE = "h5py"


def open_path(path: Path, name: str | None) -> Array | Stored:
    """Open a dataset of a file: the one of that name, or the only matrix."""
    h5py = library("h5py", "files", f"{path}")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise StorageError(f"{path} cannot be opened as HDF5: {error}") from error
    found: dict[str, Any] = {}

    def visit(key: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 2:
            found[key] = item

    file.visititems(visit)
    wanted = None if name is None else name.strip("/")
    return adopt(the_one_called(wanted, found, f"{path}", "a dataset with 2 dimensions"))


def adopt(dataset: Any) -> Array | Stored:
    """Return a dataset of h5py as a matrix."""
    if getattr(dataset, "ndim", None) != 2:
        shape = getattr(dataset, "shape", None)
        raise ValueError(f"data must have 2 dimensions (arms, coordinates), got shape {shape}")
    path, name = Path(dataset.file.filename), f"{dataset.file.filename}:{dataset.name}"
    own = path.exists() and dataset.external is None and not dataset.is_virtual
    offset = dataset.id.get_offset() if own and dataset.chunks is None else None
    if offset is not None:
        shape = (int(dataset.shape[0]), int(dataset.shape[1]))
        if offset % dataset.dtype.itemsize or not dataset.size:
            return FileMatrix(path, dataset.dtype, shape, offset=offset)
        return np.memmap(path, dataset.dtype, "r", offset, shape)
    opened = FileStatus.of(path.stat()) if path.exists() else None

    def changed() -> str | None:
        same = opened is None or FileStatus.of(path.stat()) == opened
        return None if same else "its file was written to"

    # h5py lets one thread at a time read.
    return ChunkedMatrix(
        dataset,
        dataset.chunks or dataset.shape,
        name=name,
        changed=changed,
        files=(InFile(path, dataset.name),) if own else None,
    )
