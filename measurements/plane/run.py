"""Who is fastest, for every size from 100 to a million rows and coordinates and for several batches.

``python -m measurements.plane.run`` measures float32 data in row order, top 10, against numpy, faiss.knn and
usearch's exact search with the same number of threads. The largest matrices take 4 GB, the whole half an hour on
two cores; ``--most-numbers 1e7`` leaves out the large ones, ``--batches 1`` all but single queries. The libraries take
turns of some calls each, with a rest before it, since the threads of a product stay awake for a while and slow down
what runs beside them. Rows of JSON are
appended to ``--out``; those of the same state of the library are skipped. ``--write`` puts table, figure and rows
into docs/.
"""

from __future__ import annotations

import argparse
import itertools
import time
from typing import TYPE_CHECKING

import numpy as np

from measurements import workloads
from measurements.harness import command, loop, machine
from measurements.harness.command import report
from measurements.plane import table
from measurements.plane.cases import BATCHES, MOST_NUMBERS, WORKLOADS, K, PlaneCase, cases
from measurements.plane.sides import OURS, sides
from measurements.rivals import libraries
from sureshot.experiments import clock, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

# Of each side in each turn: seconds to spend, and calls at most. One that has taken far longer than the others has shown
# what it can do after one call.
SECONDS = 0.25
MOST_CALLS = 150
MUCH_SLOWER = 4.0


def times_of(calls: dict[str, Callable[[], object]]) -> dict[str, list[list[float]]]:
    """Return the seconds of some calls of each side, in turns of some calls in a row.

    The first one of a turn, which warms up, is left out if others follow.
    """
    times: dict[str, list[list[float]]] = {name: [] for name in calls}
    for _ in range(loop.TURNS):
        for name, call in calls.items():
            slow = MUCH_SLOWER * min(map(median, times.values())) + SECONDS
            if times[name] and median(times[name]) > slow:
                continue
            time.sleep(loop.REST)
            _, first = clock.timed(call)
            own = [first] if first > slow else []
            while not own or (sum(own) < SECONDS and len(own) < MOST_CALLS):
                own.append(clock.timed(call)[1])
            times[name].append(own)
    return times


def median(turns: list[list[float]]) -> float:
    """Return the median of all turns; infinity if there was none."""
    return float(np.median(np.concatenate(turns))) if turns else np.inf


def ratio(theirs: list[list[float]], ours: list[list[float]]) -> float:
    """Return how many times as long one side took as the other: the median of the turns that both had.

    What slows the machine down for some seconds slows down both sides of a turn.
    """
    return float(
        np.median([np.median(a) / np.median(b) for a, b in zip(theirs, ours, strict=False)])
    )


def measure(case: PlaneCase, data: NDArray[np.float32], queries: NDArray[np.float32]) -> rows.Row:
    """Time every side of one case."""
    calls = sides(data, queries[: case.batch], case.metric, K, case.threads)
    times = times_of({name: calls[name] for name in sorted(calls, key=lambda name: name == OURS)})
    seconds = {name: median(turns) for name, turns in times.items()}
    quartiles = {
        name: [float(value) for value in np.quantile(np.concatenate(turns), [0.25, 0.75])]
        for name, turns in times.items()
    }
    found = calls[OURS]()
    rivals = {name: taken for name, taken in seconds.items() if name != OURS}
    fastest = min(rivals, key=rivals.__getitem__)
    return {
        **vars(case),
        "seconds": seconds,
        "quartiles": quartiles,
        "fastest": fastest,
        "ratio": ratio(times[fastest], times[OURS]),
        "algorithm": found.algorithm,
        "choice": found.work.choice,
        "share": found.work.share,
    }


def run(settings: argparse.Namespace) -> list[rows.Row]:
    """Measure all that is missing, one matrix in memory at a time; return all rows of the run."""
    environment = {**machine.environment(), **libraries.versions()}
    digest = environment["library_digest"]
    wanted = cases(
        settings.workloads,
        settings.most_numbers,
        settings.threads,
        settings.seed,
        digest,
        settings.batches,
    )
    todo = rows.missing(wanted, rows.read(settings.out))
    done = 0
    for (workload, n, N), group in itertools.groupby(todo, PlaneCase.data_key):
        made = workloads.make(workload, n=n, N=N, queries=1, seed=settings.seed)
        asked = list(group)
        queries = _queries(workload, N, max(case.batch for case in asked), settings.seed)
        for case in asked:
            row = {**environment, **measure(case, made.data, queries)}
            rows.append(settings.out, row)
            done += 1
            report(
                f"{workload}, {n:,} × {N:,}, {case.metric}, batch {case.batch}: "
                f"{1e3 * row['seconds'][OURS]:.3g} ms, {row['fastest']} "
                f"{1e3 * row['seconds'][row['fastest']]:.3g} ms, {row['ratio']:.2f} × "
                f"({done} of {len(todo)})"
            )
        del made
    this = [row for row in rows.read(settings.out) if row["library_digest"] == digest]
    return [row for row in this if row["seed"] == settings.seed]


def _queries(workload: str, N: int, count: int, seed: int) -> NDArray[np.float32]:
    """Return queries of the kind of this workload, as many as the largest batch has."""
    made = workloads.make(workload, n=1, N=N, queries=count, seed=seed)
    return np.ascontiguousarray(made.queries, dtype=np.float32)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m measurements.plane.run", description=__doc__)
    command.add_most_numbers(parser, MOST_NUMBERS, "of the data; larger matrices are left out")
    parser.add_argument(
        "--batches",
        type=int,
        nargs="+",
        choices=BATCHES,
        default=BATCHES,
        metavar="QUERIES",
        help=f"of {', '.join(map(str, BATCHES))}; with 1 also the small sizes of all metrics; all by default",
    )
    command.add_run_options(parser, "plane", "table, figure and rows")
    command.add_options(parser, WORKLOADS)
    settings = parser.parse_args(arguments)
    command.refuse_unknown(parser, "workloads", settings.workloads)
    return settings


def main() -> None:
    """Measure and print the table, or write it."""
    settings = parse()
    with libraries.limited_to(settings.threads):
        found = run(settings)
    print(*table.plane(found, BATCHES), "", *table.metrics(found), sep="\n")
    if settings.write:
        table.write(found)


if __name__ == "__main__":
    main()
