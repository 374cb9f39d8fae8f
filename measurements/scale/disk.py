"""How fast a disk answers, next to the constants of `sureshot.storage.file`.

``python -m measurements.scale.disk FILE`` reads some of a file of a few GB that is not in memory, in requests of 4 KB to
1 MB, scattered and one after the other, and prints what each takes and what the constants predict. ``--write`` puts the
table into docs/scale.md. Nothing is changed: the constants are fixed in the code, and only their ratios matter.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from measurements.harness import machine, page
from measurements.scale import files, model
from sureshot import _native
from sureshot.experiments import clock, rows
from sureshot.storage import open_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.rows import Row

ROWS = "disk.jsonl"
# Bytes of a request, and whether each one follows the last.
KINDS = ((1 << 12, False), (1 << 14, False), (1 << 16, False), (1 << 20, True))
# What is read of each kind.
MOST_REQUESTS = 20_000
MOST_BYTES = 1 << 29


def measure(path: Path, size: int, *, in_order: bool, seed: int = 0) -> Row:
    """Time requests of one size, as many at a time as a search makes."""
    places = path.stat().st_size // size
    count = min(MOST_REQUESTS, MOST_BYTES // size, places)
    chosen = np.arange(count)
    if not in_order:
        chosen = np.random.default_rng(seed).choice(places, count, replace=False)
    out = np.empty(count * size, np.uint8)
    out[:] = 0  # so that no page of it is new
    files.drop_from_memory(path)
    opened = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(opened, 0, 0, os.POSIX_FADV_RANDOM)
        reader = _native.FileReader(open_file.REQUESTS)
        _, seconds = clock.timed(partial(reader.read, opened, chosen * size, size, out))
    finally:
        os.close(opened)
    return {"request_bytes": size, "in_order": in_order, "requests": count, "seconds": seconds}


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table of requests, measured and predicted."""
    body = []
    for row in found:
        size, taken = row["request_bytes"], row["seconds"] / row["requests"]
        body.append(
            [
                f"{size >> 10:,} KB",
                "one after the other" if row["in_order"] else "scattered",
                f"{1 / taken:,.0f}",
                f"{size / taken / 1e6:,.0f}",
                f"{1e6 * taken:.0f} µs",
                f"{1e6 * predicted(row):.0f} µs",
            ]
        )
    titles = ["request", "where", "requests/s", "MB/s", "each", "by the constants"]
    return page.left_aligned(titles, body)


def predicted(row: Row) -> float:
    """Return what one request of a row takes by the constants, in seconds."""
    requests = 0 if row["in_order"] else 1
    return model.seconds(model.Work(requests, row["request_bytes"]), model.DISK)


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(prog="python -m measurements.scale.disk", description=__doc__)
    parser.add_argument("path", type=Path, metavar="FILE")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    settings = parser.parse_args()
    found = [
        {**machine.environment(), **measure(settings.path, size, in_order=in_order)}
        for size, in_order in KINDS
    ]
    print(*lines(found), sep="\n")
    if settings.write:
        page.rewrite(page.DOCS / "scale.md", {"disk": lines(found)})
        rows.write(page.DOCS / "results" / ROWS, found)


if __name__ == "__main__":
    main()
