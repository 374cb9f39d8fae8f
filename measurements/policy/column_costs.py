"""Measures what it costs to read coordinate-major data: rows that are evaluated, and blocks of few arms or of all."""

from __future__ import annotations

import numpy as np

from measurements.policy.batch_costs import REPEATS, median_seconds
from measurements.policy.ledgers import empty_ledger
from sureshot import _native
from sureshot.blocks import Blocks
from sureshot.sources.dense import DenseSource

ROWS = 10  # that are evaluated together
LONG_RUN = 128
BLOCK = 16
STEPS = 256
FEW_ARMS, MORE_ARMS = 4, 40


class ColumnCalibration:
    """One large array by column, and the parts of a search measured on it, in nanoseconds."""

    def __init__(self, n_arms: int, width: int, threads: int) -> None:
        self.rng = np.random.default_rng(0)
        self.data = self.rng.random((width, n_arms), dtype=np.float32).T
        self.team = _native.Team(threads)
        self.team.start()

    def rows(self) -> tuple[float, float]:
        """Time a number of a row that is evaluated with others, and what the first of them costs besides."""
        width = self.data.shape[1]
        source = DenseSource(self.data, np.ones(width), "ip", Blocks(width), self.team)
        alone = 1e9 * median_seconds(lambda _: source.exact_scores(self._arms(1))) / width
        together = 1e9 * median_seconds(lambda _: source.exact_scores(self._arms(ROWS))) / width
        each = (together - alone) / (ROWS - 1)
        return each, alone - each

    def runs(self) -> tuple[float, float]:
        """Time a number of rows that are evaluated without half of their columns, and a run of these."""
        numbers, short, long = self.data.shape[1] / 2, self._run(1), self._run(LONG_RUN)
        run = (short - long) / (numbers - numbers / LONG_RUN)
        return long / numbers - run / LONG_RUN, run

    def _run(self, length: int) -> float:
        """Time a row of which every other run of columns counts."""
        width = self.data.shape[1]
        counts = np.arange(width) // length % 2 == 0
        source = DenseSource(
            self.data, counts.astype(np.float64), "ip", Blocks(width, 1), self.team
        )
        found = np.flatnonzero(counts)
        return 1e9 * median_seconds(lambda _: source.exact_scores(self._arms(ROWS), found)) / ROWS

    def few_arms(self) -> float:
        """Time what a column of a block costs however few arms are read."""
        few, more = (self._step(self._arms(count), norms=True) for count in (FEW_ARMS, MORE_ARMS))
        each = (more - few) / (MORE_ARMS - FEW_ARMS)
        return (few - FEW_ARMS * each) / BLOCK

    def squares(self) -> float:
        """Time what a number costs more if squares are added up, and bets made with norms."""
        everyone = np.arange(len(self.data))
        more = self._step(everyone, norms=True) - self._step(everyone, norms=False)
        return more / (BLOCK * len(everyone))

    def _arms(self, count: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.sort(self.rng.choice(len(self.data), count, replace=False))

    def _step(self, positions: np.ndarray[tuple[int], np.dtype[np.int64]], *, norms: bool) -> float:
        """Time a step of some arms, in blocks of columns."""
        n_arms, width = self.data.shape
        blocks = Blocks(width, BLOCK)
        source = DenseSource(self.data, np.ones(width), "ip", blocks, self.team)
        weight, everyone = np.full(blocks.count, float(BLOCK)), np.arange(n_arms)
        ready = []
        for seed in range(REPEATS + 1):
            order = _native.Order(weight, seed)
            order.draw(STEPS)
            total = float(order.left[0])
            ledger = (
                empty_ledger(n_arms, total, np.inf, float(width))
                if norms
                else empty_ledger(n_arms, total, 1e3)
            )
            ledger.record(order, np.zeros(blocks.count), 0, STEPS, 1e9, stakes=True)
            ready.append((order, ledger))

        def read(repeat: int) -> None:
            order, ledger = ready[repeat]
            ledger.read(self.team, source.dense, everyone, order, positions, 0, STEPS)

        return 1e9 * median_seconds(read) / STEPS
