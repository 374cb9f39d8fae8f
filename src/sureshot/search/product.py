"""Several queries at once by a matrix product, and exactly where its rounding leaves the answer open.

A product of matrices in the precision of the data is many times as fast as sums in double, and nothing is known
of the order in which it adds. Section 15 of ``docs/theory.md`` bounds its error for every order. The arms
that can still be among the k best, a few more than k as a rule, are evaluated as they are for one query alone: so
the answer has the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._native import Selection
from sureshot.search import certificate, exact
from sureshot.search.problem import Answer, largest, timed
from sureshot.sources import costs
from sureshot.sources.base import QuerySource
from sureshot.theory.rounding import any_order_share, rounding_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sureshot._native import Team
    from sureshot._types import Array, Floats, Ints
    from sureshot.search.problem import Problem, Tally
    from sureshot.sources.tiles import Tiles

REWARDS = ("ip", "sqeuclidean")

# Columns that are multiplied in the precision of the data; longer sums are made of these in double. The
# error grows with it, and a shorter one would cost more additions.
PANEL = 4096

# Bytes that a group of queries may take: rounded for the product, in their problems, and as candidates.
BYTES_OF_GROUP = 48 << 20
MOST_QUERIES = 1024
# Scores that are computed before they are compared.
SCORES_AT_ONCE = 1 << 21
# Candidates of one query, besides twice k. A query that has more, because of ties, is searched without.
CANDIDATES = 1024
# Where queries, factors and norms are beyond these or one over them, nothing is multiplied: products could
# overflow, or lose more to underflow than the error allows.
LARGEST_QUERY = 2.0**100
LARGEST_SCALE = 2.0**200
LARGEST_NORM = 2.0**100
# More than the products of one row can lose to underflow, each.
UNDERFLOW = {"float32": 2.0**-124, "float64": 2.0**-700}
# More than the square root of what a square can lose to it.
LOST_NORM = 2.0**-511


def suits(problem: Problem, n_queries: int) -> bool:
    """Return whether so many queries like this one cost less by a matrix product."""
    source, n_arms = problem.source, len(problem.arms)
    if not isinstance(source, QuerySource) or source.reward not in REWARDS:
        return False
    if problem.query_norm is not None or 8 * problem.k > n_arms or source.tiles() is None:
        return False
    each = costs.SHARED_NUMBER * n_arms * source.n_coordinates
    return cost_of_query(problem, n_queries) < each


def cost_of_query(problem: Problem, n_queries: int) -> float:
    """Return what each of so many queries costs by a matrix product, in nanoseconds."""
    n_arms, width = len(problem.arms), problem.source.n_coordinates
    together = min(n_queries, queries_at_once(problem))
    once = costs.PRODUCT_READ * n_arms * width + costs.PRODUCT_TILE
    numbers = costs.PRODUCT_NUMBER * n_arms * width
    return numbers + once / together + costs.PRODUCT_SCORE * n_arms + costs.PRODUCT_QUERY


def queries_at_once(problem: Problem) -> int:
    """Return how many queries like this one share a product: as many as take little memory."""
    width = problem.source.n_coordinates
    of_arms = 0 if problem.factors is None else problem.factors.nbytes
    of_problem = of_arms + 40 * width
    of_candidates = 16 * (CANDIDATES + 3 * problem.k)
    return min(max(1, BYTES_OF_GROUP // (of_problem + of_candidates)), MOST_QUERIES)


def search_all(problems: Sequence[Problem], tallies: Sequence[Tally], team: Team) -> list[Answer]:
    """Answer problems with the same arms exactly, by a matrix product where that costs less."""
    if not problems:
        return []
    answers: list[Answer | None] = [None] * len(problems)
    if suits(problems[0], len(problems)):
        size = queries_at_once(problems[0])
        for start in range(0, len(problems), size):
            some = slice(start, start + size)
            answers[some] = search_together(problems[some], tallies[some], team)
    left = [at for at, answer in enumerate(answers) if answer is None]
    for start in range(0, len(left), exact.AT_ONCE):
        some_left = left[start : start + exact.AT_ONCE]
        found = exact.search_together(
            [problems[at] for at in some_left], [tallies[at] for at in some_left], team
        )
        for at, answer in zip(some_left, found, strict=True):
            answers[at] = answer
    return [answer for answer in answers if answer is not None]


def search_together(
    problems: Sequence[Problem], tallies: Sequence[Tally], team: Team
) -> list[Answer | None]:
    """Answer each problem exactly; all of them have the same arms, and `suits` holds for them.

    None for a problem that must be searched in another way: where numbers are too large or too small, or not
    finite, or so many scores nearly tie that a product decides little.
    """
    with timed(*tallies):
        selection = _screened(problems, tallies, team)
    if selection is None:
        return [None] * len(problems)
    answers: list[Answer | None] = []
    for query, (problem, tally) in enumerate(zip(problems, tallies, strict=True)):
        with timed(tally):
            candidates = selection.candidates(query)
            answers.append(None if candidates is None else _evaluated(problem, tally, candidates))
    return answers


def _evaluated(problem: Problem, tally: Tally, candidates: Ints) -> Answer:
    """Return the best of the candidates by their exact scores."""
    width = problem.source.n_coordinates
    scores = problem.scores(candidates, problem.source.exact_scores(problem.arms[candidates]))
    best = largest(scores, problem.k)
    tally.numbers_read += len(candidates) * width
    tally.exact_scores += len(candidates)
    tally.end_round(0, width, float(scores[best[-1]]))
    return Answer(candidates[best], scores[best], certificate.exact_answer(problem), "exact")


def _screened(
    problems: Sequence[Problem], tallies: Sequence[Tally], team: Team
) -> Selection | None:
    """Multiply everything and return who can be among the best; None if the numbers do not allow it."""
    first = problems[0]
    source, n_arms = first.source, len(first.arms)
    assert isinstance(source, QuerySource), "products are of data and queries"
    tiles = source.tiles()
    assert tiles is not None, "such a source has rows to multiply"
    distance = source.reward == "sqeuclidean"
    queries = _Queries.of(problems, tiles.dtype, distance=distance)
    if queries is None:
        return None
    errors = _Errors(first, queries, distance=distance)
    selection = Selection(len(problems), first.k, CANDIDATES)
    rows = max(1, min(tiles.n_rows, SCORES_AT_ONCE // len(problems)))
    reported = 0
    for start in range(0, n_arms, rows):
        some = slice(start, min(start + rows, n_arms))
        arms = first.arms[some]
        squares = tiles.squared_norms(arms, team)
        known = errors.of(some, squares)
        if known is None:
            return None
        source.check_norms(arms, np.sqrt(squares))
        scores = _products(tiles, arms, queries.values)
        selection.add(
            team,
            scores,
            start,
            offset=known.offset,
            scale=known.scale,
            fixed=known.fixed,
            factor=known.factor,
            both_signs=len(first.signs) == 2,
            units=queries.units,
            lengths=queries.lengths,
        )
        numbers = (some.stop - reported) * source.n_coordinates
        if numbers >= exact.NUMBERS_PER_ROUND or some.stop == n_arms:
            for tally in tallies:
                tally.numbers_read += numbers
                if some.stop < n_arms:
                    tally.end_round(n_arms - some.stop, source.n_coordinates)
            reported = some.stop
    return selection


def _products(tiles: Tiles, arms: Ints, queries: Array) -> Array:
    """Return the product of each query with each arm, (queries, arms), of several panels in double."""
    scores: Array | None = None
    for columns in _panels(queries.shape[1]):
        panel = tiles.panel(arms, columns.start, columns.stop)
        with np.errstate(over="ignore", invalid="ignore"):
            some = queries[:, columns] @ panel.T
        if scores is None:
            scores = some if columns.stop == queries.shape[1] else some.astype(np.float64)
        else:
            scores += some
    assert scores is not None, "rows have columns"
    return scores


def _panels(width: int) -> Iterator[slice]:
    for start in range(0, width, PANEL):
        yield slice(start, min(start + PANEL, width))


@dataclass(frozen=True, slots=True)
class _Queries:
    """Queries as they are multiplied: times a power of two, and rounded to the type of the data."""

    values: Array  # (queries, coordinates)
    units: Floats  # these powers
    # By what the norm of a row is multiplied in the error of its product.
    lengths: Floats
    # What is added to that norm for the errors that do not grow with it.
    constant: float
    slack: float  # a share of the largest possible score: errors of double precision stay far below

    @classmethod
    def of(
        cls, problems: Sequence[Problem], dtype: np.dtype[Any], *, distance: bool
    ) -> _Queries | None:
        """Return them, or None if some are too large or too small, or their factors are."""
        width = problems[0].source.n_coordinates
        values = np.empty((len(problems), width), dtype)
        units, norms, lost = np.empty((3, len(problems)))
        for at, problem in enumerate(problems):
            assert isinstance(problem.source, QuerySource), "products are of data and queries"
            query = problem.source.query
            size, factors = float(np.abs(query).max()), problem.factors
            if size > 0 and not 1 / LARGEST_QUERY < size < LARGEST_QUERY:
                return None
            if factors is not None and not (
                factors.min() > 1 / LARGEST_SCALE and factors.max() < LARGEST_SCALE
            ):
                return None
            units[at] = unit = 1.0 if size == 0 else 2.0 ** -np.frexp(size)[1]
            scaled = query * unit
            values[at] = scaled
            scaled -= values[at]
            lost[at] = np.sqrt(np.square(scaled).sum())
            norms[at] = unit * np.sqrt(np.square(query).sum())
        slack = 4 * rounding_share(width, width)
        unit_roundoff = 2.0**-24 if dtype == np.float32 else 2.0**-53
        share = any_order_share(min(width, PANEL), unit_roundoff)
        # More than the norm of the rounded query, which is at least 1/2 unless it is all zeros.
        lengths = (share + slack) * np.maximum(1.001 * norms, 0.5) + 1.001 * lost
        constant = np.full(len(problems), width * UNDERFLOW[dtype.name])
        if distance:
            constant += slack * np.square(1.001 * norms) / units
        return cls(values, units, lengths, float(np.max(constant / lengths)), slack)


@dataclass(frozen=True, slots=True)
class _TileErrors:
    """What a selection must know of the arms of a tile besides their products."""

    offset: Floats
    scale: Floats
    fixed: Floats
    factor: Floats


class _Errors:
    """Errors of the scores of a group of queries, by the norms of the arms.

    The factors of the arms may differ from query to query only by a number that all arms have in common.
    """

    def __init__(self, problem: Problem, queries: _Queries, *, distance: bool) -> None:
        self._factors, self._distance = problem.factors, distance
        self._constant, self._slack = queries.constant, queries.slack
        self._lost_norm = LOST_NORM * problem.source.n_coordinates

    def of(self, some: slice, squares: Floats) -> _TileErrors | None:
        """Return those of some arms with these squared norms, or None if these are too large."""
        if not squares.max() < LARGEST_NORM**2:  # or not a number
            return None
        scale = np.ones(len(squares))
        if self._factors is not None:
            scale = np.ascontiguousarray(self._factors[some])
        norms = np.sqrt(squares * (1 + self._slack)) + self._lost_norm
        zeros = np.zeros(len(squares))
        return _TileErrors(
            offset=squares / -2 if self._distance else zeros,
            scale=scale,
            fixed=self._slack * np.square(norms) if self._distance else zeros,
            factor=scale * (norms + self._constant),
        )
