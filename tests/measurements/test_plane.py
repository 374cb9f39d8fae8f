"""The plane of sizes and batches: what is measured, and what is made of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from measurements import workloads
from measurements.plane import cases, figure, run, sides, table
from measurements.rivals import libraries
from sureshot.experiments import rows

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row


def a_case(**changes: object) -> cases.PlaneCase:
    fields = {"workload": "low-rank", "metric": "ip", "n": 100, "N": 1_000, "batch": 1}
    fields |= {"threads": 1, "seed": 0, "library_digest": "now"} | changes
    return cases.PlaneCase(**fields)  # type: ignore[arg-type]


@pytest.fixture
def numpy_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the rivals that are not installed for tests."""
    monkeypatch.setattr(sides, "RIVALS", {"numpy": libraries.RIVALS["numpy"]})
    monkeypatch.setattr(run, "SECONDS", 0.001)


def measured(case: cases.PlaneCase) -> Row:
    made = workloads.make(case.workload, n=case.n, N=case.N, queries=case.batch)
    found = run.measure(case, made.data, made.queries.astype(np.float32))
    return {**found, "library": "0", "cpu": "a machine"}


def test_the_cases_of_one_matrix_follow_each_other_and_have_room() -> None:
    found = cases.cases(cases.WORKLOADS, cases.MOST_NUMBERS, 2, 0, "now")
    assert len(found) == len(set(found))
    keys = [key for key, _ in itertools.groupby(found, cases.PlaneCase.data_key)]
    assert len(keys) == len(set(keys))
    assert {case.batch for case in found} == set(cases.BATCHES)
    assert {case.metric for case in found} == set(cases.METRICS)
    assert max(case.n * case.N for case in found) == cases.MOST_NUMBERS
    assert max(case.batch * case.N for case in found) <= cases.MOST_NUMBERS_OF_QUERIES


def test_single_queries_can_be_measured_alone() -> None:
    everything = cases.cases(cases.WORKLOADS, cases.MOST_NUMBERS, 2, 0, "now")
    alone = cases.cases(cases.WORKLOADS, cases.MOST_NUMBERS, 2, 0, "now", [1])
    assert alone == [case for case in everything if case.batch == 1]
    assert run.parse(["--batches", "1", "16"]).batches == [1, 16]


@pytest.mark.usefixtures("numpy_only")
@pytest.mark.parametrize(
    "changes", [{}, {"batch": 16}, {"metric": "cosine"}, {"workload": "gaussian"}]
)
def test_a_case_becomes_a_row(changes: dict[str, object]) -> None:
    row = measured(a_case(**changes))
    assert row["fastest"] == "numpy"
    assert row["ratio"] > 0
    assert row["algorithm"]


def test_a_ratio_is_the_median_of_the_turns() -> None:
    """In the second turn the machine was half as fast for both, in the third one for one of them."""
    theirs, ours = [[4.0, 4.0], [8.0], [4.0]], [[2.0], [4.0, 4.0], [4.0]]
    assert run.ratio(theirs, ours) == 2
    assert run.ratio(theirs[:1], ours) == 2  # of a side that was slow, and had no other turn
    assert run.median(theirs) == 4
    assert run.median([]) == np.inf


@pytest.mark.usefixtures("numpy_only")
def test_numpy_finds_what_the_library_finds() -> None:
    made = workloads.make("low-rank", n=200, N=300, queries=1)
    asked = made.queries.astype(np.float32)
    for metric in ("ip", "cosine"):
        calls = sides.sides(made.data, asked, metric, 5, 1)
        assert set(calls["numpy"]()) == set(calls[sides.OURS]().indices)


@pytest.mark.usefixtures("numpy_only")
def test_rows_become_tables_and_a_figure(tmp_path: Path) -> None:
    found = [measured(a_case()), measured(a_case(batch=16)), measured(a_case(n=100, N=200))]
    assert len(table.plane(found, cases.BATCHES)) == 2 + 2
    assert len(table.metrics(found)) == 2 + 1
    assert "2 cases" in table.summary(found)[0]
    assert figure.picture(found).axes
    for folder in ("results", "figures"):
        (tmp_path / folder).mkdir()
    marks = [f"<!-- begin {name} -->\n<!-- end {name} -->" for name in ("plane summary", "plane")]
    text = "\n".join([*marks, "<!-- begin metrics -->\n<!-- end metrics -->"])
    (tmp_path / "benchmarks.md").write_text(text, encoding="utf-8")
    table.write(found, tmp_path)
    assert rows.read(tmp_path / "results" / "plane.jsonl") == found
    assert "100 × 1,000" in (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
