"""Makes a markdown table of the rows of `measurements.share.run`: ``python -m measurements.share.table FILE``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.harness.page import left_aligned
from sureshot.experiments import rows
from sureshot.experiments.numbers import per_cent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sureshot.experiments.rows import Row

# Method and bounds of each column, and its title.
COLUMNS = {
    ("betting", "limits"): "betting, limits",
    ("betting", "scan"): "betting, scan",
    ("betting", "none"): "betting, none",
    ("betting", "unit"): "betting, unit",
    ("bounded-me", "limits"): "BoundedME",
    ("successive-elimination-hoeffding", "limits"): "elimination, Hoeffding",
    ("successive-elimination-bernstein", "limits"): "elimination, Bernstein",
}

VALUES: dict[str, Callable[[Row], str]] = {
    "share": lambda row: per_cent(row["median_share"]),
    "max-share": lambda row: per_cent(row["max_share"]),
    "precision": lambda row: f"{row['precision']:.3f}",
    "exact-scores": lambda row: f"{row['median_exact_scores']:g}",
    "seconds": lambda row: f"{row['median_seconds']:.3g}",
    "speed-up": lambda row: f"{row['exact_median_seconds'] / row['median_seconds']:.2g}",
    "memory": lambda row: f"{(row['peak_memory_growth'] or 0) / 1e6:.0f} MB",
}


def lines(found: Iterable[Row], value: Callable[[Row], str]) -> list[str]:
    """Return the lines of the table; of several rows of one case the last one counts."""
    table: dict[tuple[str, ...], dict[tuple[str, str], str]] = {}
    for row in found:
        size = f"{row['n']:,} × {row['N']:,}"
        # BoundedME pulls single coordinates in any order of storage.
        block = "" if row["method"] == "bounded-me" else str(row["block"])
        label = (row["workload"], size, row["order"], block)
        table.setdefault(label, {})[row["method"], row["bounds"]] = value(row)
    _spread_over_blocks(table)
    used = [column for column in COLUMNS if any(column in cells for cells in table.values())]
    titles = ["workload", "n × N", "order", "block", *(COLUMNS[column] for column in used)]
    body = [
        [*label, *(cells.get(column, "–") for column in used)] for label, cells in table.items()
    ]
    return left_aligned(titles, body)


def _spread_over_blocks(table: dict[tuple[str, ...], dict[tuple[str, str], str]]) -> None:
    """Move cells without a block to the lines that have one, if there are any."""
    for label in [label for label in table if label[-1] == ""]:
        with_block = [other for other in table if other[:-1] == label[:-1] and other[-1]]
        for other in with_block:
            table[other].update(table[label])
        if with_block:
            del table[label]


def main() -> None:
    """Print the table of one file of rows."""
    parser = argparse.ArgumentParser(prog="python -m measurements.share.table", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--value", choices=VALUES, default="share", help="what the cells show")
    settings = parser.parse_args()
    if not settings.file.exists():
        parser.error(f"there is no file {settings.file}")
    print("\n".join(lines(rows.read(settings.file), VALUES[settings.value])))


if __name__ == "__main__":
    main()
