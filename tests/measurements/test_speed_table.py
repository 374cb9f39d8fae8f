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
    assert cells["of bandwidth"] == "10.0 %"


def test_several_k_are_shown_together() -> None:
    found = [a_row(k=10), a_row(k=1), a_row(k=10, bounds="limits")]
    lines = table.by_k(found)[2:]
    assert [line.split(" | ")[3] for line in lines] == ["1", "10"]


def test_growth_is_in_order() -> None:
    sizes = [(None, 10_000), (1_000, 1_000), (3_000, 3_000)]
    found = [a_row(asked_n=asked, n=n) for asked, n in sizes]
    found.append(a_row(asked_N=10_000, N=10_000))
    assert [row["n"] for row in table.growing(found, "n")] == [1_000, 3_000, 10_000]
    assert [row["N"] for row in table.growing(found, "N")] == [10_000, 100_000]


def test_rows_fill_the_page(tmp_path: Path) -> None:
    shutil.copy(page.DOCS / "benchmarks.md", tmp_path)
    (tmp_path / "results").mkdir()
    found = [a_row(17.77, order=order) for order in ("row", "coordinate")]
    found.append(a_row(task="batch"))
    found.append(a_row(task="scan", method="scan", note="slow"))
    table.write(found, tmp_path)
    text = (tmp_path / "benchmarks.md").read_text("utf-8")
    assert "17.8 ×" in text
    assert "| low-rank, float32, row-major, bounds: scan | 15 × | 17.8 × | met |" in text
    assert (tmp_path / "figures" / "speed.svg").stat().st_size > 0
    lines = (tmp_path / "results" / "speed-full.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == found
    table.write(found, tmp_path)
    assert (tmp_path / "benchmarks.md").read_text("utf-8") == text


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="begin k"):
        page.insert("<!-- end k -->", "k", [])
