"""How good and how fast an answer is: the paper's definitions, as functions of plain numbers.

Answers are arms without duplicates, `scores` are the true scores of all arms: `answers` makes sure of both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from sureshot._types import Floats, Ints

# Scores that differ by this share of the largest one are equal but for rounding.
ROUNDING = 1e-12


def kth_best(scores: Floats, k: int) -> float:
    """Return the k-th largest score.

    Examples
    --------
    >>> kth_best(np.array([3.0, 1.0, 2.0]), 2)
    2.0
    """
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def precision(answer: Ints, scores: Floats, k: int) -> float:
    """Return the part of the true top k that was returned.

    An arm that ties with the k-th best, up to rounding, is as good as it. An answer of fewer than k
    arms misses the others.

    Examples
    --------
    >>> scores = np.array([5.0, 1.0, 4.0, 3.0])
    >>> precision(np.array([0, 3]), scores, 2), precision(np.array([2]), scores, 2)
    (0.5, 0.5)
    """
    enough = kth_best(scores, k) - ROUNDING * float(np.abs(scores).max())
    return float(np.count_nonzero(scores[answer] >= enough)) / k


def suboptimality(answer: Ints, scores: Floats, k: int) -> float:
    """Return how far the k-th best arm of the answer is below the true k-th best.

    In the units of the scores: for means this is the paper's suboptimality of a set of k arms. An
    answer of fewer than k arms has no k-th best: infinity.

    Examples
    --------
    >>> scores = np.array([5.0, 1.0, 4.0, 3.0])
    >>> suboptimality(np.array([0, 3]), scores, 2), suboptimality(np.array([0]), scores, 2)
    (1.0, inf)
    """
    if len(answer) < k:
        return float("inf")
    return kth_best(scores, k) - float(scores[answer].min())


def online_speed_up(exact_seconds: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the time of the exact product as a multiple of the time of a query.

    Time spent before the first query does not count, as in the paper. Medians, so that one
    interruption of the machine changes nothing.

    Examples
    --------
    >>> online_speed_up([0.4, 0.4, 9.0], [0.1, 0.1, 0.1])
    4.0
    """
    return float(np.median(exact_seconds) / np.median(seconds))


def speed_up_in_numbers(n_arms: int, n_coordinates: int, numbers_read: Sequence[float]) -> float:
    """Return all the numbers as a multiple of those read: a speed-up that no clock decides.

    Examples
    --------
    >>> speed_up_in_numbers(10, 100, [100, 300])
    5.0
    """
    return 1 / share(n_arms, n_coordinates, numbers_read)


def share(n_arms: int, n_coordinates: int, numbers_read: Sequence[float]) -> float:
    """Return the mean of the numbers read as a share of all numbers.

    Examples
    --------
    >>> share(10, 100, [100, 300])
    0.2
    """
    return float(np.mean(numbers_read)) / (n_arms * n_coordinates)


def upper_percentile(losses: npt.ArrayLike, delta: float) -> float:
    """Return the (1 - delta)-percentile of some losses, rounded up to one of them.

    Rounding up errs on the side of the larger loss: of 20 losses and delta = 0.05 it is the largest.

    Examples
    --------
    >>> upper_percentile([0.0, 0.1, 0.2, 0.3, 0.4], 0.3)
    0.3
    """
    return float(np.quantile(np.asarray(losses, dtype=float), 1 - delta, method="higher"))


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points (speed-up, precision) that no other beats in both, fastest last.

    Examples
    --------
    >>> frontier([(1.0, 1.0), (2.0, 0.5), (3.0, 0.9), (0.5, 1.0)])
    [(1.0, 1.0), (3.0, 0.9)]
    """
    best: list[tuple[float, float]] = []
    for speed, quality in sorted(set(points), reverse=True):
        if not best or quality > best[-1][1]:
            best.append((speed, quality))
    return best[::-1]
