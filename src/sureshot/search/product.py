"""Several queries at once by a matrix product, and exactly where its rounding leaves the answer open.

A product of matrices in the precision of the data is many times as fast as sums in double, and nothing is known
of the order in which it adds. Section 15 of ``docs/theory.md`` bounds its error for every order. The arms
that can still be among the k best, a few more than k as a rule, are evaluated as they are for one query alone: so
the answer has the same bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._native import Operand, Selection
from sureshot.search import exact, screen
from sureshot.search.multiplication import Multiplication
from sureshot.search.product_queries import ProductQueries
from sureshot.sources import costs
from sureshot.sources.base import QuerySource
from sureshot.theory.products import (
    LARGEST_NORM,
    LARGEST_SCALE,
    arm_errors,
    error_terms,
    query_errors,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Floats, Ints
    from sureshot.search.batch import Batch
    from sureshot.search.problem import Problem
    from sureshot.sources.tiles import Tiles

REWARDS = ("ip", "sqeuclidean")

# Arms for each that is wanted, at least: of fewer a product leaves too many to be evaluated.
FEWEST_ARMS = 8
# Of fewer than that every score is evaluated, if several queries fit into a table of all scores.
MOST_ARMS_EVALUATED = 4096

# Bytes that a group of queries may take: for their norms, and as candidates.
BYTES_OF_GROUP = 96 << 20
MOST_QUERIES = 1024
# Candidates of one query, besides twice k. A query that has more, because of ties, is searched without.
CANDIDATES = 1024
# Scores that kernels fill before the best are chosen: they stay in the caches meanwhile.
SCORES_OF_KERNELS = 1 << 19


def suits(problem: Problem, n_queries: int) -> bool:
    """Return whether so many queries like this one cost less by a matrix product than in double."""
    if not _may_be_shared(problem) or not enough_arms(len(problem.arms), problem.k):
        return False
    return not _evaluating_costs_less(problem, n_queries)


def evaluating_costs_less(problem: Problem, n_queries: int) -> bool:
    """Return whether every score in double costs less than a product, by kernels that queries share."""
    if not _may_be_shared(problem) or not by_kernels(problem):
        return False
    if not enough_arms(len(problem.arms), problem.k):
        return len(problem.arms) <= MOST_ARMS_EVALUATED
    return _evaluating_costs_less(problem, n_queries)


def enough_arms(n_arms: int, k: int) -> bool:
    """Return whether a product leaves few enough of the arms to be evaluated."""
    return FEWEST_ARMS * k <= n_arms


def _may_be_shared(problem: Problem) -> bool:
    source = problem.source
    if not isinstance(source, QuerySource) or source.reward not in REWARDS:
        return False
    return problem.query_norm is None and source.tiles() is not None


def cost_together(problem: Problem, n_queries: int) -> float:
    """Return what each of so many queries costs by the cheaper of both; infinite where neither is chosen."""
    if suits(problem, n_queries):
        return cost_of_query(problem, n_queries)
    if evaluating_costs_less(problem, n_queries):
        return _cost_of_evaluating(problem, n_queries)
    return math.inf


def _evaluating_costs_less(problem: Problem, n_queries: int) -> bool:
    return _cost_of_evaluating(problem, n_queries) <= cost_of_query(problem, n_queries)


def _cost_of_evaluating(problem: Problem, n_queries: int) -> float:
    source, n_arms = problem.source, len(problem.arms)
    assert isinstance(source, QuerySource), "asked of these alone"
    width, reward = source.n_coordinates, source.reward
    return cost_of_all(n_arms, width, n_queries, reward, kernels=by_kernels(problem))


def cost_of_all(n_arms: int, width: int, together: int, reward: str, *, kernels: bool) -> float:
    """Return what each query costs if every arm is evaluated in double, in nanoseconds.

    `kernels`: whether so many queries share the values of a row in registers.
    """
    each = costs.SHARED_BY_COLUMN
    if kernels:
        each = costs.SHARED_NUMBER if reward == "ip" else costs.SHARED_DISTANCE
        each += costs.PRODUCT_READ / together
    return each * n_arms * width + costs.EVALUATED_SCORE * n_arms + costs.EVALUATED_QUERY


def cost_of_query(problem: Problem, n_queries: int) -> float:
    """Return what each of so many queries costs by a matrix product, in nanoseconds."""
    n_arms, width = len(problem.arms), problem.source.n_coordinates
    together = min(n_queries, queries_at_once(problem))
    return cost_of_product(n_arms, width, problem.k, together, kernels=by_kernels(problem))


def cost_of_product(n_arms: int, width: int, k: int, together: int, *, kernels: bool) -> float:
    """Return the same, given how many queries share a product, and whether it is by our own kernels."""
    read, call = costs.BLAS_READ, costs.BLAS_CALL
    if kernels:
        read, call = costs.PRODUCT_READ, costs.PRODUCT_CALL
    once = read * n_arms * width + call
    if (
        kernels and n_arms * width > costs.NUMBERS_IN_CACHE
    ):  # rows that are evaluated are read again
        once += read * min(n_arms, k * together) * width
    numbers = costs.PRODUCT_NUMBER * n_arms * width + costs.PAIR_NUMBER * k * width
    return numbers + once / together + costs.PRODUCT_SCORE * n_arms + costs.PRODUCT_QUERY


def screen_costs_less(problem: Problem, n_queries: int) -> bool:
    """Return whether passes in float32 that a few queries share cost less than a matrix product.

    Never where kernels multiply: they read everything once.
    """
    source = problem.source
    if source.bytes_per_number == 8 or by_kernels(problem) or not screen.pays([problem]):
        return False
    n_arms, width = len(problem.arms), source.n_coordinates
    each = costs.SCREEN_READ / min(n_queries, exact.AT_ONCE) + costs.SCREEN_NUMBER
    passes = each * n_arms * width + costs.PRODUCT_SCORE * n_arms + costs.SCREEN_QUERY
    return passes < cost_of_query(problem, n_queries)


def by_kernels(problem: Problem) -> bool:
    """Return whether our own kernels multiply these rows, of which all is known, and not BLAS."""
    tiles = problem.source.tiles() if isinstance(problem.source, QuerySource) else None
    return tiles is not None and tiles.by_kernels


def queries_at_once(problem: Problem) -> int:
    """Return how many queries like this one share a product."""
    return queries_together(
        problem.source.n_coordinates, problem.k, scaled=problem.factors is not None
    )


def queries_together(width: int, k: int, *, scaled: bool) -> int:
    """Return how many queries take little memory together."""
    # Cosines ask for the norms of the queries, in double.
    of_norms = 8 * width if scaled else 0
    of_candidates = 32 * (CANDIDATES + 3 * k)
    return min(max(1, BYTES_OF_GROUP // (of_norms + of_candidates)), MOST_QUERIES)


def kernel_terms(width: int, roundings: int, reward: str) -> _native.ErrorTerms:
    """Return the terms of the errors of products by our own kernels."""
    terms = error_terms(
        width=width,
        roundings=roundings,
        dtype="float32",
        squares_in_double=False,
        distance=reward == "sqeuclidean",
    )
    return _native.ErrorTerms(**terms._asdict())


def most_candidates(n_arms: int) -> int:
    """Return how many candidates of a query are kept."""
    return min(CANDIDATES, n_arms)


def rows_at_once(n_queries: int) -> int:
    """Return how many rows kernels multiply before the best are chosen."""
    return max(1, SCORES_OF_KERNELS // n_queries)


class Products:
    """Multiplies queries with the arms of a problem, and tells which arms can be among the k best.

    Parameters
    ----------
    like
        The problem of one of the queries.
    team
        The threads of what is not multiplied; the product has those that numpy gives it.
    """

    def __init__(self, like: Problem, team: Team) -> None:
        self._like, self._team = like, team
        self._squares: Floats | None = None  # the squared norms of the arms, once they are needed

    def candidates(self, batch: Batch) -> tuple[Ints, Ints] | None:
        """Return who can be among the k best of each query, and where those of each query start.

        None of them for a query of which so many scores nearly tie that a product decides little. None at all if
        the numbers forbid a product: where they are too large or too small, or not finite.
        """
        source = self._like.source
        assert isinstance(source, QuerySource), "products are of data and queries"
        tiles = source.tiles()
        assert tiles is not None, "such a source has rows to multiply"
        if not batch.factors_within(1 / LARGEST_SCALE, LARGEST_SCALE):
            return None
        found = []
        count, width = batch.queries.shape
        together = count
        if tiles.by_kernels:
            together = _native.queries_together(count, width, len(self._like.arms))
        groups = ProductQueries.groups(
            batch.queries, tiles.dtype, self._team, together, batch.sizes
        )
        for queries in groups:
            if queries is None:
                return None
            multiplied = self._by_kernels if tiles.by_kernels else self._by_blas
            some = multiplied(source, tiles, queries)
            if some is None:
                return None
            found.append(some)
        return found[0] if len(found) == 1 else _joined(found)

    def _by_kernels(
        self, source: QuerySource, tiles: Tiles, queries: ProductQueries
    ) -> tuple[Ints, Ints] | None:
        """Find them by our own kernels, which read the rows once and find their norms on the way."""
        like = self._like
        operand = Operand(queries.values, self._team, len(like.arms))
        squares = np.empty(len(like.arms))
        found = operand.candidates(
            tiles.from_origin,
            like.arms,
            self._team,
            terms=kernel_terms(source.n_coordinates, operand.roundings, source.reward),
            norms=queries.norms,
            lost=queries.lost,
            units=queries.units,
            # Factors differ from query to query by a number that all arms have in common, if at all.
            scale=like.factors,
            both_signs=len(like.signs) == 2,
            k=like.k,
            most=most_candidates(len(like.arms)),
            rows=rows_at_once(len(queries.values)),
            largest_square=LARGEST_NORM**2,
            squares=squares,
        )
        if found is not None:
            source.check_squares(like.arms, squares)
        return found

    def _by_blas(
        self, source: QuerySource, tiles: Tiles, queries: ProductQueries
    ) -> tuple[Ints, Ints] | None:
        """Find them by the library that numpy calls."""
        like, n_arms = self._like, len(self._like.arms)
        squares = self._squared_norms(source, tiles)
        if not squares.max() < LARGEST_NORM**2:  # or not a number
            return None
        multiplication = Multiplication(tiles, queries.values, n_arms)
        terms = error_terms(
            width=source.n_coordinates,
            roundings=multiplication.roundings,
            dtype=tiles.dtype.name,
            squares_in_double=True,
            distance=source.reward == "sqeuclidean",
        )
        of_queries = query_errors(
            terms, norms=queries.norms, lost=queries.lost, units=queries.units
        )
        selection = Selection(queries.units, of_queries.lengths, like.k, most_candidates(n_arms))
        for start in range(0, n_arms, multiplication.rows):
            some = slice(start, min(start + multiplication.rows, n_arms))
            errors = arm_errors(terms, of_queries, squares[some], like.scale[some])
            selection.add(
                self._team,
                multiplication.scores(like.arms[some]),
                start,
                offset=errors.offset,
                scale=errors.scale,
                fixed=errors.fixed,
                factor=errors.factor,
                both_signs=len(like.signs) == 2,
            )
        return selection.candidates(self._team)

    def _squared_norms(self, source: QuerySource, tiles: Tiles) -> Floats:
        """Return the squared norms of all arms, in double, from a pass of their own."""
        if self._squares is None:
            self._squares = tiles.squared_norms(self._like.arms, self._team)
            source.check_norms(self._like.arms, np.sqrt(self._squares))
        return self._squares


def _joined(found: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return the candidates of several groups of queries as those of one."""
    positions, starts = [], [np.zeros(1, np.int64)]
    for its_positions, its_starts in found:
        positions.append(its_positions)
        starts.append(its_starts[1:] + starts[-1][-1])
    return np.concatenate(positions), np.concatenate(starts)
