"""Matrices in files, written row by row, with the queries that are asked of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array

RANK = 16
NOISE = 0.1
# Spread of the rows' norms: a log-normal factor, as gradients have.
SPREAD = 0.4
ROWS_AT_ONCE_BYTES = 1 << 28


def made(kind: str, n_rows: int, width: int, queries: int, seed: int, folder: Path) -> Path:
    """Return the file of a matrix of float32; what was written before is used again."""
    path = folder / f"{kind}-{n_rows}-{width}-{seed}.npy"
    if path.exists() and _asked(path).exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    generator = np.random.default_rng(seed)
    shared = generator.standard_normal((RANK, width), dtype=np.float32)
    header = {"descr": "<f4", "fortran_order": False, "shape": (n_rows, width)}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for rows in _rows(kind, n_rows, width, shared, generator):
            file.write(rows.tobytes())
        file.flush()
        os.fsync(file.fileno())
    if kind == "low-rank":
        asked = generator.standard_normal((queries, RANK), dtype=np.float32) @ shared
        asked += NOISE * generator.standard_normal((queries, width), dtype=np.float32)
    else:
        asked = generator.standard_normal((queries, width), dtype=np.float32)
    np.save(_asked(path), asked)
    return path


def queries_of(path: Path) -> Array:
    """Return the queries that are asked of a file."""
    asked: Array = np.load(_asked(path))
    return asked


def _asked(path: Path) -> Path:
    return path.with_suffix(".queries.npy")


def _rows(
    kind: str, n_rows: int, width: int, shared: Array, generator: np.random.Generator
) -> Iterator[Array]:
    at_once = max(1, ROWS_AT_ONCE_BYTES // (4 * width))
    for start in range(0, n_rows, at_once):
        some = min(at_once, n_rows - start)
        rows = generator.standard_normal((some, width), dtype=np.float32)
        if kind == "low-rank":
            own = generator.standard_normal((some, RANK), dtype=np.float32)
            own *= generator.lognormal(0, SPREAD, (some, 1)).astype(np.float32)
            rows *= NOISE
            rows += own @ shared
        yield rows


def drop_from_memory(path: Path) -> None:
    """Make the next reading of a file come from the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


def bytes_from_disk() -> int:
    """Return how many bytes this process has caused to be read from disks."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])
