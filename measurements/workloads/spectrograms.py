"""Workloads of spectrograms of audio clips."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from measurements.workloads.recipe import Recipe

if TYPE_CHECKING:
    from numpy.random import Generator

    from measurements.workloads.recipe import Request


def spectrograms(request: Request, generator: Generator, *, centred: bool) -> Recipe:
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
