"""Measures what the queries of a batch cost, by each of the ways that an exact batch is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import sureshot
from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.experiments import clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

REPEATS = 7
# Queries of which the second few tell what each costs, and the first what all of them share.
FEW, MORE = 4, 16
MANY = 256
PAIRS = 10  # arms of a query that are evaluated
SHARE_COPIED = 8  # of the rows, one in so many is copied to be of another type or order
# Arrays so small that only what a query costs by itself counts, and what a score does.
SHORT = 16
FEW_ARMS, MORE_ARMS = 200, 2000


def median_seconds(call: Callable[[int], object]) -> float:
    """Return the median time of some calls; the first one warms up."""
    times = clock.in_turn({"call": call}, range(REPEATS + 1), rest=0.0)["call"]
    return float(np.median(times.seconds[1:]))


def line(few: float, more: float, n_few: int, n_more: int) -> tuple[float, float]:
    """Return the straight line through two times: what all share, and what each adds.

    Examples
    --------
    >>> line(7.0, 11.0, 2, 4)
    (3.0, 2.0)
    """
    each = (more - few) / (n_more - n_few)
    return few - n_few * each, each


class BatchCalibration:
    """One array that no cache holds, and the parts of a batch measured on it, in nanoseconds."""

    def __init__(self, n_arms: int, width: int, threads: int) -> None:
        rng = np.random.default_rng(3)
        self.data = rng.random((n_arms, width), dtype=np.float32)
        self.queries = rng.random((MANY, width), dtype=np.float32)
        self.arms = np.arange(n_arms)
        self.threads = threads
        self.team = _native.Team(threads)
        self.team.start()
        self.dense = self._dense(self.data, _native.Metric.INNER_PRODUCT)

    @staticmethod
    def _dense(data: Floats | NDArray[np.float32], metric: _native.Metric) -> _native.Dense:
        width = data.shape[1]
        return _native.Dense(*for_kernels(data), metric, np.ones(width), block=width, shift=0)

    def _multiply(self, count: int) -> float:
        scores, squares = np.empty((len(self.data), count), np.float32), np.empty(len(self.data))
        return median_seconds(
            lambda _: _native.Operand(self.queries[:count], self.team, len(self.arms)).multiply(
                self.dense, self.arms, self.team, scores, squares
            )
        )

    def product(self) -> tuple[float, float]:
        """Time a number of a product by our kernels: once for all queries, and for each."""
        read, each = line(self._multiply(MORE), self._multiply(MANY), MORE, MANY)
        return 1e9 * read / self.data.size, 1e9 * each / self.data.size

    def _shared(self, metric: _native.Metric, count: int) -> float:
        dense, queries = self._dense(self.data, metric), self.queries[:count]
        scores = np.empty((count, len(self.arms)))
        return median_seconds(
            lambda _: _native.row_scores(dense, queries, self.arms, self.team, scores)
        )

    def shared(self, metric: _native.Metric) -> float:
        """Time a number of a row in double, for each query that shares a pass."""
        few, more = self._shared(metric, FEW), self._shared(metric, MORE)
        return 1e9 * line(few, more, FEW, MORE)[1] / self.data.size

    def shared_doubles(self) -> float:
        """Time a number of a row of float64 in double, for each query that shares a pass."""
        data = self.data[::SHARE_COPIED].astype(np.float64)
        few, more = (self._shared_of(data, count) for count in (FEW, MORE))
        return 1e9 * line(few, more, FEW, MORE)[1] / data.size

    def copied_read(self) -> float:
        """Time a number of a row by column, once for all queries that share it."""
        data = np.asfortranarray(self.data[::SHARE_COPIED])
        few, more = (self._shared_of(data, count) for count in (FEW, MORE))
        return 1e9 * line(few, more, FEW, MORE)[0] / data.size

    def _shared_of(self, data: Floats | NDArray[np.float32], count: int) -> float:
        dense, arms = self._dense(data, _native.Metric.INNER_PRODUCT), np.arange(len(data))
        queries, scores = self.queries[:count], np.empty((count, len(data)))
        return median_seconds(lambda _: _native.row_scores(dense, queries, arms, self.team, scores))

    def pair(self) -> float:
        """Time a number of an arm that is evaluated for one query."""
        chosen = np.random.default_rng(4).choice(self.arms, (MANY, PAIRS))
        arms = np.sort(chosen, axis=1).ravel()
        starts, scores = np.arange(0, len(arms) + 1, PAIRS), np.empty(len(arms))
        seconds = median_seconds(
            lambda _: _native.pair_scores(self.dense, self.queries, starts, arms, self.team, scores)
        )
        return 1e9 * seconds / (PAIRS * self.queries.size)

    def _call(self, n_arms: int, n_queries: int) -> float:
        rng = np.random.default_rng(5)
        data = rng.random((n_arms, SHORT), dtype=np.float32)
        queries = rng.random((n_queries, SHORT), dtype=np.float32)
        return median_seconds(
            lambda _: sureshot.top_k(data, queries, PAIRS, method="exact", threads=self.threads)
        )

    def small_product(self, each: float, pair: float) -> tuple[float, float, float]:
        """Time a call, a query and a score of a batch that is multiplied, besides its numbers."""
        call, query = line(self._call(FEW_ARMS, MANY), self._call(FEW_ARMS, 4 * MANY), 1, 4)
        _, more = line(self._call(MORE_ARMS, MANY), self._call(MORE_ARMS, 4 * MANY), 1, 4)
        score = 1e9 * (more - query) / MANY / (MORE_ARMS - FEW_ARMS) - SHORT * each
        numbers = SHORT * (FEW_ARMS * each + PAIRS * pair)
        return 1e9 * call, 1e9 * query / MANY - FEW_ARMS * score - numbers, score

    def small_array(self) -> tuple[float, float]:
        """Time a query and a score of a batch whose scores are all computed, besides their sums."""

        def choose(n_arms: int) -> float:
            scores = np.random.default_rng(6).random((MANY, n_arms))
            positions, best = np.empty((MANY, PAIRS), np.int64), np.empty((MANY, PAIRS))
            return median_seconds(
                lambda _: _native.best_of_rows(scores, PAIRS, self.team, positions, best)
            )

        query, score = line(choose(FEW_ARMS), choose(MORE_ARMS), FEW_ARMS, MORE_ARMS)
        return 1e9 * query / MANY, 1e9 * score / MANY
