"""A single array in numpy's format, ``.npy``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.attribution.columns import Modules
from sureshot.attribution.errors import StoreError
from sureshot.attribution.maps import map_npy
from sureshot.attribution.parts import Layout, Part

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def found_at(path: Path) -> bool:
    """Return whether this is a file, whose format is then numpy's."""
    return path.is_file()


def read(path: Path, dtype: str | None, modules: Mapping[str, int] | None) -> Layout:
    """Map the array."""
    rows = map_npy(path, dtype)
    width = rows.shape[1]
    named = Modules({"gradient": width} if modules is None else modules)
    if named.width != width:
        raise StoreError(f"{path}: modules must have {width:,} columns in all, got {named.width:,}")
    return Layout("npy", (Part(path, rows),), named, None, path)
