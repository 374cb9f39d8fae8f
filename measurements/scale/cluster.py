"""How fast the partitions of two worker processes are searched, against the exact product of dask.

``python -m measurements.scale.cluster`` starts a ``LocalCluster`` of two processes, makes a matrix of 4 GB in their memory and
times the top 10 of some queries: sureshot with a scan and without bounds, and ``dask.array``'s product with the best of its
scores. ``--small`` takes some MB, ``--rows`` any number. Rows of JSON are appended to ``--out``; ``--write`` puts the table into
docs/scale.md.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.harness import machine, page
from measurements.harness.command import at_least_one, report
from measurements.scale.files import NOISE, RANK, SPREAD
from sureshot.experiments import clock, rows
from sureshot.storage.extras import library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sureshot._types import Array
    from sureshot.experiments.rows import Row

ROWS = "cluster.jsonl"
K = 10
WORKERS = 2
PARTITIONS = 8
WIDTH = 100_000
N_ROWS = {"full": 10_000, "small": 100}
KINDS = ("low-rank", "gaussian")
DASK, OURS, OURS_WITHOUT = "dask.array", "sureshot, scan", "sureshot, no bounds"


@dataclass(frozen=True)
class ClusterCase:
    """What one row measures."""

    data: str
    rows: int
    columns: int
    queries: int
    seed: int
    library_digest: str


def part(case: ClusterCase, first: int, last: int) -> Array:
    """Return some rows, made where they are kept."""
    generator = np.random.default_rng([case.seed, first])
    values = generator.standard_normal((last - first, case.columns), dtype=np.float32)
    if case.data == "low-rank":
        own = generator.standard_normal((last - first, RANK), dtype=np.float32)
        own *= generator.lognormal(0, SPREAD, (last - first, 1)).astype(np.float32)
        values *= NOISE
        values += own @ _shared(case)
    return values


def _shared(case: ClusterCase) -> Array:
    return np.random.default_rng(case.seed).standard_normal((RANK, case.columns), dtype=np.float32)


def queries_of(case: ClusterCase) -> Array:
    """Return what is asked."""
    generator = np.random.default_rng([case.seed, case.rows])
    if case.data != "low-rank":
        return generator.standard_normal((case.queries, case.columns), dtype=np.float32)
    weights = generator.standard_normal((case.queries, RANK), dtype=np.float32)
    noise = generator.standard_normal((case.queries, case.columns), dtype=np.float32)
    asked: Array = weights @ _shared(case) + NOISE * noise
    return asked


def _block(case: ClusterCase, block_info: Any = None) -> Array:
    (first, last), _ = block_info[None]["array-location"]
    return part(case, first, last)


def measure(case: ClusterCase, client: Any) -> Row:
    """Time each way to find the best rows of one matrix."""
    da = library("dask.array", "dask", "this measurement")
    distributed = library("distributed", "dask", "this measurement")
    heights = [len(some) for some in np.array_split(np.arange(case.rows), PARTITIONS)]
    array = da.map_blocks(
        _block,
        case=case,
        chunks=(tuple(heights), (case.columns,)),
        dtype=np.float32,
        meta=np.empty((0, 0), np.float32),
    )
    array = client.persist(array)
    distributed.wait(array)
    bounds = sureshot.scan(array)
    asked = queries_of(case)
    sides: dict[str, Callable[[int], Any]] = {
        DASK: lambda at: da.argtopk(array @ asked[at], K).compute(),
        OURS: lambda at: sureshot.top_k(array, asked[at], K, bounds=bounds, rng=0),
        OURS_WITHOUT: lambda at: sureshot.top_k(array, asked[at], K, rng=0),
    }
    seconds, found, searched = {}, {}, []
    for name, call in sides.items():
        # Each in a loop of its own: the threads of a product wait for work for a while.
        time.sleep(2 * clock.REST)
        call(0)
        times = clock.in_turn({name: call}, range(case.queries), rest=0.0)[name]
        seconds[name] = times.median
        if name == OURS:
            searched = times.results
        answers = [getattr(one, "indices", one) for one in times.results]
        found[name] = [sorted(np.asarray(one).tolist()) for one in answers]
    return {
        **asdict(case),
        "bytes": array.nbytes,
        "workers": WORKERS,
        "partitions": PARTITIONS,
        "seconds": seconds,
        "share": float(np.median([one.work.share for one in searched])),
        "rounds": float(np.median([one.work.rounds for one in searched])),
        "choices": sorted({one.work.choice for one in searched}),
        "right": {name: found[name] == found[DASK] for name in sides},
    }


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table of searches against products."""
    body = []
    for row in found:
        taken = row["seconds"]
        body.append(
            [
                f"{row['data']} {row['rows']:,} × {row['columns']:,}",
                f"{row['bytes'] / 1e9:.1f} GB",
                f"{taken[DASK]:.3f}",
                *(
                    f"{taken[ours]:.3f} ({taken[DASK] / taken[ours]:.2f} ×)"
                    for ours in (OURS, OURS_WITHOUT)
                ),
                f"{row['rounds']:.0f}",
            ]
        )
    titles = ["data", "size", *(f"{name}, s" for name in (DASK, OURS, OURS_WITHOUT)), "rounds"]
    return page.left_aligned(titles, body)


def run(settings: argparse.Namespace) -> list[Row]:
    """Measure what is missing, and return the rows of this state of the library."""
    distributed = library("distributed", "dask", "this measurement")
    environment = machine.environment()
    digest, height = environment["library_digest"], settings.rows
    height = height or N_ROWS["small" if settings.small else "full"]
    wanted = [
        ClusterCase(kind, height, WIDTH, settings.queries, settings.seed, digest) for kind in KINDS
    ]
    missing = rows.missing(wanted, rows.read(settings.out))
    if missing:
        with (
            distributed.LocalCluster(
                n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            for case in missing:
                row = {**environment, **measure(case, client)}
                rows.append(settings.out, row)
                report(lines([row])[2])
    return rows.belonging(wanted, rows.read(settings.out))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.scale.cluster", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=Path("results/cluster.jsonl"))
    parser.add_argument("--small", action="store_true", help="some MB")
    parser.add_argument("--rows", type=at_least_one, help="of the matrix; 10,000 by default")
    parser.add_argument("--queries", type=at_least_one, default=5)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    return parser.parse_args(arguments)


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table into the page, and the rows beside it."""
    page.rewrite(docs / "scale.md", {"cluster": lines(found)})
    rows.write(docs / "results" / ROWS, found)


def main() -> None:
    """Measure and print the table."""
    settings = parse()
    found = run(settings)
    print(*lines(found), sep="\n")
    if settings.write:
        write(found)


if __name__ == "__main__":
    main()
