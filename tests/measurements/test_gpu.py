"""The table and the figure of searches on a card, from rows that were measured elsewhere."""

from __future__ import annotations

from typing import Any

from measurements.gpu import figure, run, table


def a_row(**changes: Any) -> dict[str, Any]:
    return {
        "set": "low rank",
        "dtype": "float32",
        "gigabytes": 4.0,
        "rows": 10_000,
        "columns": 100_000,
        "batch": 1,
        "right": 20,
        "asked": 20,
        "torch_device": 1000.0,
        "torch_wall": 1100.0,
        "device": 80.0,
        "wall": 110.0,
        "share": 0.0147,
        "device_name": "a card",
        "driver": "580",
        "clock": "1980 MHz",
        "memory_clock": "3201 MHz",
        "torch": "2.11",
        "python": "3.12",
        **changes,
    }


def test_the_table() -> None:
    found = [a_row(batch=16), a_row(gigabytes=80.0, wall=55.0), a_row()]
    titles, _, *lines = table.lines(found)
    assert titles.count("|") == 9
    assert [line.split(" | ")[1:3] for line in lines] == [
        ["4 GB", "1"],
        ["80 GB", "1"],
        ["4 GB", "16"],
    ]
    assert "| 10 × |" in lines[0]
    assert "20 of 20" in lines[0]
    (words,) = table.sentence(found)
    assert "a card" in words


def test_every_case_has_a_data_set_and_a_row() -> None:
    assert len(set(run.CASES)) == len(run.CASES)
    assert run.key(a_row()) in run.CASES


def test_the_figure_has_a_line_for_each_set_and_type() -> None:
    found = [
        a_row(),
        a_row(gigabytes=80.0),
        a_row(dtype="bfloat16"),
        a_row(set="gaussian", batch=16),
    ]
    one, several = figure.picture(found).axes
    assert [len(axes.get_legend_handles_labels()[1]) for axes in (one, several)] == [2, 1]
