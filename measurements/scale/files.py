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
# Of gradients: inputs of the layer whose weights they belong to, and classes of the samples.
INPUTS = 1000
CLASSES = 10


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
        asked = next(_rows(kind, queries, width, shared, generator))
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
        if kind == "gradients":
            yield _gradients(some, width, shared, generator)
            continue
        rows = generator.standard_normal((some, width), dtype=np.float32)
        if kind == "low-rank":
            own = generator.standard_normal((some, RANK), dtype=np.float32)
            own *= generator.lognormal(0, SPREAD, (some, 1)).astype(np.float32)
            rows *= NOISE
            rows += own @ shared
        yield rows


def _gradients(n_rows: int, width: int, shared: Array, generator: np.random.Generator) -> Array:
    """Return gradients of the weights of a layer: activations ⊗ errors, both of which depend on the class."""
    inputs = min(INPUTS, width)
    outputs = width // inputs
    classes = generator.integers(CLASSES, size=n_rows)
    activations = generator.standard_normal((n_rows, inputs), dtype=np.float32)
    activations = np.maximum(activations + shared[classes, :inputs], 0)
    errors = generator.standard_normal((n_rows, outputs), dtype=np.float32)
    errors = NOISE * errors + shared[classes, -outputs:]
    errors *= generator.lognormal(0, SPREAD, (n_rows, 1)).astype(np.float32)
    return (activations[:, :, None] * errors[:, None, :]).reshape(n_rows, width)


def drop_from_memory(path: Path) -> None:
    """Make the next reading of a file come from the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(file)


def read_into_memory(path: Path) -> None:
    """Make the next reading of a file come from memory."""
    portion = bytearray(ROWS_AT_ONCE_BYTES >> 4)
    with path.open("rb", buffering=0) as file:
        while file.readinto(portion):
            pass


def bytes_of(n_rows: int, width: int) -> int:
    """Return the bytes of the numbers of a file."""
    return n_rows * width * np.dtype(np.float32).itemsize


def bytes_from_disk() -> int:
    """Return how many bytes this process has caused to be read from disks."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(dict(line.split(": ") for line in lines)["read_bytes"])
