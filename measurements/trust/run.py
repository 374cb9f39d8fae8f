"""Make hostile searches on all cores, and write what they say to docs/trust.md.

``python -m measurements.trust.run --searches 1000000 --minutes 60 --write``. An interrupted run goes on with the same
command: what is there is not searched again.
"""

from __future__ import annotations

import multiprocessing
import time
from typing import TYPE_CHECKING

from measurements.harness import command, machine, page
from measurements.trust import cases, figure, running, searches, table
from sureshot.experiments import drawing, rows

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

COMMITTED = page.DOCS / "results" / "trust-searches.jsonl"
REPORT_EVERY = 20.0  # seconds


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    return running.parser_of("searches", 1_000_000, 60, __doc__).parse_args(arguments)


def measure(settings: argparse.Namespace) -> None:
    """Search what is missing, as long as there is time, and append a row for each table."""
    left = rows.missing(cases.parts(settings.searches), rows.read(settings.out))
    end = time.monotonic() + 60 * settings.minutes
    reported, made, wrong = time.monotonic(), 0, 0
    found_with = {"commit": machine.environment()["commit"]}
    with multiprocessing.get_context("spawn").Pool(settings.processes) as pool:
        for row in pool.imap_unordered(searches.measure, left):
            rows.append(settings.out, {**row, **found_with})
            made, wrong = made + row["trials"], wrong + row["wrong"]
            if row["broken"]:
                command.report(f"a broken promise: {row}")
            if time.monotonic() - reported > REPORT_EVERY:
                command.report(
                    f"{made:,} of {len(left) * cases.TRIALS:,} searches, {wrong:,} wrong"
                )
                reported = time.monotonic()
            if time.monotonic() > end:
                command.report(f"time is over after {made:,} searches: the same command goes on")
                pool.terminate()
                break


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and write the pages if asked to."""
    settings = parse(arguments)
    if settings.minutes > 0:
        measure(settings)
    found = table.summary(rows.read(settings.out))
    print("\n".join(table.lines(found)))
    if settings.write:
        rows.write(COMMITTED, [{**row, "seed": searches.SEED} for row in found])
        page.rewrite(page.DOCS / "trust.md", table.sections(found))
        drawn = drawing.svg(figure.NAME, figure.picture(found))
        (page.DOCS / "figures" / f"{figure.NAME}.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
