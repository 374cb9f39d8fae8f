"""Gradients as bergson stores them, and as `write_gradients` does.

A folder with ``gradients.bin``, the rows one after the other without a header, and ``info.json``: how many
rows, how many columns each module has, and the element type. A store of several shards is a folder of such
folders. Where each token has a row, ``offsets.npy`` says which rows are those of an example. While bergson is at
work the folder's name ends with ``.part``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.attribution.columns import Modules
from sureshot.attribution.errors import StoreError
from sureshot.attribution.maps import dtype_named, map_rows, read_json
from sureshot.attribution.parts import Layout, Part

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Ints

DATA, INFO, OFFSETS = "gradients.bin", "info.json", "offsets.npy"
PARTIAL = ".part"


def found_at(path: Path) -> bool:
    """Return whether this folder, or a folder in it, holds gradients of bergson."""
    return path.is_dir() and ((path / DATA).exists() or bool(_shards(path)))


def read(path: Path) -> Layout:
    """Map the rows of all shards."""
    folders = [path] if (path / DATA).exists() or (path / INFO).exists() else _shards(path)
    parts: list[Part] = []
    examples: list[Ints] = []
    modules, first = None, 0
    for folder in folders:
        _refuse_partial(folder)
        info = read_json(folder / INFO)
        here = Modules(_field(folder, info, "grad_sizes", dict))
        if modules is None:
            modules = here
        elif modules.widths != here.widths:
            raise StoreError(f"{folder} has other modules than {folders[0]}")
        count = _field(folder, info, "num_grads", int)
        data = map_rows(folder / DATA, dtype_named(_type_name(folder, info)), (count, here.width))
        if parts and parts[0].rows.dtype != data.dtype:
            raise StoreError(f"{folder} holds {data.dtype}, {folders[0]} {parts[0].rows.dtype}")
        parts.append(Part(folder / DATA, data))
        numbers = _examples(folder, info, count)
        examples.append(first + numbers)
        first += _items(info, numbers)
    assert modules is not None, "a store has at least one folder"
    return Layout("bergson", tuple(parts), modules, np.concatenate(examples), path / "norms")


def _shards(path: Path) -> list[Path]:
    """Return the folders with gradients in a folder, in the order in which bergson reads them."""
    return [one for one in sorted(path.iterdir()) if (one / DATA).exists()]


def _refuse_partial(folder: Path) -> None:
    if folder.name.endswith(PARTIAL):
        raise StoreError(
            f"{folder} is still being written, or its writing was interrupted: finish it first; "
            f"it then loses the ending {PARTIAL}"
        )


def _field(folder: Path, info: dict[str, Any], name: str, kind: type) -> Any:
    value = info.get(name)
    if not isinstance(value, kind):
        message = f"{folder / INFO}: expected {name!r} as {kind.__name__}, got {value!r}"
        raise StoreError(message)
    return value


def _type_name(folder: Path, info: dict[str, Any]) -> str:
    """Return the element type; old stores have it in the types of the modules only."""
    if "base_dtype" in info:
        return str(info["base_dtype"])
    try:
        return str(np.dtype(info["dtype"]["formats"][0]).base.name)
    except (KeyError, IndexError, TypeError) as error:
        raise StoreError(f"{folder / INFO}: expected 'base_dtype', got {sorted(info)}") from error


def _examples(folder: Path, info: dict[str, Any], rows: int) -> Ints:
    """Return the example of each row of a shard, counted from 0."""
    if not info.get("attribute_tokens"):
        return np.arange(rows)
    try:
        offsets = np.load(folder / OFFSETS, mmap_mode="r")
    except (OSError, ValueError, EOFError) as error:
        raise StoreError(f"{folder / OFFSETS} is missing or cut off: {error}") from error
    counts = np.diff(offsets)
    if offsets.ndim != 1 or (counts < 0).any() or int(counts.sum()) != rows:
        raise StoreError(
            f"{folder / OFFSETS}: expected the first rows of each example, up to {rows:,}"
        )
    return np.repeat(np.arange(len(counts)), counts)


def _items(info: dict[str, Any], numbers: Ints) -> int:
    return int(info.get("num_items", len(numbers)))
