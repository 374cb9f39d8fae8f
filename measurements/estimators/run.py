"""Neighbours by `sureshot.estimators` and by scikit-learn, from 784 to 100,000 features.

``python -m measurements.estimators.run`` times `kneighbors` of the fitted estimators, float32 rows, 10 neighbours, against
``NearestNeighbors(algorithm="brute")`` and ``algorithm="auto"`` of scikit-learn, with all threads; each call has
a rest before it. Matrices have up to ``--most-numbers`` numbers. Rows of JSON are appended to ``--out``; those of
the same state of the library are skipped. ``--write`` puts the table into docs/estimators.md, and the rows beside it.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import __version__ as sklearn_version
from sklearn import neighbors

from measurements import workloads
from measurements.estimators import table
from measurements.harness import command, machine
from measurements.harness.command import report
from sureshot.estimators import NearestNeighbors
from sureshot.experiments import clock, rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

NEIGHBOURS = 10
WIDTHS = (784, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
MOST_ROWS = 20_000
BATCHES = (1, 100)
METRICS = ("euclidean", "cosine", "manhattan")
# The first has no gap, so that everything is read; in the other one a search can gain.
WORKLOADS = ("gaussian", "low-rank")
MOST_NUMBERS = 2 * 10**8
# Distances without a product take scikit-learn minutes beyond so many terms.
MOST_TERMS = 4 * 10**9
CALLS = 7
PATIENCE = 20.0


@dataclass(frozen=True)
class NeighboursCase:
    """What one row measures. Equal cases are measured once for one state of the library."""

    workload: str
    metric: str
    n: int
    N: int
    batch: int
    threads: int
    seed: int
    library_digest: str

    def data_key(self) -> tuple[str, int, int]:
        """Return what decides which data the case searches."""
        return self.workload, self.n, self.N


def cases(
    names: Sequence[str], most_numbers: float, threads: int, seed: int, digest: str
) -> list[NeighboursCase]:
    """Return all cases, those of the same data together."""
    found = []
    for workload, N in itertools.product(names, WIDTHS):
        n = min(MOST_ROWS, int(most_numbers) // N)
        if n < 2 * NEIGHBOURS:
            continue
        found += [
            NeighboursCase(workload, metric, n, N, batch, threads, seed, digest)
            for metric, batch in itertools.product(METRICS, BATCHES)
            if metric != "manhattan" or n * N * batch <= MOST_TERMS
        ]
    return found


def measure(
    case: NeighboursCase, data: NDArray[np.float32], queries: NDArray[np.float32]
) -> rows.Row:
    """Time every side of one case, and compare what they found."""
    options: dict[str, Any] = {"n_neighbors": NEIGHBOURS, "metric": case.metric}
    # What a fit does is the same pass over the data for all; a scan finds the norms in it.
    bounds = "scan" if case.metric == "cosine" else None
    ours = NearestNeighbors(bounds=bounds, random_state=case.seed, n_jobs=case.threads, **options)
    sides = {
        table.OURS: ours.fit(data),
        "brute": neighbors.NearestNeighbors(algorithm="brute", **options).fit(data),
        "auto": neighbors.NearestNeighbors(algorithm="auto", **options).fit(data),
    }
    asked = queries[: case.batch]
    for one in sides.values():
        one.kneighbors(asked)  # warms up

    def call(name: str) -> Callable[[int], Any]:
        return lambda _: sides[name].kneighbors(asked)

    times = clock.in_turn(
        {name: call(name) for name in sides},
        range(CALLS),
        rest=2 * clock.REST,
        patience=PATIENCE,
    )
    seconds = {name: its.median for name, its in times.items()}
    fastest = min("brute", "auto", key=seconds.__getitem__)
    distances, expected = (times[name].results[0][0] for name in (table.OURS, fastest))
    return {
        **vars(case),
        "seconds": seconds,
        "quartiles": {name: its.quartiles for name, its in times.items()},
        "fastest": fastest,
        "ratio": seconds[fastest] / seconds[table.OURS],
        "largest_difference": float(np.abs(distances / expected - 1).max()),
        "unconditional": all(one.unconditional or one.exact for one in ours.certificates_),
    }


def run(settings: argparse.Namespace) -> list[rows.Row]:
    """Measure all that is missing, one matrix in memory at a time; return all rows of the run."""
    environment = {**machine.environment(), "sklearn": sklearn_version}
    digest = environment["library_digest"]
    wanted = cases(
        settings.workloads, settings.most_numbers, settings.threads, settings.seed, digest
    )
    todo = rows.missing(wanted, rows.read(settings.out))
    for (workload, n, N), group in itertools.groupby(todo, NeighboursCase.data_key):
        made = workloads.make(workload, n=n, N=N, queries=max(BATCHES), seed=settings.seed)
        queries = np.ascontiguousarray(made.queries, dtype=np.float32)
        for case in group:
            row = {**environment, **measure(case, made.data, queries)}
            rows.append(settings.out, row)
            report(
                f"{workload}, {n:,} × {N:,}, {case.metric}, {case.batch} queries: "
                f"{1e3 * row['seconds'][table.OURS]:.3g} ms, {row['ratio']:.2f} × {row['fastest']}"
            )
        del made
    return rows.belonging(wanted, rows.read(settings.out))


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.estimators.run", description=__doc__
    )
    command.add_most_numbers(parser, MOST_NUMBERS, "of the data; larger matrices get fewer rows")
    command.add_run_options(parser, "estimators", "table and rows")
    command.add_options(parser, WORKLOADS)
    settings = parser.parse_args(arguments)
    command.refuse_unknown(parser, "workloads", settings.workloads)
    return settings


def main() -> None:
    """Measure and print the table, or write it."""
    settings = parse()
    found = run(settings)
    print(*table.lines(found), sep="\n")
    if settings.write:
        table.write(found)


if __name__ == "__main__":
    main()
