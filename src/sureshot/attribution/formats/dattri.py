"""Chunks as dattri stores them on disk: ``chunk_KIND_FIRST_LAST.mmap``, each with a JSON file beside it.

KIND is ``gradients`` (in the folder ``grad``) or ``ifvp``, FIRST and LAST are numbers of batches. A chunk is rows
without a header; two bytes without a sign are bfloat16. ``batch_metadata.json`` in the folder above has the names
of the layers and says which examples are in which batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.attribution.columns import Modules
from sureshot.attribution.errors import StoreError
from sureshot.attribution.maps import dtype_named, map_rows, read_json
from sureshot.attribution.parts import Layout, Part

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Ints

FOLDERS = ("grad", "ifvp")
ABOUT, BATCHES = "_metadata.json", "batch_metadata.json"


@dataclass(frozen=True)
class Batch:
    """Rows of a chunk that were made together."""

    number: int
    start: int
    stop: int


def found_at(path: Path) -> bool:
    """Return whether this folder, or one of those that dattri makes in it, holds chunks."""
    return path.is_dir() and bool(_folders(path))


def read(path: Path) -> Layout:
    """Map all chunks of one kind."""
    folders = _folders(path)
    if len(folders) > 1:
        raise StoreError(f"{path} holds both {' and '.join(FOLDERS)}: open one of these folders")
    (folder,) = folders
    chunks = sorted((_chunk(about) for about in _abouts(folder)), key=lambda one: one[1][0].number)
    widths = {tuple(one[2]) for one in chunks}
    if len(widths) > 1:
        raise StoreError(f"{folder}: expected chunks with the same layers, got {sorted(widths)}")
    about = folder.parent / BATCHES
    known = read_json(about) if about.exists() else {}
    starts = _starts(folder, known, [batch for _, batches, _ in chunks for batch in batches])
    examples = [
        starts[batch.number] + np.arange(batch.stop - batch.start)
        for _, batches, _ in chunks
        for batch in batches
    ]
    return Layout(
        "dattri",
        tuple(part for part, _, _ in chunks),
        _modules(folder, known, chunks[0][2]),
        np.concatenate(examples),
        folder / "norms",
    )


def _folders(path: Path) -> list[Path]:
    return [one for one in (path, *(path / name for name in FOLDERS)) if _abouts(one)]


def _abouts(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"chunk_*{ABOUT}"))


def _chunk(about: Path) -> tuple[Part, list[Batch], list[int]]:
    """Return the rows of a chunk, its batches in the order of its rows, and the widths of its layers."""
    content = read_json(about)
    try:
        rows, width = content["shape"]
        stored, widths = content["storage_dtype"], list(content["layer_dims"])
        batches = [
            Batch(one["batch_idx"], one["start_row"], one["end_row"]) for one in content["batches"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{about}: expected the description of a chunk, missing {error}"
        ) from error
    batches.sort(key=lambda one: one.start)
    ends = [0, *(one.stop for one in batches)]
    if [one.start for one in batches] != ends[:-1] or not 0 < ends[-1] <= rows:
        raise StoreError(f"{about}: expected batches one after the other, got {batches}")
    file = about.with_name(about.name.removesuffix(ABOUT) + ".mmap")
    dtype = dtype_named("bfloat16" if stored == "uint16" else stored)
    return Part(file, map_rows(file, dtype, (rows, width))[: ends[-1]]), batches, widths


def _starts(folder: Path, known: dict[str, Any], batches: list[Batch]) -> dict[int, int]:
    """Return the number of the first example of each batch; all batches must be there."""
    rows = {one.number: one.stop - one.start for one in batches}
    expected = {int(number): one for number, one in known.get("batch_info", {}).items()}
    wanted = sorted(expected) if expected else list(range(max(rows) + 1))
    missing = [number for number in wanted if number not in rows]
    if missing:
        raise StoreError(
            f"{folder} is still being written: {len(missing):,} of {len(wanted):,} batches are "
            f"missing, batch {missing[0]} first"
        )
    if expected:
        wrong = [number for number in rows if expected[number]["sample_count"] != rows[number]]
        if wrong:
            raise StoreError(
                f"{folder}: batch {wrong[0]} has {rows[wrong[0]]:,} rows, and {BATCHES} says "
                f"{expected[wrong[0]]['sample_count']:,}"
            )
        return {number: int(one["start_idx"]) for number, one in expected.items()}
    ends: Ints = np.cumsum([rows[number] for number in wanted])
    return {number: int(end) - rows[number] for number, end in zip(wanted, ends, strict=True)}


def _modules(folder: Path, known: dict[str, Any], widths: list[int]) -> Modules:
    names = known.get("layer_names") or [f"layer{number}" for number in range(len(widths))]
    if len(names) != len(widths):
        raise StoreError(f"{folder}: {len(widths)} layers in the chunks, {len(names)} in {BATCHES}")
    # A layer without parameters of its own has no columns.
    return Modules({name: width for name, width in zip(names, widths, strict=True) if width})
