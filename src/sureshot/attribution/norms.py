"""Norms of the rows of a store, computed once and kept beside it.

Two files: ``.norms.npy`` has the squared norm of each row in each module, so that every choice of modules has its
norms, and ``.norms.json`` says of which data they are. That one is written last, and a store that has changed since
is not searched with them.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot._files import replace_file
from sureshot.attribution.errors import StoreError
from sureshot.attribution.maps import read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sureshot._types import Array, Bools, Floats
    from sureshot.attribution.columns import Modules
    from sureshot.attribution.parts import Layout, Part

FORMAT = 1
# Bytes that are read between two reports of progress: a fraction of a second.
BYTES_AT_ONCE = 1 << 28
# Rows whose norms are computed again when kept ones are opened.
CHECKED_ROWS = 16
# More than the rounding of a squared norm, which depends on how rows are divided into pieces.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Norms:
    """The squared norm of each row in each module."""

    squares: Floats  # (modules, rows)
    _known: dict[bytes, Floats] = field(default_factory=dict, repr=False)

    def of(self, chosen: Bools) -> Floats:
        """Return the norm of each row over the chosen modules; every choice is added up once."""
        key = chosen.tobytes()
        if key not in self._known:
            self._known[key] = np.sqrt(self.squares[chosen].sum(axis=0))
        return self._known[key]


def load(layout: Layout, kept: Path) -> Norms | None:
    """Return the norms that are kept at this place, or None; refuse those of other data."""
    values, about = _files(kept)
    if not about.exists():
        return None
    content = read_json(about)
    now = _identity(layout)
    if content != now:
        changed = [key for key in now if content.get(key) != now[key]]
        raise StoreError(
            f"{values} holds norms of other data than the store has now ({', '.join(changed)} "
            "changed): compute them again with store.compute_norms(again=True)"
        )
    squares = np.load(values, mmap_mode="r")
    if squares.shape != (len(layout.modules.names), _count(layout)):
        raise StoreError(f"{values}: expected one number per module and row, got {squares.shape}")
    _check(layout, squares, values)
    return Norms(squares)


def compute(layout: Layout, kept: Path, progress: Callable[[int, int], object] | None) -> Norms:
    """Read the store once for the norms of its rows, and keep them."""
    values, about = _files(kept)
    if not os.access(kept.parent, os.W_OK):  # before the store is read for nothing
        raise PermissionError(
            f"{kept.parent} cannot be written to: name another place for the norms with "
            "open_store(..., norms=...)"
        )
    identity = _identity(layout)
    total, done = _count(layout), 0
    squares = np.empty((len(layout.modules.names), total))
    for part in layout.parts:
        for rows in _pieces(part):
            piece = part.rows[rows]
            squares[:, done : done + len(piece)] = _squares(piece, layout.modules, part, rows)
            done += len(piece)
            if progress is not None:
                progress(done, total)
    if _identity(layout) != identity:
        raise StoreError(f"{layout.parts[0].file.parent} was changed while its norms were computed")
    about.unlink(missing_ok=True)  # it must not speak of other norms, not even for a moment
    replace_file(values, lambda file: np.save(file, squares))
    replace_file(about, lambda file: file.write(json.dumps(identity, indent=1).encode()))
    return Norms(squares)


def _files(kept: Path) -> tuple[Path, Path]:
    ends = (".npy", ".json") if kept.name == "norms" else (".norms.npy", ".norms.json")
    return kept.with_name(kept.name + ends[0]), kept.with_name(kept.name + ends[1])


def _count(layout: Layout) -> int:
    return sum(len(part.rows) for part in layout.parts)


def _identity(layout: Layout) -> dict[str, Any]:
    """Return what tells this data from other data without reading it."""
    states = [part.file.stat() for part in layout.parts]
    return {
        "format": FORMAT,
        "modules": layout.modules.widths,
        "rows": [len(part.rows) for part in layout.parts],
        "type": layout.parts[0].rows.dtype.name,
        "bytes": [state.st_size for state in states],
        "time of change": [state.st_mtime_ns for state in states],
    }


def _pieces(part: Part) -> Iterator[slice]:
    size = max(1, BYTES_AT_ONCE // (part.rows.shape[1] * part.rows.itemsize))
    for start in range(0, len(part.rows), size):
        yield slice(start, min(start + size, len(part.rows)))


def _squares(piece: Array, modules: Modules, part: Part, rows: slice) -> Floats:
    """Return the squared norm of each of some rows in each module."""
    squares = np.empty((len(modules.names), len(piece)))
    for number, name in enumerate(modules.names):
        start, stop = modules.span(name)
        try:
            squares[number] = np.square(np.asarray(sureshot.scan(piece[:, start:stop]).norms))
        except ValueError as error:
            for row, values in enumerate(piece[:, start:stop]):
                if not np.isfinite(values.astype(np.float64)).all():
                    raise StoreError(
                        f"{part.file}: row {rows.start + row} holds values in module {name!r} that "
                        "are not finite"
                    ) from error
            raise
    return squares


def _check(layout: Layout, squares: Array, values: Path) -> None:
    """Compute the norms of some rows again, because a file can change without a new time."""
    total = _count(layout)
    chosen = np.unique(np.linspace(0, total - 1, CHECKED_ROWS).astype(np.int64))
    ends = np.cumsum([len(part.rows) for part in layout.parts])
    for row, number in zip(chosen.tolist(), np.searchsorted(ends, chosen, "right"), strict=True):
        part = layout.parts[number]
        at = row - (int(ends[number]) - len(part.rows))
        found = _squares(part.rows[at : at + 1], layout.modules, part, slice(at, at + 1))
        if not np.allclose(found[:, 0], squares[:, row], rtol=ROUNDING, atol=0):
            raise StoreError(
                f"{values} holds norms of other data: row {row} has changed; compute them again with "
                "store.compute_norms(again=True)"
            )
