"""Seeded workloads: rows to search, and queries to search them with.

The values depend on the name, the sizes and the seed alone: never on the storage order, nor on the
number of threads that made them, nor on how many threads the matrix product of numpy uses.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from measurements.workloads import generated, gradients, images, misleading, spectrograms
from measurements.workloads.recipe import Request
from sureshot.experiments.sets import DataSet

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.random import Generator, SeedSequence
    from numpy.typing import NDArray

    from measurements.workloads.recipe import Recipe, Rows

# Every chunk has its own random stream, so this number is part of what a seed means. At 100,000
# coordinates a chunk takes 25 MB: large enough to keep threads busy, small beside the data.
ROWS_PER_CHUNK = 64

# Those that speed and share are measured on.
USUAL: dict[str, Callable[[Request, Generator], Recipe]] = {
    "gaussian": generated.gaussian,
    "uniform": generated.uniform,
    "planted-0.3": partial(generated.planted, correlation=0.3),
    "planted-0.1": partial(generated.planted, correlation=0.1),
    "low-rank": generated.low_rank,
    "unit-norm": generated.unit_norm,
    "two-valued": generated.two_valued,
    "heavy-tailed": generated.heavy_tailed,
    "correlated": generated.correlated,
    "digits-gradients": gradients.digits_gradients,
    "fashion-gradients": gradients.fashion_gradients,
    "spectrograms": partial(spectrograms.spectrograms, centred=False),
    "spectrograms-centred": partial(spectrograms.spectrograms, centred=True),
    "spectrograms-copied": partial(spectrograms.copies, centred=True),
    "images": partial(images.images, upsampled=False),
    "images-upsampled": partial(images.images, upsampled=True),
}
# Those on which predictions of the cost of a search are wrong.
MISLEADING: dict[str, Callable[[Request, Generator], Recipe]] = {
    "copied-clips": partial(spectrograms.copies, centred=False),
    "mixed-clips": misleading.mixed_clips,
    "enlarged-images": misleading.enlarged_images,
    "late-gap": misleading.late_gap,
    "one-stretch": misleading.one_stretch,
    "long-tails": misleading.long_tails,
    "few-stand-out": misleading.few_stand_out,
    "constant-rows": misleading.constant_rows,
}
WORKLOADS = USUAL | MISLEADING
# Workloads whose rows have a norm of at most 1.
UNIT_ROWS = ("planted-0.3", "planted-0.1", "unit-norm")


def make(
    name: str,
    *,
    n: int | None = None,
    N: int | None = None,
    queries: int = 20,
    seed: int = 0,
    order: Literal["row", "coordinate"] = "row",
    path: Path | None = None,
    threads: int | None = None,
) -> DataSet:
    """Make the named workload.

    The limits of the values are what the recipe knows, or what the integer type can hold, or the extremes of float
    data.

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
        The file that "fashion-gradients", images and spectrograms are read from.
    threads : int, optional
        How many threads make the rows; by default one per core, eight at most.

    Returns
    -------
    DataSet
        The rows, float32 or the bytes of spectrograms; the queries, float32 or float64; the limits.

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
    low, high = recipe.limits or (low, high)
    return DataSet(data, recipe.queries, low, high)


def as_type(made: DataSet, dtype: str) -> DataSet:
    """Return the workload with its float32 values as float16, or spread over the values of uint8.

    Bytes become float32 as they are, and their queries with them: numpy would convert all data to the
    type of a query in double.

    Examples
    --------
    >>> bytes_ = as_type(make("low-rank", n=100, N=500, queries=3), "uint8")
    >>> bytes_.data.dtype.name, bytes_.low, bytes_.high
    ('uint8', 0.0, 255.0)
    """
    if dtype == "float32":
        data, queries = (np.asarray(some, np.float32) for some in (made.data, made.queries))
        return replace(made, data=data, queries=queries)
    if dtype == made.data.dtype.name:
        return made
    if dtype == "float16":
        data = made.data.astype(np.float16)
        return replace(made, data=data, low=float(data.min()), high=float(data.max()))
    if dtype == "uint8":
        step = np.float32((made.high - made.low) / 255)
        data = np.rint((made.data - np.float32(made.low)) / step).astype(np.uint8)
        return replace(made, data=data, low=0.0, high=255.0)
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
