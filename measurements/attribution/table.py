"""The tables and the figure of docs/attribution.md, from the rows of searches and of the example.

``python -m measurements.attribution.table --speed FILE`` writes the rows of `measurements.attribution.run`, and
``--story FILE`` those of ``examples/find_flipped_labels.py --rows FILE``.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.attribution import figure
from measurements.attribution.sides import EXACT, NUMPY, OURS, TORCH
from measurements.harness import page
from sureshot.experiments import drawing, rows
from sureshot.experiments.numbers import milliseconds, per_cent

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

SPEED, STORY = "attribution.jsonl", "flipped-labels.jsonl"


def speed_lines(found: list[Row]) -> list[str]:
    """Return the table of searches against products over the same map."""
    body = []
    for row in found:
        taken = row["seconds"]
        fastest = min(taken[name] for name in (EXACT, NUMPY, TORCH) if name in taken)
        body.append(
            [
                f"{row['rows']:,} × {row['columns']:,}",
                "directions" if row["unit_norm"] else "inner products",
                milliseconds(taken[OURS]),
                per_cent(row["share"]),
                milliseconds(taken[EXACT]),
                milliseconds(taken[TORCH]) if TORCH in taken else "–",
                milliseconds(taken[NUMPY]),
                f"{fastest / taken[OURS]:.1f} ×",
                f"{row['norms_seconds']:.2f} s",
            ]
        )
    titles = ["rows × numbers", "by", "sureshot, ms", "read", "exact product, ms"]
    titles += ["torch, ms", "numpy, ms", "against the fastest product", "norms, once"]
    return page.left_aligned(titles, body)


def story_lines(found: list[Row]) -> list[str]:
    """Return the table of what full gradients and projections find."""
    body = [
        [
            row["by"],
            "directions" if row["unit_norm"] else "inner products",
            per_cent(row["kept"]),
            per_cent(row["precision"]),
            per_cent(row["first"]),
            milliseconds(row["milliseconds"] / 1e3),
            f"{row['seconds_before']:.0f} s" if row["seconds_before"] else "–",
        ]
        for row in found
    ]
    titles = ["searched", "by", "of the true top 10", "wrong labels among the 10"]
    titles += ["wrong labels in first place", "ms a query", "projecting, once"]
    return page.left_aligned(titles, body)


def write_speed(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table of searches into the page, and the rows beside it."""
    page.rewrite(docs / "attribution.md", {"speed": speed_lines(found)})
    rows.write(docs / "results" / SPEED, found)


def write_story(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table of the example into the page, and the rows and the figure beside it."""
    page.rewrite(docs / "attribution.md", {"story": story_lines(found)})
    rows.write(docs / "results" / STORY, found)
    path = docs / "figures" / f"{figure.NAME}.svg"
    path.write_text(drawing.svg(figure.NAME, figure.picture(found)), encoding="utf-8")


def main() -> None:
    """Write what is given."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.attribution.table", description=__doc__
    )
    parser.add_argument("--speed", type=Path)
    parser.add_argument("--story", type=Path)
    settings = parser.parse_args()
    for file, write in ((settings.speed, write_speed), (settings.story, write_story)):
        if file is not None:
            found = rows.read(file)
            if not found:
                parser.error(f"there are no rows in {file}")
            write(found)


if __name__ == "__main__":
    main()
