"""A screen: scores in float32 say which arms can be among the k best, within proved bounds.

An arm that is left out has a smaller score than k others, rounding included: Theorem 16 of
``docs/theory.md``. No probability is involved, so the answer that is found among the other arms is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.theory import screening

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem
    from sureshot.sources.base import Screened


def candidates(problem: Problem, some: slice, screened: Screened, query: int, best: Floats) -> Ints:
    """Return which of some arms, counted from the first of them, can be among the k best.

    Parameters
    ----------
    problem
        Has the scale and the signs of the scores.
    some
        The screened arms, as positions in the arms of the problem.
    screened, query
        Their scores, and which of the queries is that of the problem.
    best
        The scores of the best arms so far, at most k.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = screened.scores[query]
        errors = errors_of(screened, query, problem.source.n_coordinates)
        sizes = problem.as_scores(sums)
        scale = 1.0 if problem.factors is None else problem.factors[some]
        # Rounding keeps the order, so these are limits of the scores as they are computed in float64.
        upper, lower = scale * (sizes + errors), scale * (sizes - errors)
    lower = np.fmax(lower, -np.inf)  # of what is not known, too
    least = np.concatenate([best, lower])
    if len(least) < problem.k:
        return np.arange(len(sums))
    threshold = np.partition(least, -problem.k)[-problem.k]
    return np.flatnonzero((lower == -np.inf) | ~(upper < threshold))


def errors_of(screened: Screened, query: int, n_coordinates: int) -> Floats:
    """Return how far the scores for one query may be from the exact ones: Theorem 16."""
    scores, rounding = screened.scores[query], float(screened.query_roundings[query])
    if screened.squares is not None:
        return screening.errors_of_products(
            scores,
            screened.squares,
            query_norm=float(screened.query_norms[query]),
            query_rounding=rounding,
            unit=float(screened.units[query]),
            roundings=screened.roundings,
            n_coordinates=n_coordinates,
        )
    of_distances = {
        "sqeuclidean": screening.errors_of_squared_distances,
        "l1": screening.errors_of_absolute_distances,
    }[screened.reward]
    return of_distances(
        scores,
        query_rounding=rounding,
        roundings=screened.roundings,
        n_coordinates=n_coordinates,
    )
