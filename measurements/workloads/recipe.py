"""What a workload is asked for, and how its rows are made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]
    Rows = Callable[[slice, Generator], NDArray[Any]]


# Of workloads that make more rows than their file has.
ROWS_FROM_FILES = 2_000


@dataclass(frozen=True)
class Request:
    """What a workload is asked for; a size of None means the workload's own."""

    name: str
    n: int | None
    N: int | None
    queries: int
    path: Path | None

    def shape(self, n: int = 10_000, N: int = 100_000) -> tuple[int, int]:
        """Return the size of generated data, which can have any; by default this one."""
        return self.n or n, self.N or N

    def file(self) -> Path:
        """Return the path of the file."""
        if self.path is None:
            raise ValueError(f"workload {self.name!r} reads a file: expected a path, got None")
        return self.path

    def read(self, *keys: str) -> list[NDArray[Any]]:
        """Return the arrays of these keys in the file at `path`."""
        with np.load(self.file()) as file:
            return [file[key] for key in keys]


@dataclass(frozen=True)
class Recipe:
    """The queries of a workload, and how to make any chunk of its rows.

    Limits of None are the extremes of float data, and what the type can hold of integers.
    """

    shape: tuple[int, int]
    queries: NDArray[Any]
    rows: Rows
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))
    limits: tuple[float, float] | None = None


def normal(generator: Generator, *shape: int) -> FloatArray:
    """Return standard normal values."""
    return generator.standard_normal(shape, dtype=np.float32)


def count(rows: slice) -> int:
    """Return how many rows a chunk has."""
    return int(rows.stop - rows.start)


def scale_to_unit_norm(rows: FloatArray) -> FloatArray:
    """Scale rows in place to a norm of 1, less a little.

    The little is more than rounding can add: a promise that no norm exceeds 1 must be true.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    rows *= ((1 - 1e-6) / norms).astype(np.float32)[:, None]
    return rows
