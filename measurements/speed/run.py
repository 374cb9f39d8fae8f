"""How fast a search is next to numpy, faiss.knn and usearch, which read everything.

In every case the library and its rivals are timed in one process and with the same number of threads,
each in a loop of its own with a rest before it. ``python -m measurements.speed.run --small`` takes a minute or two
and shows the form; the targets are for the full size (4 GB of float32, the widest rows 8 GB).
Rows of JSON are appended to ``--out`` as they are finished; rows of the same state of the library
that are there already are skipped, so the run can be interrupted and started again, or made in parts: ``--workloads``
says which data, ``--minutes`` when to stop. At the end the tables of all rows that are there are printed; ``--write`` puts them, the rows and the figure into docs/. ``--check`` exits with
1 if a target is not met.
"""

from __future__ import annotations

import argparse
import itertools
import math
import time
from pathlib import Path

from measurements.harness import command, machine
from measurements.harness.command import report
from measurements.rivals import libraries
from measurements.speed import measure, table, targets
from measurements.speed.cases import SIZES, WORKLOADS, SpeedCase, cases
from sureshot.experiments import rows


def run(settings: argparse.Namespace) -> list[rows.Row]:
    """Measure all that is missing, one matrix in memory at a time; return all rows of the run."""
    started = time.perf_counter()
    environment = {**machine.environment(), **libraries.versions()}
    names = [name for name in settings.workloads if not command.lacks_file(name, settings)]
    wanted = cases(
        names,
        settings.size,
        settings.queries,
        settings.seed,
        settings.threads,
        environment["library_digest"],
    )
    todo = rows.missing(wanted, rows.read(settings.out))
    if len(todo) < len(wanted):
        report(f"{len(wanted) - len(todo)} of {len(wanted)} rows are there already")
    done = 0
    for _, group in itertools.groupby(todo, SpeedCase.data_key):
        of_data = list(group)
        if time.perf_counter() - started > 60 * settings.minutes:
            report(f"{settings.minutes:g} minutes are over; the same command goes on")
            break
        run_data(of_data, settings, environment)
        done += len(of_data)
        report(f"{done} of {len(todo)} done")
    this_run = {**vars(settings), "library_digest": environment["library_digest"]}
    return table.of_run(rows.read(settings.out), this_run)


def run_data(todo: list[SpeedCase], settings: argparse.Namespace, environment: rows.Row) -> None:
    """Measure the cases that search the same data."""
    first, started = todo[0], time.perf_counter()
    title = f"{first.workload}, {first.dtype}, {first.order}-major"
    try:
        setup = measure.prepare(first, command.file_of(first.workload, settings))
    except TypeError as refusal:  # of the library, to search this type
        report(f"{title}: skipped, {refusal}")
        return
    shape = " × ".join(f"{size:,}" for size in setup.ready.made.data.shape)
    report(
        f"{title}, {shape}: made in {time.perf_counter() - started:.1f} s, "
        f"read with {setup.memory.bandwidth / 1e9:.1f} GB/s, "
        f"a scattered line in {1e9 * setup.memory.line_seconds:.1f} ns"
    )
    for case in todo:
        started = time.perf_counter()
        row = {**environment, **measure.measure(setup, case)}
        rows.append(settings.out, row)
        against = ", ".join(f"{name} {ratio:.3g} ×" for name, ratio in row["ratios"].items())
        report(
            f"  {case.task}, {case.method}, bounds {case.bounds}, k {case.k}: "
            f"{1e3 * row['seconds'][measure.OURS]:.3g} ms; {against}; "
            f"share {row['median_share']:.3%}, floor {1e3 * row['floor_seconds']:.3g} ms; "
            f"case took {time.perf_counter() - started:.1f} s"
        )


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m measurements.speed.run", description=__doc__)
    parser.add_argument("--small", action="store_true", help="1,000 × 20,000, 3 queries")
    parser.add_argument("--queries", type=int, help="12, or 3 with --small")
    parser.add_argument(
        "--threads", type=int, help="of the library and of its rivals; by default all"
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=math.inf,
        help="begin with no other matrix after so many; the same command goes on",
    )
    parser.add_argument("--out", type=Path, help="by default results/speed-full.jsonl or -small")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is not met")
    parser.add_argument(
        "--write", action="store_true", help="write tables, rows and figure to docs"
    )
    command.add_options(parser, WORKLOADS)
    settings = parser.parse_args(arguments)
    command.refuse_unknown(parser, "workloads", settings.workloads)
    settings.size = "small" if settings.small else "full"
    if settings.check and settings.small:
        parser.error("--check: the targets are for the full size, leave out --small")
    for option, default in (
        ("queries", SIZES[settings.size].queries),
        ("threads", machine.available_threads()),
    ):
        if getattr(settings, option) is None:
            setattr(settings, option, default)
        if getattr(settings, option) < 1:
            parser.error(f"--{option}: expected at least 1, got {getattr(settings, option)}")
    if settings.out is None:
        settings.out = Path(f"results/speed-{settings.size}.jsonl")
    return settings


def main() -> None:
    """Measure, print the tables, check the targets."""
    settings = parse()
    with libraries.limited_to(settings.threads):
        found = run(settings)
    table.print_tables(found)
    if settings.write:
        table.write(found)
    if settings.check:
        missed = targets.missed(targets.comparisons(found), settings.workloads)
        for one in missed:
            report(f"{one.label}: {one.measured} of {one.target}, {one.words}")
        if missed:
            raise SystemExit(1)


if __name__ == "__main__":
    main()
