from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from measurements.harness import page
from measurements.speed import table
from tests.measurements.conftest import a_row

if TYPE_CHECKING:
    from pathlib import Path


def test_only_the_rows_of_one_run_are_shown() -> None:
    others = [a_row(library_digest="before"), a_row(threads=1), a_row(size="small"), a_row(seed=1)]
    first, again, limits = a_row(2.0), a_row(3.0), a_row(4.0, bounds="limits")
    assert table.of_run([*others, first, limits, again], again) == [again, limits]
    assert table.of_run(others, again) == []


def test_the_main_table() -> None:
    titles, _, line = table.by_workload([a_row(12.3456), a_row(k=1), a_row(asked_n=5)])
    cells = dict(zip(titles.split(" | "), line.split(" | "), strict=True))
    assert cells["numpy"] == "12.3 ×"
    assert cells["faiss"] == "–"
    assert cells["ms"] == "10.0"
    assert cells["quartiles"] == "9.00–11.0"
    assert cells["share read"] == "0.200 %"
    assert cells["numpy at the floor"] == "123 ×"


def test_several_k_are_shown_together() -> None:
    found = [a_row(k=10), a_row(k=1), a_row(k=10, bounds="limits")]
    lines = table.by_k(found)[2:]
    assert [line.split(" | ")[3] for line in lines] == ["1", "10"]


def test_growth_is_in_order() -> None:
    found = [a_row(asked_n=asked, n=n) for asked, n in [(None, 10_000), (1_000, 1_000)]]
    wide = [
        a_row(workload=name, asked_n=2_000, asked_N=N, n=2_000, N=N)
        for name in ("fashion-gradients", "low-rank")
        for N in (1_000_000, 10_000)
    ]
    found.append(a_row(order="coordinate", asked_n=2_000, asked_N=10_000, n=2_000, N=10_000))
    assert [row["n"] for row in table.taller(found + wide)] == [1_000, 10_000]
    assert [(row["workload"], row["N"]) for row in table.wider(found + wide)] == [
        ("low-rank", 10_000),
        ("low-rank", 1_000_000),
        ("fashion-gradients", 10_000),
        ("fashion-gradients", 1_000_000),
    ]


def test_the_floor_is_that_of_scattered_lines() -> None:
    row = a_row(20.0, floor_seconds=0.002)
    assert table.at_the_floor(row) == "100 ×"
    del row["line_seconds"]
    assert table.at_the_floor(row) == table.COLUMNS["floor, ms"](row) == "–"


def test_rows_fill_the_page(tmp_path: Path) -> None:
    shutil.copy(page.DOCS / "benchmarks.md", tmp_path)
    (tmp_path / "results").mkdir()
    found = [a_row(17.77, order=order) for order in ("row", "coordinate")]
    found += [a_row(asked_n=2_000, asked_N=N, n=2_000, N=N) for N in (10_000, 1_000_000)]
    found.append(a_row(task="batch"))
    found.append(a_row(task="scan", method="scan", note="slow"))
    table.write(found, tmp_path)
    text = (tmp_path / "benchmarks.md").read_text("utf-8")
    assert "17.8 ×" in text
    assert "| low-rank, float32, row-major, bounds: scan | 30 × | 17.8 × | not met |" in text
    assert (tmp_path / "figures" / "speed.svg").stat().st_size > 0
    lines = (tmp_path / "results" / "speed-full.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == found
    table.write(found, tmp_path)
    assert (tmp_path / "benchmarks.md").read_text("utf-8") == text


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="begin k"):
        page.insert("<!-- end k -->", "k", [])
