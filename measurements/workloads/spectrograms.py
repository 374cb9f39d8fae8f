"""Workloads of spectrograms of audio clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from measurements.workloads.recipe import ROWS_FROM_FILES, Recipe, count, normal

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import NDArray

    from measurements.workloads.recipe import FloatArray, Request

LOUDEST = 120  # decibels


def spectrograms(request: Request, generator: Generator, *, centred: bool) -> Recipe:
    """Whole decibels of audio clips, searched with other clips.

    Plain values are never negative, so the loudest clips win; a query less its own mean asks for
    the largest covariance instead.
    """
    clips, queries = clips_and_queries(request, generator, centred=centred)
    n = request.n or len(clips)
    if n > len(clips):
        there = len(clips) + request.queries
        raise ValueError(
            f"n, queries: expected together at most {there} clips, got {n} and {request.queries}"
        )
    return Recipe(
        (n, clips.shape[1]), queries, lambda rows, _stream: clips[:n][rows], dtype=clips.dtype
    )


def copies(request: Request, generator: Generator, *, centred: bool) -> Recipe:
    """Noisy copies of each clip, some louder and some softer, five or six: near ties for each place."""
    clips, queries = clips_and_queries(request, generator, centred=centred)

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = normal(stream, count(rows), clips.shape[1])
        chunk += clips[np.arange(rows.start, rows.stop) % len(clips)]
        chunk += stream.normal(0, 2, (count(rows), 1)).astype(np.float32)
        return chunk.clip(0, LOUDEST)

    shape = request.n or ROWS_FROM_FILES, clips.shape[1]
    return Recipe(shape, queries, make_rows, limits=(0.0, LOUDEST))


def clips_and_queries(
    request: Request, generator: Generator, *, centred: bool
) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return the clips to search, and those to search for; of each the first N values."""
    (clips,) = request.read("S")
    there, width = clips.shape
    if request.queries >= there:
        raise ValueError(f"queries: expected fewer than {there} clips, got {request.queries}")
    N = request.N or width
    if width < N:
        raise ValueError(f"N: expected at most {width}, got {N}")
    shuffled = generator.permutation(there)
    queries = clips[shuffled[: request.queries], :N].astype(np.float64)
    if centred:
        queries -= queries.mean(axis=1, keepdims=True)
    return clips[shuffled[request.queries :], :N], queries
