"""Opens the stores that the tools of the field write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sureshot.attribution.errors import StoreError
from sureshot.attribution.formats import bergson, dattri, plain, trak
from sureshot.attribution.store import Store

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from sureshot.attribution.parts import Layout


class Reader(NamedTuple):
    """What reads one format: whether it is the one at a path, and what is there."""

    found_at: Callable[[Path], bool]
    read: Callable[[Path], Layout]


FORMATS = {
    "bergson": Reader(bergson.found_at, bergson.read),
    "dattri": Reader(dattri.found_at, dattri.read),
    "trak": Reader(trak.found_at, trak.read),
}


def open_store(
    path: str | os.PathLike[str],
    *,
    dtype: str | None = None,
    modules: Mapping[str, int] | None = None,
    norms: str | os.PathLike[str] | None = None,
) -> Store:
    """Open stored gradients as memory maps; nothing is copied, and nothing is read yet.

    Parameters
    ----------
    path
        A folder of bergson (also of several shards, or with a row for each token), of TRAK
        (``features.mmap``), of dattri (chunks), or a ``.npy`` file.
    dtype
        What a ``.npy`` file holds, if it cannot say so: ``"bfloat16"`` for uint16.
    modules
        Of a ``.npy`` file: how many columns each module has, in their order.
    norms
        Where the norms of the rows are kept, without the ending; beside the store if not given.

    Returns
    -------
    Store
        ``store.top_k(queries, k)`` searches it.

    Examples
    --------
    >>> import numpy as np, tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "gradients.npy"
    >>> gradients = np.random.default_rng(0).standard_normal((50, 30)).astype(np.float32)
    >>> np.save(file, gradients)
    >>> store = open_store(file, modules={"first": 20, "second": 10})
    >>> store
    Store(50 rows of 30 float32 numbers, 2 modules, npy)
    >>> int(store.top_k(gradients[7], 3).indices[0])
    7
    >>> int(store.top_k(gradients[7], 3, modules="second", unit_norm=True).indices[0])
    7
    """
    path = Path(path)
    unfinished = path.with_name(path.name + bergson.PARTIAL)
    if unfinished.exists() and not path.exists():
        path = unfinished  # which is refused
    layout = _layout(path, dtype, modules)
    return Store(layout, layout.norms if norms is None else Path(norms))


def _layout(path: Path, dtype: str | None, modules: Mapping[str, int] | None) -> Layout:
    for name, reader in FORMATS.items():
        if reader.found_at(path):
            if dtype is not None or modules is not None:
                raise ValueError(f"dtype and modules are for .npy files; {path} is one of {name}")
            return reader.read(path)
    if plain.found_at(path):
        return plain.read(path, dtype, modules)
    if not path.exists():
        raise FileNotFoundError(f"there is no store at {path}")
    raise StoreError(
        f"{path} is no store: expected gradients.bin and info.json (bergson), features.mmap (TRAK), "
        "chunk_*.mmap (dattri) or a .npy file"
    )
