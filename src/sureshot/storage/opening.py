"""Opens matrices: by path, and what `top_k` and `scan` are given."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.storage import dask
from sureshot.storage.formats import arrow, hdf5, npy, safetensors, tensors, zarr
from sureshot.storage.residency import matrix_behind

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.storage.base import Stored

FORMATS = (npy, safetensors, hdf5, zarr, arrow)
# Those whose libraries have objects of their own.
LIBRARIES = {module.MODULE: module for module in (hdf5, zarr, arrow)}


def open_matrix(path: str | os.PathLike[str], name: str | None = None) -> Array | Stored:
    """Open a matrix that is kept in a file, without reading its numbers.

    Parameters
    ----------
    path
        A file of ``numpy.save`` (``.npy``), safetensors, HDF5 (``.h5``, ``.hdf5``) or Arrow IPC (``.arrow``,
        ``.feather``, not compressed), or a folder of zarr (``.zarr``). Another ending: a file of
        ``numpy.save``. HDF5, zarr and Arrow need their libraries: ``pip install 'sureshot[files]'``.
    name
        Which tensor, dataset, array or column, if there are several.

    Returns
    -------
    numpy.memmap or a stored matrix
        For `top_k`, `scan`, `vstack` and `hstack`.

    Examples
    --------
    >>> import tempfile, numpy as np
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.save(f"{folder.name}/rows.npy", np.eye(3, 5, dtype=np.float32))
    >>> open_matrix(f"{folder.name}/rows.npy").shape
    (3, 5)
    >>> folder.cleanup()
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    form = next((form for form in FORMATS if path.suffix.lower() in form.SUFFIXES), npy)
    found: Array | Stored = form.open_path(path, name)
    return found


def opened(data: Any, client: Any = None) -> Any:
    """Return what is searched: arrays and stored matrices as they are, what other libraries hold as one of these.

    A memory map that is not in memory is searched through its file. `client` computes what dask holds.
    """
    if isinstance(data, np.ndarray) and client is None:
        return matrix_behind(data)
    library = type(data).__module__.partition(".")[0]
    if library == dask.MODULE:
        return dask.DaskMatrix(data, client)
    if client is not None:
        raise TypeError(f"client computes dask arrays, got data of type {type(data).__name__}")
    if library in LIBRARIES:
        return opened(LIBRARIES[library].adopt(data))
    if tensors.is_tensor(data):
        return tensors.adopt(data)
    return data
