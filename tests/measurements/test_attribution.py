"""Searches of stores against products: what is measured, and what is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from measurements.attribution import figure, run, sides, table
from measurements.harness.page import DOCS
from sureshot.experiments import drawing, rows
from tests import pictures
from tests.measurements.test_pages import assert_on_page

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    monkeypatch.setitem(run.SIZES, "small", ((120, 3_000),))
    options = ["--folder", str(tmp_path / "stores"), "--out", str(tmp_path / "rows.jsonl")]
    return run.run(run.parse([*options, "--queries", "3"]))


def test_a_case_becomes_a_row(measured: list[Row], tmp_path: Path) -> None:
    assert [row["unit_norm"] for row in measured] == [False, True]
    for row in measured:
        assert row["precision"][sides.OURS] == 1.0
        assert row["precision"][sides.NUMPY] > 0.9  # its sums are float32
        assert row["dtype"] == "bfloat16"
        assert row["bytes"] == 2 * row["rows"] * row["columns"]
    assert len(table.speed_lines(measured)) == 2 + 2
    assert len(list((tmp_path / "stores").iterdir())) == 2  # a store and its queries, made once


def test_torch_reads_the_map_itself(measured: list[Row], tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: nox -s attribution")
    assert all(row["precision"][sides.TORCH] > 0.8 for row in measured)  # the query is bfloat16


def a_story() -> list[Row]:
    return rows.read(DOCS / "results" / table.STORY)


def test_the_story_is_that_of_the_rows() -> None:
    assert_on_page("attribution.md", "story", table.story_lines(a_story()))
    name = f"{figure.NAME}.svg"
    committed = pictures.read((DOCS / "figures" / name).read_text(encoding="utf-8"))
    assert any(committed.marks)
    drawn = drawing.svg(figure.NAME, figure.picture(a_story()))
    pictures.assert_same(pictures.read(drawn), committed)


def test_the_speeds_are_those_of_the_rows() -> None:
    found = rows.read(DOCS / "results" / table.SPEED)
    assert_on_page("attribution.md", "speed", table.speed_lines(found))
    assert all(row["unconditional"] for row in found)
    assert all(row["precision"][sides.OURS] == 1.0 for row in found)


def test_a_page_is_written(measured: list[Row], tmp_path: Path) -> None:
    for folder in ("results", "figures"):
        (tmp_path / folder).mkdir()
    marks = "".join(f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in ("speed", "story"))
    (tmp_path / "attribution.md").write_text(marks, encoding="utf-8")
    table.write_speed(measured, tmp_path)
    table.write_story(a_story(), tmp_path)
    text = (tmp_path / "attribution.md").read_text(encoding="utf-8")
    assert "120 × " in text
    assert "projected to" in text
    assert np.all([(tmp_path / "results" / name).exists() for name in (table.SPEED, table.STORY)])
