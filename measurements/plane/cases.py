"""What `measurements.plane.run` measures: sizes, batches and metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

K = 10
ROWS = (100, 1_000, 10_000, 100_000, 1_000_000)
WIDTHS = (100, 1_000, 10_000, 100_000, 1_000_000)
BATCHES = (1, 16, 1_000)
# The first has no gap, so that everything is read; in the other one a search can gain.
WORKLOADS = ("gaussian", "low-rank")
METRICS = ("ip", "sqeuclidean", "cosine")

# Numbers of the data, of all queries, and products of a batch, at most: 4 GB, 0.4 GB and some seconds.
MOST_NUMBERS = 10**9
MOST_NUMBERS_OF_QUERIES = 10**8
MOST_PRODUCTS = 10**11

# Where all metrics are compared, one query at a time: (rows, width).
SMALL = (
    (100, 200),
    (100, 2_000),
    (1_000, 200),
    (1_000, 768),
    (1_000, 4_000),
    (10_000, 384),
    (10_000, 2_000),
    (100_000, 384),
)


@dataclass(frozen=True)
class PlaneCase:
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


def affordable(n: int, N: int, batch: int, most_numbers: int) -> bool:
    """Return whether data and queries of these sizes have room, and take seconds and no minutes."""
    return (
        n * N <= most_numbers
        and batch * N <= MOST_NUMBERS_OF_QUERIES
        and n * N * batch <= MOST_PRODUCTS
    )


def cases(
    workloads: Sequence[str],
    most_numbers: int,
    threads: int,
    seed: int,
    library_digest: str,
    batches: Sequence[int] = BATCHES,
) -> list[PlaneCase]:
    """Return all cases of these batches, those of the same data together."""
    found = []
    for workload in workloads:
        sizes = [(n, N, batch, "ip") for n in ROWS for N in WIDTHS for batch in batches]
        if 1 in batches:
            sizes += [(n, N, 1, metric) for n, N in SMALL for metric in METRICS]
        found += [
            PlaneCase(workload, metric, n, N, batch, threads, seed, library_digest)
            for n, N, batch, metric in sizes
            if affordable(n, N, batch, most_numbers)
        ]
    return found
