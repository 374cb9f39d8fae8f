"""The pulls of the bandits: rows, tables and figure as separate steps that go on where they stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from measurements.bandits import cases, figure, run, table
from measurements.harness.page import DOCS
from sureshot.experiments import rows
from sureshot.theory.elimination import median_elimination
from tests import pictures

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row

TINY = replace(
    cases.SMALL,
    base=replace(cases.SMALL.base, n_arms=6, n_rewards=200, epsilon=0.4),
    n_rewards=(100, 200),
    n_arms=(6,),
    epsilon=(0.01, 0.4),
    delta=(0.05,),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a tiny sweep."""
    out = tmp_path_factory.mktemp("bandits")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cases, "SMALL", TINY)
        ended = CliRunner().invoke(run.main, ["--small", "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    return out


@pytest.fixture(scope="module")
def found(folder: Path) -> list[Row]:
    return rows.read(folder / "results" / "bandits.jsonl")


def test_every_case_has_a_row_that_says_how_to_repeat_it(found: list[Row]) -> None:
    assert len(found) == len(TINY.cases())
    for row in found:
        assert {"seed", "library", "numpy", "python", "cpu", "method", "kind"} <= set(row)
        assert row["pulls"] == pytest.approx(row["share"] * row["n_arms"] * row["n_rewards"])
        if row["kind"] == "run":
            assert row["seconds"] > 0
            assert 0 <= row["suboptimality"] <= 1
        else:
            assert row["method"] == "median-elimination"
            assert row["replacement"]
    assert {row["kind"] for row in found} == {"run", "schedule"}


def test_a_run_goes_on_where_it_stopped(
    folder: Path, found: list[Row], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bandits.jsonl"
    lines = [json.dumps(row) for row in found]
    cut = "\n".join([*lines[:-2], lines[-2][:20]])
    path.write_text(cut, encoding="utf-8")
    measured: list[cases.BanditCase] = []

    def measure(case: cases.BanditCase) -> Row:
        measured.append(case)
        return {"share": 1.0, "kind": "run"}

    monkeypatch.setattr(cases, "measure", measure)
    run.measure(TINY, path)
    assert len(measured) == 2
    assert len(rows.read(path)) == len(found)


def test_counted_pulls_are_those_that_would_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(TINY.base, method="median-elimination", replacement=True)
    made = cases.measure(case)
    monkeypatch.setattr(cases, "MOST_PULLS", 0)
    counted = cases.measure(case)
    assert (made["kind"], counted["kind"]) == ("run", "schedule")
    assert made["pulls"] == counted["pulls"]
    assert len(median_elimination(6, 0.4, 3.0, 1.0)) == counted["rounds"]


def test_the_page_has_all_tables_and_the_same_rows_give_the_same_files(
    folder: Path, found: list[Row], tmp_path: Path
) -> None:
    text = (folder / "bandits.md").read_text(encoding="utf-8")
    for name in ("betting", "bounded-me", "median-elimination", "lucb, without", "exponential-gap"):
        assert f"| {name} |" in text
    again = tmp_path / "again.svg"
    figure.save(figure.picture(found, TINY), again)
    first = picture(folder / "figures" / "bandits.svg")
    assert all(first.marks)
    pictures.assert_same(picture(again), first)


def picture(path: Path) -> pictures.Picture:
    return pictures.read(path.read_text(encoding="utf-8"))


def test_the_committed_figure_is_drawn_from_the_committed_rows(tmp_path: Path) -> None:
    committed = rows.read(DOCS / "results" / "bandits.jsonl")
    figure.save(figure.picture(committed, cases.FULL), tmp_path / "drawn.svg")
    there = picture(DOCS / "figures" / "bandits.svg")
    assert all(there.marks)
    pictures.assert_same(picture(tmp_path / "drawn.svg"), there)


def test_the_documented_tables_are_those_of_the_committed_rows() -> None:
    committed = rows.read(DOCS / "results" / "bandits.jsonl")
    assert rows.missing(cases.FULL.cases(), committed) == []
    text = (DOCS / "bandits.md").read_text(encoding="utf-8")
    for name, lines in table.sections(committed, cases.FULL).items():
        assert "\n".join([f"<!-- begin {name} -->", *lines, f"<!-- end {name} -->"]) in text


def test_no_run_of_the_committed_rows_lost_more_than_promised_too_often() -> None:
    committed = rows.read(DOCS / "results" / "bandits.jsonl")
    promised = [row for row in committed if row["kind"] == "run" and row["budget"] is None]
    lost = [row for row in promised if row["suboptimality"] > row["epsilon"] + 1e-12]
    assert len(lost) <= 0.05 * len(promised)
