"""Data sets to search: rows, queries, and the limits of the values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.experiments import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from sureshot._types import Array

    Floats32 = npt.NDArray[np.float32]
    Make = Callable[[np.random.Generator, tuple[int, int]], Floats32]

# Rows are made so many numbers at a time, 64 MB, so that peak memory is hardly more than the data.
NUMBERS_PER_CHUNK = 1 << 24


class UnreadableData(RuntimeError):
    """A file is not what its name says."""


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """Rows to search, queries to search them with, and limits of the values in the rows.

    `limits_seconds` is the time that it took to find the limits, 0 if they are known without looking;
    `origin` names the files that the rows were made of, if there were any.
    """

    data: Array
    queries: Array
    low: float
    high: float
    limits_seconds: float = 0.0
    origin: str = ""


def of_rows(data: Array, queries: Array) -> DataSet:
    """Return a data set with the smallest and the largest value of the rows as limits."""
    (low, high), seconds = clock.timed(lambda: (float(data.min()), float(data.max())))
    return DataSet(data, queries, low, high, seconds)


def made(make: Make, n: int, N: int, queries: int, seed: int) -> tuple[Floats32, Floats32]:
    """Return rows and queries of independent values; `make` gets a generator and a shape."""
    rng = np.random.default_rng([seed, n, N])
    asked = make(rng, (queries, N))
    data = np.empty((n, N), dtype=np.float32)
    step = max(1, NUMBERS_PER_CHUNK // N)
    for start in range(0, n, step):
        some = data[start : start + step]
        some[:] = make(rng, some.shape)
    return data, asked


def gaussian(n: int, N: int, queries: int, seed: int) -> DataSet:
    """Return standard normal rows and queries.

    Examples
    --------
    >>> found = gaussian(20, 30, queries=2, seed=0)
    >>> found.data.shape, found.queries.shape, found.low < -1 < 1 < found.high
    ((20, 30), (2, 30), True)
    """
    return of_rows(
        *made(lambda rng, shape: rng.standard_normal(shape, np.float32), n, N, queries, seed)
    )


def uniform(n: int, N: int, queries: int, seed: int) -> DataSet:
    """Return rows and queries uniform in [0, 1], so that rewards are as the paper assumes them.

    Examples
    --------
    >>> found = uniform(20, 30, queries=2, seed=0)
    >>> found.low, found.high, bool(found.data.min() >= 0)
    (0.0, 1.0, True)
    """
    found = made(lambda rng, shape: rng.random(shape, np.float32), n, N, queries, seed)
    return DataSet(*found, 0.0, 1.0)


MADE = {"gaussian": gaussian, "uniform": uniform}
