"""The table of searches on a card in docs/gpu.md, and its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurements.gpu import figure
from measurements.gpu.figure import COLUMNS
from measurements.harness import page
from sureshot.experiments import drawing, rows
from sureshot.experiments.numbers import digits, per_cent

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row

ROWS = "gpu.jsonl"
PAGE = "gpu.md"
read = rows.read


def lines(found: list[Row]) -> list[str]:
    """Return the table: times in microseconds, and how many times faster than torch."""
    ordered = sorted(
        found,
        key=lambda row: (
            row["columns"] != COLUMNS,
            row["batch"],
            row["dtype"] != "float32",
            row["gigabytes"],
            row["set"],
            row["columns"],
        ),
    )
    body = [
        [
            kind_of(row),
            f"{row['gigabytes']:g} GB",
            str(row["batch"]),
            f"{row['torch_device']:,.0f} / {row['torch_wall']:,.0f}",
            f"{row['device']:,.0f} / {row['wall']:,.0f}",
            f"{digits(row['torch_wall'] / row['wall'], 3)} ×",
            per_cent(row["share"]),
            f"{row['right']} of {row['asked']}",
        ]
        for row in ordered
    ]
    titles = ["data", "size", "queries", "torch, device / wall µs", "sureshot, device / wall µs"]
    titles += ["times torch, wall", "read", "right"]
    return page.left_aligned(titles, body)


def kind_of(row: Row) -> str:
    """Return data set and type, and the number of columns where it is not the usual one."""
    kind = f"{row['set']}, {row['dtype']}"
    return kind if row["columns"] == COLUMNS else f"{kind}, {row['columns']:,} columns"


def sentence(found: list[Row]) -> list[str]:
    """Return what was measured on."""
    row = found[0]
    clocks = f"clocks {row['clock']} and {row['memory_clock']} (memory)"
    libraries = f"torch {row['torch']}, Python {row['python']}"
    return [f"{row['device_name']}, driver {row['driver']}, {clocks}, {libraries}."]


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table into the page, and the rows beside it."""
    page.rewrite(docs / PAGE, {"gpu": lines(found), "gpu machine": sentence(found)})
    picture = drawing.svg(figure.NAME, figure.picture(found))
    (docs / "figures" / f"{figure.NAME}.svg").write_text(picture, encoding="utf-8")
    rows.write(docs / "results" / ROWS, found)
