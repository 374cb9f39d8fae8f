from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import pytest

from measurements.rivals import libraries
from measurements.speed import cases, measure

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row


def a_case(**changes: Any) -> cases.SpeedCase:
    """Return the usual case with some fields changed."""
    fields: dict[str, Any] = {
        "task": "search",
        "workload": "low-rank",
        "size": "full",
        "asked_n": None,
        "asked_N": None,
        "order": "row",
        "dtype": "float32",
        "method": "betting",
        "bounds": "scan",
        "k": 10,
        "threads": 2,
        "queries": 12,
        "seed": 0,
        "library_digest": "now",
    }
    return cases.SpeedCase(**(fields | changes))


def a_row(ratio: float = 20.0, **changes: Any) -> Row:
    """Return a row that looks like a measured one, in which numpy took `ratio` times as long."""
    seconds = {measure.OURS: 0.01, "numpy": 0.01 * ratio}
    return {
        **asdict(a_case()),
        "n": 10_000,
        "N": 100_000,
        "seconds": seconds,
        "quartiles": {name: [0.9 * taken, 1.1 * taken] for name, taken in seconds.items()},
        "ratios": {"numpy": ratio},
        "median_share": 0.002,
        "bytes_read": 8e6,
        "floor_seconds": 0.001,
        "reached": 0.1,
        "median_rounds": 30.0,
        "median_exact_scores": 10.0,
        "unconditional": True,
        "precision": {measure.OURS: 1.0},
        "peak_memory_growth": 3 << 20,
        "threads_agree": True,
        "bandwidth": 3e10,
        "line_seconds": 5e-9,
        "note": "",
        "library": "0",
        "python": "3",
        "cpu": "a machine",
        **{f"{name}_version": "1" for name in libraries.RIVALS},
        **changes,
    }


@pytest.fixture
def numpy_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the rivals that are not installed for tests."""
    only = {"numpy": libraries.RIVALS["numpy"]}
    monkeypatch.setattr(measure, "RIVALS", only)
