"""Workloads on which predictions of the cost of a search are wrong, and some with nothing to predict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from measurements.workloads.recipe import ROWS_FROM_FILES, Recipe, count, normal
from measurements.workloads.spectrograms import LOUDEST, clips_and_queries

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    from measurements.workloads.recipe import FloatArray, Request, Rows

FRAMES = 430  # of a spectrogram
RANK = 10
SHAPE = 1_000, 40_000


def mixed_clips(request: Request, generator: Generator) -> Recipe:
    """Clips that begin at another time, with another clip in the background."""
    clips, queries = clips_and_queries(request, generator, centred=False)

    def part(at: int, level: float, stream: Generator) -> FloatArray:
        moved = np.roll(clips[at].reshape(-1, FRAMES), int(stream.integers(FRAMES)), axis=1)
        louder: FloatArray = moved.reshape(-1).astype(np.float32) + np.float32(level)
        return louder

    def mixed(at: int, stream: Generator) -> FloatArray:
        front = part(at % len(clips), stream.normal(0, 6), stream)
        behind = part(int(stream.integers(len(clips))), -stream.uniform(5, 40), stream)
        return np.maximum(front, behind).clip(0, LOUDEST)

    shape = request.n or ROWS_FROM_FILES, clips.shape[1]
    return Recipe(shape, queries, _row_by_row(mixed), limits=(0.0, LOUDEST))


def enlarged_images(request: Request, generator: Generator) -> Recipe:
    """Images with every pixel made a square of 16, which a search need not read all of."""
    (images,) = request.read("train_images_idx3_ubyte")
    n = request.n or ROWS_FROM_FILES
    shuffled = generator.permutation(len(images))
    chosen = images.reshape(-1, 28, 28)[shuffled[: n + request.queries]]

    def enlarged(some: NDArray[Any]) -> FloatArray:
        return some.repeat(4, axis=1).repeat(4, axis=2).reshape(len(some), -1).astype(np.float32)

    queries = enlarged(chosen[n:]).astype(np.float64)
    return Recipe(
        (n, queries.shape[1]),
        queries,
        lambda rows, _stream: enlarged(chosen[rows]),
        limits=(0.0, 255.0),
    )


def _low_rank(N: int, generator: Generator) -> Callable[[int, Generator], FloatArray]:
    """Return a function that makes so many rows of low rank with noise."""
    basis = normal(generator, RANK, N)

    def make(some: int, stream: Generator) -> FloatArray:
        chunk = normal(stream, some, N)
        chunk += normal(stream, some, RANK) @ basis
        return chunk

    return make


def late_gap(request: Request, generator: Generator) -> Recipe:
    """Make the coordinates that are drawn first the same in all rows: the gap is in the others."""
    n, N = request.shape(*SHAPE)
    make = _low_rank(N, generator)
    queries = make(request.queries, generator)
    heavy = generator.permutation(N)[: N // 100]
    same = normal(generator, len(heavy))
    queries[:, heavy] *= 30

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = make(count(rows), stream)
        chunk[:, heavy] = same
        return chunk

    return Recipe((n, N), queries, make_rows)


def one_stretch(request: Request, generator: Generator) -> Recipe:
    """Half of what a row scores comes from one stretch of 2 % of the coordinates."""
    n, N = request.shape(*SHAPE)
    make = _low_rank(N, generator)

    def with_stretch(_at: int, stream: Generator) -> FloatArray:
        row: FloatArray = make(1, stream)[0]
        start = int(stream.integers(N - N // 50))
        row[start : start + N // 50] *= 7
        return row

    return Recipe((n, N), make(request.queries, generator), _row_by_row(with_stretch))


def long_tails(request: Request, generator: Generator) -> Recipe:
    """Low rank and noise of Student's distribution with 2 degrees of freedom."""
    n, N = request.shape(*SHAPE)
    make = _low_rank(N, generator)

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = make(count(rows), stream)
        chunk += stream.standard_t(2, chunk.shape).astype(np.float32)
        return chunk

    return Recipe((n, N), make(request.queries, generator), make_rows)


def few_stand_out(request: Request, generator: Generator) -> Recipe:
    """Five Gaussian rows stand out: fewer than are searched for, so the last places have no gap."""
    n, N = request.shape(*SHAPE)
    queries = normal(generator, request.queries, N)
    every = -(-n // 5)

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = normal(stream, count(rows), N)
        chunk[np.arange(rows.start, rows.stop) % every == 0] += queries.sum(axis=0)
        return chunk

    return Recipe((n, N), queries, make_rows)


def constant_rows(request: Request, _generator: Generator) -> Recipe:
    """Rows of zeros, and ten that are a little larger."""
    n, N = request.shape(*SHAPE)

    def make_rows(rows: slice, _stream: Generator) -> FloatArray:
        larger = np.arange(rows.start, rows.stop) % -(-n // 10) == 0
        values = np.where(larger, np.float32(0.02), np.float32(0))
        return np.repeat(values[:, None], N, axis=1)

    return Recipe((n, N), np.ones((request.queries, N), np.float32), make_rows, limits=(0.0, 1.0))


def _row_by_row(make: Callable[[int, Generator], FloatArray]) -> Rows:
    """Return what makes a chunk from what makes one row, given its number."""
    return lambda rows, stream: np.stack([make(at, stream) for at in range(rows.start, rows.stop)])
