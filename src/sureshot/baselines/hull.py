"""The corners of the convex hull of the rows: the best row of any query is one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.baselines._core import drawn_seed, fit_request
from sureshot.baselines.base import needed

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints

# A row is left out only if a convex combination of others is this near to it, relative to the largest
# absolute value of the data: the rounding of float64 and no more.
TOLERANCE = 1e-12

# Random directions, whose best rows are corners, that are tried before any linear program.
DIRECTIONS_PER_COORDINATE = 16


def extreme_points(data: Array, *, rng: int | np.random.Generator | None = None) -> Ints:
    """Return the rows without which some query would lose its best row, in ascending order.

    An inner product is linear, so its largest value over all rows is that over the corners of their
    convex hull: search these with ``sureshot.top_k(data, query, k=1, where=corners)``. For k above 1
    the rows left out may belong to the answer. Of equal rows the first is kept.

    A row is left out only after it has been written as a convex combination of rows that stay, with a
    residual of at most 1e-12 of the largest absolute value of the data. What cannot be
    written so stays, so doubtful rows cost time and never an answer: no query q loses more than
    Σ|q_j| times that residual, which is of the size of the rounding of the scores.

    Whether a row is such a combination is a linear program with N + 1 variables and a condition for
    each corner known so far, solved by HiGHS through scipy. If it is none, the solution is a
    direction in which the row beats all corners known so far, and the best row in that direction is a new
    corner (Clarkson 1994). One program for each row and one for each corner: a second or two for a
    thousand rows of five coordinates. In more than about ten coordinates nearly all rows are
    corners, and nothing is gained.

    Parameters
    ----------
    data
        (n, N) of float32 or float64.
    rng
        Seed or Generator of the directions tried first. It can change which doubtful rows stay.

    Examples
    --------
    >>> square = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.25], [0.0, 1.0], [1.0, 1.0], [0.5, 0.0]])
    >>> extreme_points(square)
    array([0, 1, 3, 4])
    """
    data, _ = fit_request(data, None)
    rng = np.random.default_rng(drawn_seed(rng))
    optimize = needed("scipy.optimize", "scipy", "extreme_points", "'sureshot[baselines]'")
    points, first = np.unique(np.asarray(data, np.float64), axis=0, return_index=True)
    if not np.isfinite(points).all():
        row = int(first[np.argmin(np.isfinite(points).all(axis=1))])
        raise ValueError(f"extreme_points needs finite data, got other values in row {row}")
    corners = _corners(points, rng, optimize)
    return np.sort(first[corners])


def _corners(points: Floats, rng: np.random.Generator, optimize: Any) -> list[int]:
    """Return which of some distinct points are corners."""
    # Centred and at most 1, for the solver; what it says is checked on the points themselves.
    centred = points - points.mean(axis=0)
    centred /= max(float(np.abs(centred).max()), np.finfo(np.float64).tiny)
    count, width = points.shape
    directions = rng.standard_normal((width, DIRECTIONS_PER_COORDINATE * width))
    corners: list[int] = np.unique(np.argmax(centred @ directions, axis=0)).tolist()
    is_decided = np.zeros(count, dtype=np.bool_)
    is_decided[corners] = True
    for point in range(count):
        while not is_decided[point]:
            direction, weights = _separate(centred, corners, point, optimize)
            if direction is not None:
                best = int(np.argmax(centred @ direction))
                # Rounding may name a known corner; then the point itself stays.
                new = point if is_decided[best] else best
                corners.append(new)
                is_decided[new] = True
                continue
            is_decided[point] = True
            if not _is_combination(points, corners, point, weights):
                corners.append(point)
    return corners


def _separate(
    points: Floats, corners: list[int], point: int, optimize: Any
) -> tuple[Floats | None, Floats]:
    """Return a direction in which a point beats the corners, or None and weights that combine it.

    Maximise d·x − t with d·e ≤ t for all corners e and d·x − t ≤ 1: the value is 1 if the point x is
    outside their hull and 0 if it is not, and then the duals are the weights.
    """
    conditions = np.ones((len(corners) + 1, points.shape[1] + 1))
    conditions[:-1, :-1] = points[corners]
    conditions[-1, :-1] = points[point]
    conditions[:, -1] = -1
    limits = np.zeros(len(conditions))
    limits[-1] = 1
    solved = optimize.linprog(
        -conditions[-1], A_ub=conditions, b_ub=limits, bounds=(None, None), method="highs"
    )
    if solved.status != 0:
        return None, np.zeros(len(corners))  # which combine nothing: the point stays
    if -solved.fun > 0.5:
        return solved.x[:-1], np.zeros(len(corners))
    return None, -solved.ineqlin.marginals[:-1]


def _is_combination(points: Floats, corners: list[int], point: int, weights: Floats) -> bool:
    """Return whether a point is the combination of corners that the solver says, up to rounding."""
    support = np.array(corners)[weights > 0]
    if len(support) == 0:
        return False
    # The solver is right to seven digits: which corners are needed. The rest is least squares.
    system = np.vstack((points[support].T, np.ones(len(support))))
    exact = np.linalg.lstsq(system, np.append(points[point], 1.0), rcond=None)[0]
    exact = np.maximum(exact, 0)
    exact /= exact.sum()
    residual = np.abs(exact @ points[support] - points[point]).max()
    return bool(residual <= TOLERANCE * np.abs(points).max())
