"""Measures what the queries of a batch cost, by each of the ways that an exact batch is answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import sureshot
from sureshot import _native
from sureshot._elements import for_kernels
from sureshot.experiments import clock
from sureshot.search.exact_batch import MULTIPLIED
from sureshot.search.multiplication import Multiplication
from sureshot.sources.tiles import Tiles

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

REPEATS = 7
# Queries of which the second few tell what each costs, and the first what all of them share.
FEW, MORE = 4, 16
MANY = 256
PAIRS = 10  # arms of a query that are evaluated
SHARE_BY_COLUMN = 8  # of the rows, one in so many is read by column
# Arrays so small that only what a query costs by itself counts, and what a score does.
SHORT = 16
FEW_ARMS, MORE_ARMS = 200, 2000
# By column, where so few queries are screened: a wider array, since a screen of fewer numbers does not pay.
FEWEST_SCREENED, MOST_SCREENED, SCREENED_WIDTH = 2, 8, 200


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
        self.tiles = Tiles(self.data)
        self.dense = self._dense(self.data, _native.Metric.INNER_PRODUCT)

    @staticmethod
    def _dense(data: NDArray[np.float32], metric: _native.Metric) -> _native.Dense:
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

    def blas_read(self, each: float) -> float:
        """Time a number of a product by BLAS once for all queries, if it costs that for each."""

        def multiply(_: int) -> None:
            self.tiles.squared_norms(self.arms, self.team)
            product = Multiplication(self.tiles, self.queries[:MORE], len(self.arms))
            for start in range(0, len(self.arms), product.rows):
                product.scores(self.arms[start : start + product.rows])

        return 1e9 * median_seconds(multiply) / self.data.size - MORE * each

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

    def shared_by_column(self) -> float:
        """Time the same by column, with what it costs to read."""
        rows = len(self.data) // SHARE_BY_COLUMN
        data = np.asfortranarray(self.data[:rows])
        dense = self._dense(data, _native.Metric.INNER_PRODUCT)
        queries, scores = self.queries[:MORE].astype(np.float64), np.empty((MORE, rows))
        seconds = median_seconds(
            lambda _: _native.row_scores(dense, queries, self.arms[:rows], self.team, scores)
        )
        return 1e9 * seconds / (MORE * data.size)

    def _screen(self, count: int) -> float:
        scores, squares = np.empty((count, len(self.arms))), np.empty(len(self.arms))
        queries = self.queries[:count]
        return median_seconds(
            lambda _: _native.screen(self.dense, queries, self.arms, self.team, scores, squares)
        )

    def screen(self) -> tuple[float, float]:
        """Time a number of a row in a screen: once for all queries, and for each."""
        read, each = line(self._screen(FEW), self._screen(MORE), FEW, MORE)
        return 1e9 * read / self.data.size, 1e9 * each / self.data.size

    def pair(self) -> float:
        """Time a number of an arm that is evaluated for one query."""
        chosen = np.random.default_rng(4).choice(self.arms, (MANY, PAIRS))
        arms = np.sort(chosen, axis=1).ravel()
        starts, scores = np.arange(0, len(arms) + 1, PAIRS), np.empty(len(arms))
        seconds = median_seconds(
            lambda _: _native.pair_scores(self.dense, self.queries, starts, arms, self.team, scores)
        )
        return 1e9 * seconds / (PAIRS * self.queries.size)

    def _call(self, n_arms: int, n_queries: int, *, by_blas: bool = False) -> float:
        rng = np.random.default_rng(5)
        dtype = np.float64 if by_blas else np.float32
        data = rng.random((n_arms, SHORT)).astype(dtype)
        queries = rng.random((n_queries, SHORT)).astype(dtype)
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

    def blas_call(self) -> float:
        """Time a call by BLAS, besides its queries."""
        few, more = (self._call(FEW_ARMS, count, by_blas=True) for count in (MANY, 4 * MANY))
        return 1e9 * line(few, more, 1, 4)[0]

    def screened_query(self, each: float, score: float) -> float:
        """Time a query that shares a screen, besides its numbers and scores."""
        rng = np.random.default_rng(7)
        data = np.asfortranarray(rng.random((MORE_ARMS, SCREENED_WIDTH), dtype=np.float32))

        def screen(count: int) -> float:
            queries = rng.random((count, SCREENED_WIDTH), dtype=np.float32)
            found = sureshot.top_k(data, queries, PAIRS, method="exact", threads=self.threads)
            if found.work.choice == MULTIPLIED:
                raise RuntimeError(f"{count} queries by column were multiplied, expected a screen")
            return median_seconds(
                lambda _: sureshot.top_k(data, queries, PAIRS, method="exact", threads=self.threads)
            )

        few, more = screen(FEWEST_SCREENED), screen(MOST_SCREENED)
        _, query = line(few, more, FEWEST_SCREENED, MOST_SCREENED)
        return 1e9 * query - each * data.size - score * MORE_ARMS

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
