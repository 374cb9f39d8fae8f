"""Measures the costs that a search decides by, next to the constants of `sureshot.sources.costs`.

``python -m measurements.policy.costs [--rows 10000] [--coordinates 100000]`` needs as much memory as the array
has, 4 GB by default, and takes a minute. Nothing is changed: the constants are fixed in the code, so that
a search does the same on every machine; what matters is that their ratios are about right.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

from measurements.harness import machine
from measurements.harness.page import left_aligned
from measurements.policy.batch_costs import REPEATS, BatchCalibration, median_seconds
from measurements.policy.column_costs import ColumnCalibration
from measurements.policy.ledgers import empty_ledger
from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Metric
from sureshot.search.race.costs import BET, DRAW
from sureshot.sources import costs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LINE = 16  # float32 in a cache line
STEPS = 200
FEW_STEPS = 4


class Calibration:
    """One large array, and the parts of a search measured on it, in nanoseconds."""

    def __init__(self, n_arms: int, width: int, threads: int) -> None:
        self.data = np.random.default_rng(0).random((n_arms, width), dtype=np.float32)
        self.query = np.ones(width)
        self.arms = np.arange(n_arms)
        self.team = _native.Team(threads)
        self.team.start()
        self.shift = self.data.ctypes.data % 64 // 4 if self.data.strides[0] % 64 == 0 else 0
        self.dense = _native.Dense(
            *for_kernels(self.data),
            _native.Metric.INNER_PRODUCT,
            self.query,
            block=LINE,
            shift=self.shift,
        )
        self.n_blocks = -(-(width + self.shift) // LINE)
        self.weight = np.ones(self.n_blocks)

    def next_line(self) -> float:
        """Time a cache line of a row that is read whole."""
        scores = np.empty((1, len(self.arms)))
        seconds = median_seconds(
            lambda _: _native.row_scores(self.dense, self.query[None], self.arms, self.team, scores)
        )
        return 1e9 * seconds / (self.data.nbytes / 64)

    def scattered_line(self) -> float:
        """Time a cache line that is read alone."""
        rng = np.random.default_rng(1)
        sums = np.zeros((STEPS, len(self.arms)))
        blocks = [
            np.sort(rng.choice(self.n_blocks, STEPS, replace=False)) for _ in range(REPEATS + 1)
        ]
        seconds = median_seconds(
            lambda repeat: _native.block_sums(
                self.dense, self.arms, blocks[repeat], self.team, sums
            )
        )
        return 1e9 * seconds / sums.size

    def _read(self, seed: int, stops: list[int]) -> _native.Ledger:
        ledger = empty_ledger(len(self.arms), float(self.n_blocks), 1e3)
        order = _native.Order(self.weight, seed)
        order.draw(stops[-1])
        zeros, start = np.zeros(self.n_blocks), 0
        for stop in stops:
            ledger.record(order, zeros, start, stop, 1.0, stakes=True)
            ledger.read(self.team, self.dense, self.arms, order, self.arms, start, stop)
            start = stop
        return ledger

    def bet_and_visit(self, line: float) -> tuple[float, float]:
        """Time a bet, placed and replayed twice; and what a round costs an arm besides its steps."""
        at_once = median_seconds(lambda repeat: self._read(repeat, [STEPS]))
        ledger = self._read(0, [STEPS])
        replay = median_seconds(
            lambda _: ledger.judge(self.team, self.arms, 2.0, 50.0, 2),
        )
        steps = STEPS * len(self.arms)
        bet = 1e9 * (at_once + 2 * replay) / steps - line
        stops = list(range(FEW_STEPS, STEPS + 1, FEW_STEPS))
        in_rounds = median_seconds(lambda repeat: self._read(repeat, stops))
        visits = (len(stops) - 1) * len(self.arms)
        return bet, 1e9 * (in_rounds - at_once) / visits

    def draw(self) -> float:
        """Time a draw from a long row of single coordinates."""
        weight = np.abs(np.random.default_rng(2).standard_normal(self.data.shape[1]))
        count = len(weight) // 20
        orders = [_native.Order(weight, seed) for seed in range(REPEATS + 1)]
        return 1e9 * median_seconds(lambda repeat: orders[repeat].draw(count)) / count


def column_costs(columns: ColumnCalibration) -> dict[str, tuple[float, float]]:
    """Return what was measured of coordinate-major data, and what the code assumes."""
    (row, first), (picked, run) = columns.rows(), columns.runs()
    return {
        "NUMBER_OF_ROW": (row, costs.NUMBER_OF_ROW),
        "NUMBER_OF_FIRST_ROW": (first, costs.NUMBER_OF_FIRST_ROW),
        "PICKED_NUMBER": (picked, costs.PICKED_NUMBER),
        "NEXT_RUN": (run, costs.NEXT_RUN),
        "NEXT_COLUMN": (columns.few_arms(), costs.NEXT_COLUMN),
        "SQUARED_NUMBER": (columns.squares(), costs.SQUARED_NUMBER),
    }


def batch_costs(batch: BatchCalibration) -> dict[str, tuple[float, float]]:
    """Return what was measured of batches, and what the code assumes."""
    read, each = batch.product()
    pair = batch.pair()
    call, query, score = batch.small_product(each, pair)
    evaluated_query, evaluated_score = batch.small_array()
    return {
        "SHARED_NUMBER": (batch.shared(Metric.INNER_PRODUCT), costs.SHARED_NUMBER),
        "SHARED_DISTANCE": (batch.shared(Metric.SQUARED_EUCLIDEAN), costs.SHARED_DISTANCE),
        "SHARED_DOUBLE": (batch.shared_doubles(), costs.SHARED_DOUBLE),
        "COPIED_READ": (batch.copied_read(), costs.COPIED_READ),
        "EVALUATED_SCORE": (evaluated_score, costs.EVALUATED_SCORE),
        "EVALUATED_QUERY": (evaluated_query, costs.EVALUATED_QUERY),
        "PRODUCT_NUMBER": (each, costs.PRODUCT_NUMBER),
        "PRODUCT_READ": (read, costs.PRODUCT_READ),
        "PRODUCT_CALL": (call, costs.PRODUCT_CALL),
        "PRODUCT_SCORE": (score, costs.PRODUCT_SCORE),
        "PAIR_NUMBER": (pair, costs.PAIR_NUMBER),
        "PRODUCT_QUERY": (query, costs.PRODUCT_QUERY),
    }


def main() -> None:
    """Print what was measured beside what the code assumes."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.policy.costs", description=__doc__
    )
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--coordinates", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=machine.available_threads())
    options = parser.parse_args()
    calibration = Calibration(options.rows, options.coordinates, options.threads)
    line = calibration.scattered_line()
    bet, visit = calibration.bet_and_visit(line)
    measured = {
        "NEXT_LINE": (calibration.next_line(), costs.NEXT_LINE),
        "SCATTERED_LINE": (line, costs.SCATTERED_LINE),
        "BET": (bet, BET),
        "VISIT_OF_ROW": (visit, costs.VISIT_OF_ROW),
        "DRAW": (calibration.draw(), DRAW),
    }
    del calibration  # before the next array
    measured |= column_costs(ColumnCalibration(options.rows, options.coordinates, options.threads))
    measured |= batch_costs(
        BatchCalibration(options.rows, options.coordinates // 10, options.threads)
    )
    table = [[name, f"{found:.3g}", f"{used:g}"] for name, (found, used) in measured.items()]
    print("\n".join(left_aligned(["cost", "measured, ns", "used"], table)))


if __name__ == "__main__":
    main()
