"""The comparison of solvers: what is measured, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from measurements.solvers import cases, run, table
from sureshot.experiments import clock, rows

if TYPE_CHECKING:
    from pathlib import Path


def test_cases() -> None:
    found = cases.cases(4e8, cases.SAMPLES, 2, 0, "now")
    assert len(found) == len(set(found))
    assert {case.n for case in found} == set(cases.ATOMS)
    assert max(case.n for case in cases.cases(1e8, cases.SAMPLES, 2, 0, "now")) == 5_000


# copt imports what scipy no longer has.
@pytest.mark.filterwarnings("ignore:scipy.misc:DeprecationWarning")
def test_rows_tables_and_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn", reason="compared with")
    monkeypatch.setattr(cases, "ATOMS", (60,))
    monkeypatch.setattr(cases, "FEW", 4)
    monkeypatch.setattr(cases, "MOST_STEPS", 30)
    monkeypatch.setattr(run, "CALLS", {"omp": 1, "frank-wolfe": 1})
    monkeypatch.setattr(clock, "REST", 0.0)
    out = tmp_path / "rows.jsonl"
    settings = run.parse(["--samples", "300", "--out", str(out), "--most-numbers", "1e6"])
    settings.seconds = -1
    assert run.run(settings) == []
    settings.seconds = 100
    found = run.run(settings)
    assert [row["task"] for row in found] == ["omp"] * 2 + ["frank-wolfe"] * 6
    assert all(row["same_support"] for row in found if row["task"] == "omp")
    for row in found[2:]:
        assert row["steps"][cases.OURS] <= 1.05 * row["steps"][cases.EXACT] + 1
        # copt and the exact oracle take the same steps.
        if cases.COPT in row["steps"]:
            assert row["values"][cases.COPT] == pytest.approx(row["values"][cases.EXACT], rel=1e-3)
    names = ("solvers about", "pursuits", "minimisers")
    text = "\n".join(f"<!-- begin {name} -->\n<!-- end {name} -->" for name in names)
    (tmp_path / "solvers.md").write_text(text, encoding="utf-8")
    table.write(found, tmp_path)
    assert rows.read(tmp_path / "results" / "solvers.jsonl") == found
    assert "60 × 300" in (tmp_path / "solvers.md").read_text(encoding="utf-8")
    assert (tmp_path / "figures" / "pursuits.svg").exists()
