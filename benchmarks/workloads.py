"""Seeded workloads for the benchmarks.

The values depend on the name, the sizes and the seed alone: never on the storage order, nor on the
number of threads that made them, nor on how many threads the matrix product of numpy uses.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sureshot.experiments import gradients

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from sureshot.experiments.gradients import Factors

    FloatArray = NDArray[np.float32]
    Rows = Callable[[slice, Generator], NDArray[Any]]

# Every chunk has its own random stream, so this number is part of what a seed means. At 100,000
# coordinates a chunk takes 25 MB: large enough to keep threads busy, small beside the data.
ROWS_PER_CHUNK = 64
RANK = 20
PLANTED_ROWS = 10
# Workloads whose rows have a norm of at most 1.
UNIT_ROWS = ("planted-0.3", "planted-0.1", "unit-norm")


@dataclass(frozen=True)
class Workload:
    """Rows to search, and queries to search them with.

    Parameters
    ----------
    name : str
        The key of `WORKLOADS` that made it.
    data : array of shape (n, N)
        The rows: float32, or uint8 for spectrograms.
    queries : array of shape (number of queries, N)
        float32, or float64 for spectrograms.
    low, high : float
        Limits of the values: the extremes of float data, or what the integer type can hold.
    """

    name: str
    data: NDArray[Any]
    queries: NDArray[Any]
    low: float
    high: float


@dataclass(frozen=True)
class Request:
    """What a workload is asked for; a size of None means the workload's own."""

    name: str
    n: int | None
    N: int | None
    queries: int
    path: Path | str | None

    def shape(self) -> tuple[int, int]:
        """Return the size of generated data, which can have any."""
        return self.n or 10_000, self.N or 100_000

    def read(self, *keys: str) -> list[NDArray[Any]]:
        """Return the arrays of these keys in the file at `path`."""
        if self.path is None:
            raise ValueError(f"workload {self.name!r} reads a file: expected a path, got None")
        with np.load(self.path) as file:
            return [file[key] for key in keys]


@dataclass(frozen=True)
class Recipe:
    """The queries of a workload, and how to make any chunk of its rows."""

    shape: tuple[int, int]
    queries: NDArray[Any]
    rows: Rows
    dtype: np.dtype[Any] = field(default_factory=lambda: np.dtype(np.float32))


def make(
    name: str,
    *,
    n: int | None = None,
    N: int | None = None,
    queries: int = 20,
    seed: int = 0,
    order: Literal["row", "coordinate"] = "row",
    path: Path | str | None = None,
    threads: int | None = None,
) -> Workload:
    """Make the named workload.

    Parameters
    ----------
    name : str
        A key of `WORKLOADS`.
    n, N : int, optional
        Number of rows and of coordinates. By default 10,000 and 100,000 for generated data, and
        what the source has for real data. Gradients have the possible N nearest to the wanted one.
    queries : int, default 20
        Number of queries.
    seed : int, default 0
        The same seed gives the same values in either order and with any number of threads.
    order : {"row", "coordinate"}, default "row"
        Whether the coordinates of a row or the rows of a coordinate lie next to each other.
    path : path, optional
        The file that "fashion-gradients" and the spectrograms are read from.
    threads : int, optional
        How many threads make the rows; by default one per core, eight at most.

    Returns
    -------
    Workload
        Data, queries and limits.

    Examples
    --------
    >>> workload = make("low-rank", n=100, N=500, queries=3, order="coordinate")
    >>> workload.data.shape, workload.queries.shape, workload.data.flags.f_contiguous
    ((100, 500), (3, 500), True)
    """
    if name not in WORKLOADS:
        raise ValueError(f"name: expected one of {', '.join(WORKLOADS)}; got {name!r}")
    for label, size in {"n": n, "N": N, "queries": queries, "threads": threads}.items():
        if size is not None and size < 1:
            raise ValueError(f"{label}: expected at least 1, got {size}")
    if order not in ("row", "coordinate"):
        raise ValueError(f"order: expected 'row' or 'coordinate', got {order!r}")
    shared_seed, rows_seed = np.random.SeedSequence(seed).spawn(2)
    request = Request(name, n, N, queries, path)
    recipe = WORKLOADS[name](request, np.random.default_rng(shared_seed))
    data = np.empty(recipe.shape, recipe.dtype, order="C" if order == "row" else "F")
    low, high = _fill(data, recipe.rows, rows_seed, threads or min(8, os.cpu_count() or 1))
    if recipe.dtype.kind in "iu":
        low, high = float(np.iinfo(recipe.dtype).min), float(np.iinfo(recipe.dtype).max)
    return Workload(name, data, recipe.queries, low, high)


def as_type(workload: Workload, dtype: str) -> Workload:
    """Return the workload with its float32 values as float16, or spread over the values of uint8.

    Examples
    --------
    >>> workload = as_type(make("low-rank", n=100, N=500, queries=3), "uint8")
    >>> workload.data.dtype.name, workload.low, workload.high
    ('uint8', 0.0, 255.0)
    """
    if dtype == workload.data.dtype.name:
        return workload
    if dtype == "float16":
        data = workload.data.astype(np.float16)
        return replace(workload, data=data, low=float(data.min()), high=float(data.max()))
    if dtype == "uint8":
        step = np.float32((workload.high - workload.low) / 255)
        data = np.rint((workload.data - np.float32(workload.low)) / step).astype(np.uint8)
        return replace(workload, data=data, low=0.0, high=255.0)
    raise ValueError(f"dtype: expected float32, float16 or uint8, got {dtype!r}")


def _fill(
    data: NDArray[Any], make_rows: Rows, seed: SeedSequence, threads: int
) -> tuple[float, float]:
    """Write all rows, chunk by chunk, and return the smallest and the largest value."""
    starts = range(0, len(data), ROWS_PER_CHUNK)

    def fill_chunk(start: int, chunk_seed: SeedSequence) -> tuple[float, float]:
        rows = slice(start, min(start + ROWS_PER_CHUNK, len(data)))
        chunk = make_rows(rows, np.random.default_rng(chunk_seed))
        data[rows] = chunk
        return float(chunk.min()), float(chunk.max())

    with ThreadPoolExecutor(threads) as pool:
        lows, highs = zip(*pool.map(fill_chunk, starts, seed.spawn(len(starts))), strict=True)
    return min(lows), max(highs)


def _normal(generator: Generator, *shape: int) -> FloatArray:
    return generator.standard_normal(shape, dtype=np.float32)


def _count(rows: slice) -> int:
    return int(rows.stop - rows.start)


def _scale_to_unit_norm(rows: FloatArray) -> FloatArray:
    """Scale rows in place to a norm of 1, less a little.

    The little is more than rounding can add: a promise that no norm exceeds 1 must be true.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    rows *= ((1 - 1e-6) / norms).astype(np.float32)[:, None]
    return rows


# Generated data


def _gaussian(request: Request, generator: Generator) -> Recipe:
    """Independent Gaussian values: no gap, so nothing to gain."""
    n, N = request.shape()
    return Recipe(
        (n, N),
        _normal(generator, request.queries, N),
        lambda rows, stream: _normal(stream, _count(rows), N),
    )


def _uniform(request: Request, generator: Generator) -> Recipe:
    """Independent values in [0, 1], Gaussian queries."""
    n, N = request.shape()
    return Recipe(
        (n, N),
        _normal(generator, request.queries, N),
        lambda rows, stream: stream.random((_count(rows), N), dtype=np.float32),
    )


def _planted(request: Request, generator: Generator, *, correlation: float) -> Recipe:
    """Gaussian rows of unit norm; each query has ten of its own that correlate with it.

    Their correlations grow by 5 % of the smallest from one to the next, so that they have an order.
    """
    n, N = request.shape()
    planted = PLANTED_ROWS * request.queries
    if n < planted:
        raise ValueError(f"n: expected at least {planted} for {request.queries} queries, got {n}")
    queries = _normal(generator, request.queries, N)
    directions = np.sqrt(np.float32(N)) * _scale_to_unit_norm(queries.copy())
    owner = np.full(n, -1)
    shares = np.zeros(n, np.float32)
    chosen = generator.choice(n, planted, replace=False)
    owner[chosen] = np.repeat(np.arange(request.queries), PLANTED_ROWS)
    shares[chosen] = np.tile(correlation * (1 + 0.05 * np.arange(PLANTED_ROWS)), request.queries)

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = _normal(stream, _count(rows), N)
        for row in np.flatnonzero(owner[rows] >= 0):
            share = shares[rows][row]
            chunk[row] *= np.sqrt(1 - share**2)
            chunk[row] += share * directions[owner[rows][row]]
        return _scale_to_unit_norm(chunk)

    return Recipe((n, N), queries, make_rows)


def _low_rank(request: Request, generator: Generator) -> Recipe:
    """Gaussian factors of rank 20 plus noise, with log-normal row norms."""
    n, N = request.shape()
    basis = _normal(generator, RANK, N) / np.sqrt(np.float32(RANK))

    def make_plain_rows(count: int, stream: Generator) -> FloatArray:
        chunk = _normal(stream, count, N)
        chunk *= np.float32(0.3)
        chunk += _normal(stream, count, RANK) @ basis
        return chunk

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = make_plain_rows(_count(rows), stream)
        chunk *= stream.lognormal(0.0, 0.7, (_count(rows), 1)).astype(np.float32)
        return chunk

    return Recipe((n, N), make_plain_rows(request.queries, generator), make_rows)


def _unit_norm(request: Request, generator: Generator) -> Recipe:
    """Scale the rows of "low-rank" to unit norm."""
    recipe = _low_rank(request, generator)
    return replace(recipe, rows=lambda rows, stream: _scale_to_unit_norm(recipe.rows(rows, stream)))


def _two_valued(request: Request, _generator: Generator) -> Recipe:
    """Values 0 and 1 with uniform row means, queries of ones: the most variance limits allow."""
    n, N = request.shape()

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        means = stream.random((_count(rows), 1), dtype=np.float32)
        ones = stream.random((_count(rows), N), dtype=np.float32) < means
        return ones.astype(np.float32)

    return Recipe((n, N), np.ones((request.queries, N), np.float32), make_rows)


def _heavy_tailed(request: Request, generator: Generator) -> Recipe:
    """Low rank plus Student noise with 3 degrees of freedom: limits far from most values."""
    n, N = request.shape()
    basis = _normal(generator, RANK, N) / np.sqrt(np.float32(RANK))

    def make_rows(count: int, stream: Generator) -> FloatArray:
        # A Gaussian over the root of a chi-square over 3, which is a gamma(3/2) times 2/3: as
        # float32 this is faster than `standard_t`, which knows float64 only.
        chunk = stream.standard_gamma(1.5, (count, N), dtype=np.float32)
        chunk *= np.float32(2 / 3)
        np.sqrt(chunk, out=chunk)
        np.divide(_normal(stream, count, N), chunk, out=chunk)
        chunk += _normal(stream, count, RANK) @ basis
        return chunk

    return Recipe(
        (n, N),
        make_rows(request.queries, generator),
        lambda rows, stream: make_rows(_count(rows), stream),
    )


def _correlated(request: Request, generator: Generator) -> Recipe:
    """Low rank plus noise around one strong direction that all rows and queries share."""
    n, N = request.shape()
    common = 3 * _normal(generator, N)
    basis = _normal(generator, RANK, N) / np.sqrt(np.float32(RANK))

    def make_rows(count: int, stream: Generator) -> FloatArray:
        chunk = _normal(stream, count, N)
        chunk *= np.float32(0.3)
        chunk += _normal(stream, count, RANK) @ basis
        chunk += common
        return chunk

    return Recipe(
        (n, N),
        make_rows(request.queries, generator),
        lambda rows, stream: make_rows(_count(rows), stream),
    )


# Gradients of a small network


def _gradient_recipe(factors: Factors, queries: FloatArray) -> Recipe:
    shape = len(factors.inputs), queries.shape[1]
    return Recipe(shape, queries, lambda rows, _stream: factors.gradients(rows))


def _digits_gradients(request: Request, generator: Generator) -> Recipe:
    """Gradients of a network trained on scikit-learn's digits."""
    train, test = gradients.digits_samples(generator)
    found = gradients.gradients_to_search(
        train,
        test,
        rows=request.n or len(train.labels),
        queries=request.queries,
        parameters=request.N or 99_985,
        epochs=10,
        generator=generator,
    )
    return _gradient_recipe(*found)


def _fashion_gradients(request: Request, generator: Generator) -> Recipe:
    """Gradients of a network trained on Fashion-MNIST."""
    train, test = (
        gradients.image_samples(
            *request.read(f"{part}_images_idx3_ubyte", f"{part}_labels_idx1_ubyte")
        )
        for part in ("train", "t10k")
    )
    found = gradients.gradients_to_search(
        train,
        test,
        rows=request.n or 10_000,
        queries=request.queries,
        parameters=request.N or 101_770,
        epochs=5,
        generator=generator,
    )
    return _gradient_recipe(*found)


# Spectrograms


def _spectrograms(request: Request, generator: Generator, *, centred: bool) -> Recipe:
    """Whole decibels of audio clips, searched with other clips.

    Plain values are never negative, so the loudest clips win; a query less its own mean asks for
    the largest covariance instead.
    """
    (clips,) = request.read("S")
    there, width = clips.shape
    n, N = request.n or there - request.queries, request.N or width
    if n < 1 or n + request.queries > there:
        raise ValueError(
            f"n, queries: expected together at most {there} clips, got {n} and {request.queries}"
        )
    if width < N:
        raise ValueError(f"N: expected at most {width}, got {N}")
    shuffled = generator.permutation(there)
    queries = clips[shuffled[: request.queries], :N].astype(np.float64)
    if centred:
        queries -= queries.mean(axis=1, keepdims=True)
    chosen = shuffled[request.queries : request.queries + n]
    return Recipe((n, N), queries, lambda rows, _stream: clips[chosen[rows], :N], dtype=clips.dtype)


WORKLOADS: dict[str, Callable[[Request, Generator], Recipe]] = {
    "gaussian": _gaussian,
    "uniform": _uniform,
    "planted-0.3": partial(_planted, correlation=0.3),
    "planted-0.1": partial(_planted, correlation=0.1),
    "low-rank": _low_rank,
    "unit-norm": _unit_norm,
    "two-valued": _two_valued,
    "heavy-tailed": _heavy_tailed,
    "correlated": _correlated,
    "digits-gradients": _digits_gradients,
    "fashion-gradients": _fashion_gradients,
    "spectrograms": partial(_spectrograms, centred=False),
    "spectrograms-centred": partial(_spectrograms, centred=True),
}
