"""The comparison with scikit-learn's neighbours: what is measured, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="sureshot.estimators needs the extra [sklearn]")

from measurements.estimators import run, table
from sureshot.experiments import clock, rows

if TYPE_CHECKING:
    from pathlib import Path


def test_cases_of_one_matrix_follow_each_other() -> None:
    found = run.cases(run.WORKLOADS, run.MOST_NUMBERS, 2, 0, "now")
    assert len(found) == len(set(found))
    assert {case.N for case in found} == set(run.WIDTHS)
    assert max(case.n * case.N for case in found) <= run.MOST_NUMBERS


def test_rows_and_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "WIDTHS", (40,))
    monkeypatch.setattr(run, "MOST_ROWS", 50)
    monkeypatch.setattr(run, "CALLS", 1)
    monkeypatch.setattr(clock, "REST", 0.0)
    settings = run.parse(["--out", str(tmp_path / "rows.jsonl"), "--workloads", "low-rank"])
    found = run.run(settings)
    assert len(found) == len(run.METRICS) * len(run.BATCHES)
    assert run.run(settings) == found  # nothing is measured twice
    for row in found:
        assert row["largest_difference"] < 1e-3
        assert row["unconditional"]
        assert np.isfinite(row["ratio"])
    (tmp_path / "estimators.md").write_text("<!-- begin estimators -->\n<!-- end estimators -->")
    table.write(found, tmp_path)
    assert rows.read(tmp_path / "results" / "estimators.jsonl") == found
    assert "| 40 | 50 | 1 |" in (tmp_path / "estimators.md").read_text()
