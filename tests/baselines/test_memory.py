"""No baseline of the paper makes a second copy of the data."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from sureshot.baselines import GreedyMIPS, greedy
from tests.baselines.methods import OF_THE_PAPER, TRIALS, made


@pytest.mark.parametrize("name", OF_THE_PAPER)
@pytest.mark.parametrize("order", ["C", "F"])
def test_fit_takes_less_memory_than_the_data_has(name: str, order: str) -> None:
    rng = np.random.default_rng(0)
    data = rng.random((1500, 6000), dtype=np.float32)
    data = np.asfortranarray(data) if order == "F" else data
    made(name, threads=2).fit(data[:100])  # what is imported is paid for here
    tracemalloc.start()
    try:
        method = made(name, threads=2).fit(data)
        method.query(np.ones(6000), 5, **TRIALS[name].budgets[0])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < data.nbytes
    assert method.query(np.ones(6000), 5, **TRIALS[name].everything(method)).candidates == 1500


def test_greedy_reads_long_lists_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    # Rows in the same order at every coordinate: all lists are read to the end of the budget.
    data = np.repeat(np.random.default_rng(0).random((600, 1)), 2000, axis=1)
    method = GreedyMIPS(threads=2).fit(data)
    monkeypatch.setattr(greedy, "ENTRIES_AT_ONCE", 1 << 12)
    tracemalloc.start()
    try:
        found = method.query(np.ones(2000), 540, B=0.9)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sorted(found.indices) == sorted(np.argsort(data[:, 0])[60:])
    assert peak < 600 * 2000  # bytes: far from one for each entry of the lists
