"""No baseline of the paper makes a second copy of the data."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from sureshot.baselines import kmeans
from tests.baselines.methods import OF_THE_PAPER, TRIALS, made


@pytest.mark.parametrize("name", OF_THE_PAPER)
@pytest.mark.parametrize("order", ["C", "F"])
def test_fit_takes_less_memory_than_the_data_has(
    name: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kmeans, "SAMPLE", 100)  # for the sample of a test to be small, too
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
