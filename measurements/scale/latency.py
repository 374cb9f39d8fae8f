"""What a round trip costs a search of partitions, and how fast its rounds should grow.

``python -m measurements.scale.latency`` searches a matrix in partitions that answers as a cluster would: each set of
calls takes a latency, and besides so much time for what it reads that to read everything takes some seconds. The time
is added up, not waited for; ``--sleep`` waits for it. The matrix itself is small: only the ratio of a round to what reading
costs decides how far a search reads. Rows of JSON are appended to ``--out``; ``--write`` puts the table into docs/scale.md.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np

import sureshot
from measurements import workloads
from measurements.harness import machine, page
from measurements.harness.command import report
from sureshot.experiments import metrics, rows
from sureshot.search.methods import METHODS
from sureshot.search.race import betting, policy
from sureshot.sources import partitioned
from sureshot.sources.costs import in_partitions
from sureshot.storage.partitioned import Partitioned, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array
    from sureshot.experiments.rows import Row
    from sureshot.experiments.sets import DataSet
    from sureshot.storage.partitioned import Call

ROWS = "latency.jsonl"
K = 10
N_ROWS, WIDTH = 1_000, 100_000
PARTITIONS = 4
LATENCIES = (0.001, 0.010, 0.100)
EVERYTHING = (2.0, 20.0)
AS_IT_IS = "by the costs"
# Of the costs, what grows with the time that reading takes.
READING = ("block", "lone_block", "row", "everything", "partial_row", "partial_everything")


def _always(growth: float) -> dict[str, float]:
    """Return rules by which the front grows so fast, for any costs."""
    return dict.fromkeys(("growth", "largest_growth", "growth_over_trips"), growth)


VARIANTS: dict[str, dict[str, Any]] = {
    "1.2": _always(1.2),
    "2": _always(2.0),
    "4": _always(4.0),
    "by the costs, at most 2": {"growth_over_trips": policy.DEFAULT.largest_growth},
    AS_IT_IS: {},
}


@dataclass(frozen=True)
class LatencyCase:
    """What one row measures."""

    latency: float  # of a round trip, in seconds
    everything: float  # seconds to read everything
    growth: str
    rows: int
    columns: int
    queries: int
    seed: int
    library_digest: str


class Delayed(Partitioned):
    """An array in partitions that takes a latency for each set of calls, and time for what it reads."""

    def __init__(self, data: Array, latency: float, everything: float, *, sleep: bool) -> None:
        self.shape = (data.shape[0], data.shape[1])
        self.dtype = data.dtype
        self.parts = np.array_split(data, PARTITIONS)
        ends = np.cumsum([0, *(len(part) for part in self.parts)]).tolist()
        self.places = [Place(first, last, 0, data.shape[1]) for first, last in pairwise(ends)]
        self.sleep = sleep
        self.round = 1e9 * latency
        block = self.unit_columns  # what a search reads together
        self.blocks_of_row = -(-data.shape[1] // block)
        memory = in_partitions(block, self.itemsize, self.round)
        slowness = 1e9 * everything / (memory.everything * self.blocks_of_row * data.shape[0])
        self.costs = replace(
            memory,
            **{name: slowness * getattr(memory, name) for name in READING},
        )
        self.trips = 0
        self.seconds = 0.0

    def run(self, calls: Sequence[Call]) -> list[Any]:
        """Run the calls, and count what they would take."""
        taken = (self.round + sum(self._reading(call) for call in calls)) / 1e9
        self.trips += 1
        self.seconds += taken
        if self.sleep:
            time.sleep(taken)
        return [call.function(self.parts[call.partition], *call.arguments) for call in calls]

    def _reading(self, call: Call) -> float:
        """Return what a call reads for, in nanoseconds."""
        if call.function is partitioned.sums_of_blocks:
            rows, wanted = call.arguments[:2]
            return float(len(rows) * len(wanted.ids) * self.costs.block)
        assert call.function is partitioned.scores_of_rows, (
            f"a search reads blocks or rows, got {call}"
        )
        return float(len(call.arguments[0]) * self.blocks_of_row * self.costs.row)


def measure(case: LatencyCase, made: DataSet, bounds: sureshot.Bounds, *, sleep: bool) -> Row:
    """Search with one growth of the rounds at one latency."""
    rules = replace(policy.DEFAULT, **VARIANTS[case.growth])
    search = partial(betting.search, rules=rules)
    changed = {"betting": replace(METHODS["betting"], search=search)}
    trips, seconds, right, shares = [], [], [], []
    for seed, query in enumerate(made.queries):
        data = Delayed(made.data, case.latency, case.everything, sleep=sleep)
        with (
            mock.patch.dict(METHODS, changed),
            mock.patch.object(partitioned, "in_partitions", lambda *_, costs=data.costs: costs),
        ):
            found = sureshot.top_k(data, query, K, bounds=bounds, rng=seed)
        trips.append(data.trips)
        seconds.append(data.seconds)
        shares.append(found.work.share)
        scores = np.asarray(made.data @ query, np.float64)
        right.append(metrics.precision(found.indices, scores, K))
    return {
        **asdict(case),
        "trips": float(np.median(trips)),
        "seconds": float(np.median(seconds)),
        "share": float(np.median(shares)),
        "precision": float(np.mean(right)),
    }


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table of latencies, one column for each growth."""
    body = []
    for latency, everything in product(LATENCIES, EVERYTHING):
        some = {
            row["growth"]: row
            for row in found
            if (row["latency"], row["everything"]) == (latency, everything)
        }
        if len(some) < len(VARIANTS):
            continue
        best = min(row["seconds"] for row in some.values())
        cells = [
            f"{'**' if row['seconds'] == best else ''}{row['seconds']:.2f} s"
            f"{'**' if row['seconds'] == best else ''}, {row['trips']:.0f} trips"
            for row in (some[name] for name in VARIANTS)
        ]
        body.append([f"{1000 * latency:.0f} ms", f"{everything:.0f} s", *cells])
    titles = ["a round trip", "everything", *(f"growth {name}" for name in VARIANTS)]
    return page.left_aligned(titles, body)


def cases(queries: int, seed: int, digest: str) -> list[LatencyCase]:
    """Return what is measured."""
    return [
        LatencyCase(latency, everything, growth, N_ROWS, WIDTH, queries, seed, digest)
        for latency, everything, growth in product(LATENCIES, EVERYTHING, VARIANTS)
    ]


def main() -> None:
    """Measure what is missing, and print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.scale.latency", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=Path("results/latency.jsonl"))
    parser.add_argument("--sleep", action="store_true", help="wait as long as a cluster would take")
    parser.add_argument("--queries", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    settings = parser.parse_args()
    environment = machine.environment()
    wanted = cases(settings.queries, settings.seed, environment["library_digest"])
    made = workloads.make(
        "low-rank", n=N_ROWS, N=WIDTH, queries=settings.queries, seed=settings.seed
    )
    bounds = sureshot.scan(made.data)
    for case in rows.missing(wanted, rows.read(settings.out)):
        row = {**environment, **measure(case, made, bounds, sleep=settings.sleep)}
        rows.append(settings.out, row)
        report(f"{case.latency} {case.everything} {case.growth}: {row['seconds']:.3f} s")
    found = rows.belonging(wanted, rows.read(settings.out))
    print(*lines(found), sep="\n")
    if settings.write:
        page.rewrite(page.DOCS / "scale.md", {"latency": lines(found)})
        rows.write(page.DOCS / "results" / ROWS, found)


if __name__ == "__main__":
    main()
