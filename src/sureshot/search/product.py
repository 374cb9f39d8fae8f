"""Several queries at once by a matrix product, and exactly where its rounding leaves the answer open.

A product of matrices in float32 is many times as fast as sums in double for one query. Section 15 of ``docs/theory.md``
bounds its error. The arms
that can still be among the k best, a few more than k as a rule, are evaluated as they are for one query alone: so
the answer has the same bits.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sureshot import _native
from sureshot._native import Operand
from sureshot.search.product_queries import ProductQueries
from sureshot.sources import costs
from sureshot.sources.base import QuerySource
from sureshot.theory.products import (
    LARGEST_NORM,
    LARGEST_SCALE,
    error_terms,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Team
    from sureshot._types import Ints
    from sureshot.search.batch import Batch
    from sureshot.search.problem import Problem
    from sureshot.sources.base import Source

REWARDS = ("ip", "sqeuclidean")

# Arms for each that is wanted, at least: of fewer a product leaves too many to be evaluated.
FEWEST_ARMS = 8
# Of no more than that every score is evaluated then.
MOST_ARMS_EVALUATED = 4096
# Scores that are evaluated before the best are chosen, 16 MB; of more queries, since each time the rows are read again, if
# these are fewer; and never more than 64 MB, since to choose the best takes two more tables of that size.
SCORES_EVALUATED = 1 << 21
FEWEST_EVALUATED = 16
MOST_SCORES = 1 << 23
BYTES_OF_DOUBLE = 8

# Bytes that a group of queries may take: for their norms, and as candidates.
BYTES_OF_GROUP = 96 << 20
MOST_QUERIES = 1024
# Candidates of one query, besides twice k. A query that has more, because of ties, is searched without.
CANDIDATES = 1024
# Scores that kernels fill before the best are chosen: they stay in the caches meanwhile.
SCORES_OF_KERNELS = 1 << 19


def suits(problem: Problem, n_queries: int) -> bool:
    """Return whether so many queries like this one cost less by a matrix product than in double."""
    source = problem.source
    if not _may_be_shared(problem, n_queries) or not enough_arms(len(problem.arms), problem.k):
        return False
    if source.bytes_per_number == BYTES_OF_DOUBLE:  # Then a product is no faster.
        return False
    return not _evaluating_costs_less(problem, n_queries)


def evaluating_costs_less(problem: Problem, n_queries: int) -> bool:
    """Return whether every score in double costs less than a product, by kernels that queries share."""
    if not _may_be_shared(problem, n_queries):
        return False
    if problem.source.bytes_per_number == BYTES_OF_DOUBLE:
        return True
    if not enough_arms(len(problem.arms), problem.k):
        return len(problem.arms) <= MOST_ARMS_EVALUATED
    return _evaluating_costs_less(problem, n_queries)


def enough_arms(n_arms: int, k: int) -> bool:
    """Return whether a product leaves few enough of the arms to be evaluated."""
    return FEWEST_ARMS * k <= n_arms


def _may_be_shared(problem: Problem, n_queries: int) -> bool:
    source = problem.source
    if n_queries == 1 or not isinstance(source, QuerySource) or source.reward not in REWARDS:
        return False
    return problem.query_norm is None and source.dense is not None


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
    together = min(n_queries, queries_evaluated(n_arms))
    return cost_of_all(n_arms, source.n_coordinates, together, source.reward, Rows.of(source))


class Rows(NamedTuple):
    """How rows lie in memory: whether in float64, and by column."""

    wide: bool
    by_column: bool

    @classmethod
    def of(cls, source: Source) -> Rows:
        """Return that of a source."""
        return cls(source.bytes_per_number == BYTES_OF_DOUBLE, source.coordinate_major)

    @property
    def read(self) -> float:
        """What it costs to read a number of a row once for all queries, by our own kernels."""
        once = costs.COPIED_READ if self.by_column else costs.PRODUCT_READ
        return 2 * once if self.wide else once


def queries_evaluated(n_arms: int) -> int:
    """Return how many queries have all their scores computed before the best are chosen."""
    wanted = max(FEWEST_EVALUATED, SCORES_EVALUATED // n_arms)
    return max(1, min(wanted, MOST_SCORES // n_arms))


def cost_of_all(n_arms: int, width: int, together: int, reward: str, rows: Rows) -> float:
    """Return what each query costs if every arm is evaluated in double, in nanoseconds.

    So many queries share a pass.
    """
    each = costs.SHARED_NUMBER if reward == "ip" else costs.SHARED_DISTANCE
    if rows.wide:
        each = costs.SHARED_DOUBLE
    numbers = (each + rows.read / together) * n_arms * width
    return numbers + costs.EVALUATED_SCORE * n_arms + costs.EVALUATED_QUERY


def cost_of_query(problem: Problem, n_queries: int) -> float:
    """Return what each of so many queries costs by a matrix product, in nanoseconds."""
    source = problem.source
    together = min(n_queries, queries_at_once(problem))
    return cost_of_product(
        len(problem.arms), source.n_coordinates, problem.k, together, Rows.of(source)
    )


def cost_of_product(n_arms: int, width: int, k: int, together: int, rows: Rows) -> float:
    """Return the same, given how many queries share a product."""
    once = rows.read * n_arms * width + costs.PRODUCT_CALL
    if n_arms * width > costs.NUMBERS_IN_CACHE:  # rows that are evaluated are read again
        once += rows.read * min(n_arms, k * together) * width
    numbers = costs.PRODUCT_NUMBER * n_arms * width + costs.PAIR_NUMBER * k * width
    return numbers + once / together + costs.PRODUCT_SCORE * n_arms + costs.PRODUCT_QUERY


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

    By our own kernels, which read the rows once and find their norms on the way.

    Parameters
    ----------
    like
        The problem of one of the queries.
    team
        The threads that multiply.
    """

    def __init__(self, like: Problem, team: Team) -> None:
        self._like, self._team = like, team

    def candidates(self, batch: Batch) -> tuple[Ints, Ints] | None:
        """Return who can be among the k best of each query, and where those of each query start.

        None of them for a query of which so many scores nearly tie that a product decides little. None at all if
        the numbers forbid a product: where they are too large or too small, or not finite.
        """
        source = self._like.source
        assert isinstance(source, QuerySource), "products are of data and queries"
        if not batch.factors_within(1 / LARGEST_SCALE, LARGEST_SCALE):
            return None
        found = []
        count, width = batch.queries.shape
        together = _native.queries_together(count, width, len(self._like.arms))
        groups = ProductQueries.groups(batch.queries, self._team, together, batch.sizes)
        for queries in groups:
            some = None if queries is None else self._of_group(source, queries)
            if some is None:
                return None
            found.append(some)
        return found[0] if len(found) == 1 else _joined(found)

    def _of_group(self, source: QuerySource, queries: ProductQueries) -> tuple[Ints, Ints] | None:
        like = self._like
        assert source.dense is not None, "such a source has rows to multiply"
        operand = Operand(queries.values, self._team, len(like.arms))
        squares = np.empty(len(like.arms))
        found = operand.candidates(
            source.dense,
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


def _joined(found: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    """Return the candidates of several groups of queries as those of one."""
    positions, starts = [], [np.zeros(1, np.int64)]
    for its_positions, its_starts in found:
        positions.append(its_positions)
        starts.append(its_starts[1:] + starts[-1][-1])
    return np.concatenate(positions), np.concatenate(starts)
