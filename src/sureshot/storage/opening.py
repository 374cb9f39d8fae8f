"""Opens matrices: by path, and what `top_k` and `scan` are given."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.storage.formats import arrow, hdf5, npy, safetensors, tensors, zarr
from sureshot.storage.residency import matrix_behind

if TYPE_CHECKING:
    import os

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
        ``.feather``, not compressed), or a folder of zarr. HDF5, zarr and Arrow need their libraries:
        ``pip install 'sureshot[files]'``.
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
    for form in FORMATS:
        if path.suffix.lower() in form.SUFFIXES:
            if not path.exists():
                raise FileNotFoundError(f"there is no {path}")
            opened_as: Array | Stored = form.open_path(path, name)
            return opened_as
    known = ", ".join(suffix for form in FORMATS for suffix in form.SUFFIXES)
    raise ValueError(f"{path} must end with one of {known}")


def opened(data: Any) -> Any:
    """Return what is searched: arrays and stored matrices as they are, what other libraries hold as one of these.

    A memory map that is not in memory is searched through its file.
    """
    if isinstance(data, np.ndarray):
        return matrix_behind(data)
    library = type(data).__module__.partition(".")[0]
    if library in LIBRARIES:
        return opened(LIBRARIES[library].adopt(data))
    if tensors.is_tensor(data):
        return tensors.adopt(data)
    return data
