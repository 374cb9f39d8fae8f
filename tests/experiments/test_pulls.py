"""The comparison of pulls: rows, tables and figure as separate steps that go on where they stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from sureshot.experiments import pulls, pulls_cases, pulls_figure, pulls_table, rows
from sureshot.theory.elimination import median_elimination
from tests.experiments import pictures

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

DOCS = Path(__file__).parents[2] / "docs"
TINY = replace(
    pulls_cases.SMALL,
    base=replace(pulls_cases.SMALL.base, n_arms=6, n_rewards=200, epsilon=0.4),
    n_rewards=(100, 200),
    n_arms=(6,),
    epsilon=(0.01, 0.4),
    delta=(0.05,),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of a tiny plan."""
    out = tmp_path_factory.mktemp("pulls")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pulls_cases, "SMALL", TINY)
        ended = CliRunner().invoke(pulls.main, ["--small", "--out", str(out)])
    assert ended.exit_code == 0, ended.output
    return out


@pytest.fixture(scope="module")
def found(folder: Path) -> list[Row]:
    return rows.read(folder / "results" / "pulls.jsonl")


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
    path = tmp_path / "pulls.jsonl"
    lines = [json.dumps(row) for row in found]
    cut = "\n".join([*lines[:-2], lines[-2][:20]])
    path.write_text(cut, encoding="utf-8")
    measured: list[pulls_cases.Case] = []

    def measure(case: pulls_cases.Case) -> Row:
        measured.append(case)
        return {"share": 1.0, "kind": "run"}

    monkeypatch.setattr(pulls_cases, "measure", measure)
    pulls.measure(TINY, path)
    assert len(measured) == 2
    assert len(rows.read(path)) == len(found)


def test_counted_pulls_are_those_that_would_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    case = replace(TINY.base, method="median-elimination", replacement=True)
    made = pulls_cases.measure(case)
    monkeypatch.setattr(pulls_cases, "MOST_PULLS", 0)
    counted = pulls_cases.measure(case)
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
    pulls_figure.save(pulls_figure.picture(found, TINY), again)
    first = picture(folder / "figures" / "bandit-pulls.svg")
    assert all(first.marks)
    pictures.assert_same(picture(again), first)


def picture(path: Path) -> pictures.Picture:
    return pictures.read(path.read_text(encoding="utf-8"))


def test_the_committed_figure_is_drawn_from_the_committed_rows(tmp_path: Path) -> None:
    committed = rows.read(DOCS / "results" / "pulls.jsonl")
    pulls_figure.save(pulls_figure.picture(committed, pulls_cases.FULL), tmp_path / "drawn.svg")
    there = picture(DOCS / "figures" / "bandit-pulls.svg")
    assert all(there.marks)
    pictures.assert_same(picture(tmp_path / "drawn.svg"), there)


def test_the_documented_tables_are_those_of_the_committed_rows() -> None:
    committed = rows.read(DOCS / "results" / "pulls.jsonl")
    assert rows.missing(pulls_cases.FULL.cases(), committed) == []
    text = (DOCS / "bandits.md").read_text(encoding="utf-8")
    for name, lines in pulls_table.sections(committed, pulls_cases.FULL).items():
        assert "\n".join([f"<!-- begin {name} -->", *lines, f"<!-- end {name} -->"]) in text


def test_no_run_of_the_committed_rows_lost_more_than_promised_too_often() -> None:
    committed = rows.read(DOCS / "results" / "pulls.jsonl")
    promised = [row for row in committed if row["kind"] == "run" and row["budget"] is None]
    lost = [row for row in promised if row["suboptimality"] > row["epsilon"] + 1e-12]
    assert len(lost) <= 0.05 * len(promised)
