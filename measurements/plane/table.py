"""Draws the plane of docs/benchmarks.md from the rows of `measurements.plane.run`.

``python -m measurements.plane.table FILE`` writes the tables and the figure of the last run in a file of rows.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.harness import page
from measurements.plane import figure
from measurements.plane.cases import BATCHES, SMALL
from measurements.plane.sides import OURS
from sureshot.experiments import drawing, rows
from sureshot.experiments.numbers import milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sureshot.experiments.rows import Row

# What one query may cost.
LEAST_RATIO, FIXED_COST = 0.85, 60e-6


def plane(found: list[Row], batches: Iterable[int]) -> list[str]:
    """Return the table of all sizes and batches, inner products."""
    body = [
        [
            f"{row['n']:,} × {row['N']:,}",
            f"{batch:,}",
            row["workload"],
            *_against(row),
            row["algorithm"],
        ]
        for batch in batches
        for row in sorted(found, key=lambda row: (row["n"], row["N"], row["workload"]))
        if row["batch"] == batch and row["metric"] == "ip" and figure.on_plane(row)
    ]
    titles = ["n × N", "batch", "data", "fastest rival", "its ms", "sureshot, ms", "ratio", "by"]
    return page.left_aligned(titles, body)


def metrics(found: list[Row]) -> list[str]:
    """Return the table of small and middle sizes, one query, all metrics."""
    body = [
        [
            f"{row['n']:,} × {row['N']:,}",
            row["metric"],
            row["workload"],
            *_against(row),
            _allowed(row),
        ]
        for n, N in SMALL
        for row in found
        if (row["n"], row["N"], row["batch"]) == (n, N, 1)
    ]
    titles = ["n × N", "metric", "data", "fastest rival", "its ms", "sureshot, ms", "ratio"]
    return page.left_aligned([*titles, "0.85 × and 60 µs"], body)


def _against(row: Row) -> list[str]:
    taken = row["seconds"]
    times = [milliseconds(taken[row["fastest"]]), milliseconds(taken[OURS])]
    return [row["fastest"], *times, f"{row['ratio']:.2f} ×"]


def _allowed(row: Row) -> str:
    """Return whether a call takes no longer than the rival does at 0.85 of its speed, and its fixed cost."""
    allowed = row["seconds"][row["fastest"]] / LEAST_RATIO + FIXED_COST
    return "yes" if row["seconds"][OURS] <= allowed else "no"


def summary(found: list[Row]) -> list[str]:
    """Return in words how many cases are at least as fast as the fastest rival."""
    mine = [row for row in found if row["metric"] == "ip" and figure.on_plane(row)]
    lines = []
    for batch in BATCHES:
        ratios = sorted(row["ratio"] for row in mine if row["batch"] == batch)
        if ratios:
            level = sum(ratio >= 0.9 for ratio in ratios)
            lines.append(
                f"- batch of {batch:,}: {level} of {len(ratios)} cases at 0.9 or more of the fastest rival's speed; "
                f"smallest {ratios[0]:.2f}, median {ratios[len(ratios) // 2]:.2f}, largest {ratios[-1]:.1f}"
            )
    last = mine[-1]
    about = (
        f"{len(mine)} cases; {last['threads']} threads on {last['cpu']}; sureshot {last['library']} "
        f"({last['library_digest']}); seed {last['seed']}."
    )
    return [about, "", *lines]


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the tables into docs/benchmarks.md, and the rows and the figure beside it."""
    page.rewrite(
        docs / "benchmarks.md",
        {
            "plane summary": summary(found),
            "plane": plane(found, BATCHES),
            "metrics": metrics(found),
        },
    )
    rows.write(docs / "results" / "plane.jsonl", found)
    path = docs / "figures" / f"{figure.NAME}.svg"
    path.write_text(drawing.svg(figure.NAME, figure.picture(found)), encoding="utf-8")


def main() -> None:
    """Write the tables and the figure of one file of rows to docs/."""
    parser = argparse.ArgumentParser(prog="python -m measurements.plane.table", description=__doc__)
    parser.add_argument("file", type=Path)
    settings = parser.parse_args()
    found = rows.read(settings.file)
    if not found:
        parser.error(f"there are no rows in {settings.file}")
    write([row for row in found if row["library_digest"] == found[-1]["library_digest"]])


if __name__ == "__main__":
    main()
