"""Workloads of independent, low-rank, planted and other made values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from measurements.workloads.recipe import Recipe, count, normal, scale_to_unit_norm

if TYPE_CHECKING:
    from numpy.random import Generator

    from measurements.workloads.recipe import FloatArray, Request

RANK = 20
PLANTED_ROWS = 10


def gaussian(request: Request, generator: Generator) -> Recipe:
    """Independent Gaussian values: no gap, so nothing to gain."""
    n, N = request.shape()
    return Recipe(
        (n, N),
        normal(generator, request.queries, N),
        lambda rows, stream: normal(stream, count(rows), N),
    )


def uniform(request: Request, generator: Generator) -> Recipe:
    """Independent values in [0, 1], Gaussian queries."""
    n, N = request.shape()
    return Recipe(
        (n, N),
        normal(generator, request.queries, N),
        lambda rows, stream: stream.random((count(rows), N), dtype=np.float32),
    )


def planted(request: Request, generator: Generator, *, correlation: float) -> Recipe:
    """Gaussian rows of unit norm; each query has ten of its own that correlate with it.

    Their correlations grow by 5 % of the smallest from one to the next, so that they have an order.
    """
    n, N = request.shape()
    planted = PLANTED_ROWS * request.queries
    if n < planted:
        raise ValueError(f"n: expected at least {planted} for {request.queries} queries, got {n}")
    queries = normal(generator, request.queries, N)
    directions = np.sqrt(np.float32(N)) * scale_to_unit_norm(queries.copy())
    owner = np.full(n, -1)
    shares = np.zeros(n, np.float32)
    chosen = generator.choice(n, planted, replace=False)
    owner[chosen] = np.repeat(np.arange(request.queries), PLANTED_ROWS)
    shares[chosen] = np.tile(correlation * (1 + 0.05 * np.arange(PLANTED_ROWS)), request.queries)

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = normal(stream, count(rows), N)
        for row in np.flatnonzero(owner[rows] >= 0):
            share = shares[rows][row]
            chunk[row] *= np.sqrt(1 - share**2)
            chunk[row] += share * directions[owner[rows][row]]
        return scale_to_unit_norm(chunk)

    return Recipe((n, N), queries, make_rows)


def low_rank(request: Request, generator: Generator) -> Recipe:
    """Gaussian factors of rank 20 plus noise, with log-normal row norms."""
    n, N = request.shape()
    basis = normal(generator, RANK, N) / np.sqrt(np.float32(RANK))

    def make_plain_rows(count: int, stream: Generator) -> FloatArray:
        chunk = normal(stream, count, N)
        chunk *= np.float32(0.3)
        chunk += normal(stream, count, RANK) @ basis
        return chunk

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        chunk = make_plain_rows(count(rows), stream)
        chunk *= stream.lognormal(0.0, 0.7, (count(rows), 1)).astype(np.float32)
        return chunk

    return Recipe((n, N), make_plain_rows(request.queries, generator), make_rows)


def unit_norm(request: Request, generator: Generator) -> Recipe:
    """Scale the rows of "low-rank" to unit norm."""
    recipe = low_rank(request, generator)
    return replace(recipe, rows=lambda rows, stream: scale_to_unit_norm(recipe.rows(rows, stream)))


def two_valued(request: Request, _generator: Generator) -> Recipe:
    """Values 0 and 1 with uniform row means, queries of ones: the most variance limits allow."""
    n, N = request.shape()

    def make_rows(rows: slice, stream: Generator) -> FloatArray:
        means = stream.random((count(rows), 1), dtype=np.float32)
        ones = stream.random((count(rows), N), dtype=np.float32) < means
        return ones.astype(np.float32)

    return Recipe((n, N), np.ones((request.queries, N), np.float32), make_rows)


def heavy_tailed(request: Request, generator: Generator) -> Recipe:
    """Low rank plus Student noise with 3 degrees of freedom: limits far from most values."""
    n, N = request.shape()
    basis = normal(generator, RANK, N) / np.sqrt(np.float32(RANK))

    def make_rows(count: int, stream: Generator) -> FloatArray:
        # A Gaussian over the root of a chi-square over 3, which is a gamma(3/2) times 2/3: as
        # float32 this is faster than `standard_t`, which knows float64 only.
        chunk = stream.standard_gamma(1.5, (count, N), dtype=np.float32)
        chunk *= np.float32(2 / 3)
        np.sqrt(chunk, out=chunk)
        np.divide(normal(stream, count, N), chunk, out=chunk)
        chunk += normal(stream, count, RANK) @ basis
        return chunk

    return Recipe(
        (n, N),
        make_rows(request.queries, generator),
        lambda rows, stream: make_rows(count(rows), stream),
    )


def correlated(request: Request, generator: Generator) -> Recipe:
    """Low rank plus noise around one strong direction that all rows and queries share."""
    n, N = request.shape()
    common = 3 * normal(generator, N)
    basis = normal(generator, RANK, N) / np.sqrt(np.float32(RANK))

    def make_rows(count: int, stream: Generator) -> FloatArray:
        chunk = normal(stream, count, N)
        chunk *= np.float32(0.3)
        chunk += normal(stream, count, RANK) @ basis
        chunk += common
        return chunk

    return Recipe(
        (n, N),
        make_rows(request.queries, generator),
        lambda rows, stream: make_rows(count(rows), stream),
    )
