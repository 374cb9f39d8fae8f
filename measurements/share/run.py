"""How many of the numbers a search reads, by workload, storage order, bounds and method.

``python -m measurements.share.run --small`` ends within a minute or so. Rows of JSON are appended to
``--out`` as they are finished; rows that are there already are skipped, so the run can be interrupted
and started again. ``python -m measurements.share.table`` makes a table of them; ``--small --write`` puts rows and
table into docs.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measurements import workloads
from measurements.harness import command, machine, page
from measurements.harness.command import report
from measurements.share import table
from measurements.share.trials import ELIMINATIONS, ShareCase, measure, prepare
from sureshot.experiments import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

K = 10
DELTA = 0.05

# Workloads of bytes: the limits of their type are all that `bounds=None` adds, and so "limits".
BYTES = ("spectrograms", "spectrograms-centred")

BOUNDED_ME = "bounded-me"
METHODS = ("betting", BOUNDED_ME, *ELIMINATIONS)
# What reads nearly everything is not worth every query: at most this many, and the rows say why.
FEWER_QUERIES = {
    BOUNDED_ME: (1, "with epsilon = 0 the schedule pulls everything, for any data"),
    **dict.fromkeys(ELIMINATIONS, (3, "slow, and it reads nearly everything")),
    "gaussian": (3, "no gap, so every method ends with the exact product"),
    "uniform": (3, "no gap, so every method ends with the exact product"),
}


def cases(name: str, settings: argparse.Namespace) -> Iterator[ShareCase]:
    """Yield all that is measured on one workload."""
    for order in ("row", "coordinate"):
        for method in settings.methods:
            fewer = _fewer_queries(name, method)
            for bounds in _bounds_kinds(name, method):
                for block in _blocks(name, order, method, bounds):
                    yield ShareCase(
                        workload=name,
                        size="small" if settings.small else "full",
                        order=order,
                        block=block,
                        bounds=bounds,
                        method=method,
                        k=K,
                        delta=DELTA,
                        epsilon=0.0,
                        seed=settings.seed,
                        queries_made=settings.queries,
                        queries=min([settings.queries, *(count for count, _ in fewer)]),
                    )


def _fewer_queries(name: str, method: str) -> list[tuple[int, str]]:
    return [FEWER_QUERIES[key] for key in (name, method) if key in FEWER_QUERIES]


def _note(case: ShareCase) -> str:
    reasons = (reason for _, reason in _fewer_queries(case.workload, case.method))
    return "; ".join(f"few queries: {reason}" for reason in reasons)


def _bounds_kinds(name: str, method: str) -> list[str]:
    kinds = ["limits"]
    if method == "betting":
        kinds.append("scan")
        if name not in BYTES:
            kinds.append("none")
        if name in workloads.UNIT_ROWS:
            kinds.append("unit")
    return kinds


def _blocks(name: str, order: str, method: str, bounds: str) -> list[int]:
    """Return the blocks that the library takes: see `top_k`; for bytes 16 as well."""
    if method == BOUNDED_ME or (order == "coordinate" and bounds != "unit"):
        return [1]
    return [16, 64] if name in BYTES else [16]


def run_workload(name: str, settings: argparse.Namespace, environment: rows.Row) -> None:
    """Measure all that is missing on one workload, one storage order in memory at a time."""
    if command.lacks_file(name, settings):
        return
    wanted = list(cases(name, settings))
    todo = rows.missing(wanted, rows.read(settings.out))
    if len(todo) < len(wanted):
        report(f"{name}: {len(wanted) - len(todo)} of {len(wanted)} rows are there already")
    for order in ("row", "coordinate"):
        cases_of_order = [case for case in todo if case.order == order]
        if not cases_of_order:
            continue
        started = time.perf_counter()
        ready = prepare(cases_of_order[0], command.file_of(name, settings))
        report(f"{name}, {order} order: made in {time.perf_counter() - started:.1f} s")
        for case in cases_of_order:
            row = {**measure(ready, case), "note": _note(case), **environment}
            rows.append(settings.out, row)
            report(
                f"{name}, {order} order, block {case.block}, {case.bounds}, {case.method}: "
                f"share {row['median_share']:.3%}, at most {row['max_share']:.3%}, "
                f"precision {row['precision']:.3f}, promises missed {row['promises_missed']}, "
                f"{row['median_seconds']:.3g} s "
                f"against {row['exact_median_seconds']:.3g} s"
            )
        del ready


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m measurements.share.run", description=__doc__)
    parser.add_argument("--small", action="store_true", help="n = 1,000, N = 20,000, 5 queries")
    parser.add_argument(
        "--methods",
        type=command.names_in,
        default=list(METHODS),
        help=f"comma-separated, of: {', '.join(METHODS)}",
    )
    parser.add_argument("--queries", type=int, help="20, or 5 with --small")
    parser.add_argument("--out", type=Path, default=Path("results/share.jsonl"))
    parser.add_argument("--write", action="store_true", help="write table and rows to docs")
    command.add_options(parser, workloads.USUAL)
    settings = parser.parse_args(arguments)
    command.refuse_unknown(parser, "workloads", settings.workloads)
    command.refuse_unknown(parser, "methods", settings.methods)
    if settings.write and not settings.small:
        parser.error("--write: docs/share.md has the table of the small size, add --small")
    if settings.queries is None:
        settings.queries = 5 if settings.small else 20
    if settings.queries < 1:
        parser.error(f"--queries: expected at least 1, got {settings.queries}")
    return settings


def write(found: list[rows.Row], docs: Path = page.DOCS) -> None:
    """Write rows to the results of the documents, and their table into the page."""
    rows.write(docs / "results" / "share-small.jsonl", found)
    page.rewrite(docs / "share.md", {"small": table.lines(found, table.VALUES["share"])})


def main() -> None:
    """Measure the wanted workloads one after the other."""
    settings = parse()
    environment = machine.environment()
    for name in settings.workloads:
        run_workload(name, settings, environment)
    if settings.write:
        write(rows.read(settings.out))


if __name__ == "__main__":
    main()
