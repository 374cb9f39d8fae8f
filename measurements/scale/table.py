"""The table of files in docs/scale.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurements.harness import page
from measurements.scale.sides import MAP, OURS, OURS_WITHOUT, STREAM
from sureshot.experiments import rows
from sureshot.experiments.numbers import per_cent

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row

ROWS = "scale.jsonl"


def lines(found: list[Row]) -> list[str]:
    """Return the table of searches against products over the same file."""
    body = []
    for row in found:
        taken, read = row["seconds"], row["share_of_bytes"]
        fastest = min(taken[STREAM], taken[MAP])
        body.append(
            [
                f"{row['data']} {row['rows']:,} × {row['columns']:,}",
                row["state"],
                f"{row['bytes'] / 1e9:.0f} GB",
                f"{taken[STREAM]:.2f}",
                f"{taken[MAP]:.2f}",
                f"{taken[OURS]:.3f} ({_times(fastest / taken[OURS])})",
                f"{taken[OURS_WITHOUT]:.3f} ({_times(fastest / taken[OURS_WITHOUT])})",
                per_cent(read[OURS]),
                _megabytes(row["memory"][OURS]),
            ]
        )
    titles = ["data", "file", "size", f"{STREAM}, s", f"{MAP}, s", f"{OURS}, s"]
    titles += [f"{OURS_WITHOUT}, s", "of the bytes, scan", "memory, scan"]
    return page.left_aligned(titles, body)


def _times(ratio: float) -> str:
    return f"{ratio:.1f} ×" if ratio >= 2 else f"{ratio:.2f} ×"


def _megabytes(count: int | None) -> str:
    return "–" if count is None else f"{count / 1e6:.0f} MB"


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table into the page, and the rows beside it."""
    page.rewrite(docs / "scale.md", {"files": lines(found)})
    rows.write(docs / "results" / ROWS, found)
