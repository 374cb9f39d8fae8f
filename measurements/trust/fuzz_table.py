"""The table of docs/trust.md on hostile arguments and files, from rows."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from measurements.harness import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sureshot.experiments.rows import Row


def summary(raw: Iterable[Row]) -> list[Row]:
    """Add up the batches of each kind."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in raw:
        groups[row["kind"]].append(row)
    return [
        {
            "kind": kind,
            "inputs": sum(row["inputs"] for row in group),
            "answered": sum(row["answered"] for row in group),
            "found": sum(len(row["found"]) for row in group),
            "seeds": len({row["seed"] for row in group}),
            "commits": sorted({row["commit"] for row in group}),
        }
        for kind, group in sorted(groups.items())
    ]


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table: how many inputs, and what came of them."""
    body = [
        [
            row["kind"],
            f"{row['inputs']:,}",
            f"{row['answered']:,}",
            f"{row['inputs'] - row['answered'] - row['found']:,}",
            f"{row['found']:,}",
        ]
        for row in found
    ]
    return page.table(["inputs of", "tried", "answered", "clear errors", "anything else"], body)
