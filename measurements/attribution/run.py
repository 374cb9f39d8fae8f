"""How fast stored gradients are searched: sureshot against exact products over the same memory map.

``python -m measurements.attribution.run --fashion PATH`` trains a network on Fashion-MNIST, writes the gradients of training images to
a store of bfloat16, computes its norms, and times top 10 searches by inner product and by direction, warm: 2, 6 and 8 GB. Without a
file it takes scikit-learn's digits and small sizes. Each way has a loop of its own, with a rest before it. Rows of JSON are appended to
``--out``. The stores stay in ``--folder`` and are used again. ``python -m measurements.attribution.table`` writes the tables.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from measurements.attribution import table
from measurements.attribution.sides import EXACT, OURS, TORCH, sides
from measurements.harness import machine
from measurements.harness.command import report
from sureshot.attribution import StoreWriter, open_store
from sureshot.experiments import clock, gradients, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array
    from sureshot.attribution import Store
    from sureshot.experiments.rows import Row

K = 10
SIZES = {
    "full": ((10_000, 101_770), (10_000, 299_725), (4_000, 1_000_120)),
    "small": ((300, 7_510), (300, 15_010)),
}
EPOCHS = 2
TRAINED_ON = 20_000
ROWS_AT_ONCE = 64
# A way that has taken so many seconds has shown what it can do, but not before so many queries.
PATIENCE, FEWEST_CALLS = 2.0, 3


@dataclass(frozen=True)
class AttributionCase:
    """What one row measures."""

    data: str
    rows: int
    parameters: int
    unit_norm: bool
    queries: int
    seed: int
    library_digest: str


def make_store(case: AttributionCase, file: Path | None, folder: Path) -> tuple[Store, Array]:
    """Return a store of gradients and some queries; what was written before is used again."""
    path = folder / f"{case.data}-{case.rows}-{case.parameters}-{case.seed}"
    asked = path.with_suffix(".queries.npy")
    if not path.exists():
        generator = np.random.default_rng(case.seed)
        if file is None:
            train, test = gradients.digits_samples(generator)
        else:
            train, test = gradients.image_samples(file)
            train = train.take(generator.permutation(len(train.labels))[:TRAINED_ON])
        factors, queries = gradients.gradients_to_search(
            train,
            test,
            rows=case.rows,
            queries=case.queries,
            parameters=case.parameters,
            epochs=EPOCHS,
            generator=generator,
        )
        folder.mkdir(parents=True, exist_ok=True)
        np.save(asked, queries)
        modules = {"gradient": queries.shape[1]}
        with StoreWriter(path, rows=case.rows, modules=modules) as writer:
            while writer.written < case.rows:
                some = slice(writer.written, writer.written + ROWS_AT_ONCE)
                writer.append(factors.gradients(some))
    return open_store(path), np.load(asked)


def measure(case: AttributionCase, store: Store, queries: Array) -> Row:
    """Time every way to search one store."""
    _, norms_seconds = clock.timed(lambda: store.compute_norms(again=True))
    seconds: dict[str, float] = {}
    quartiles: dict[str, list[float]] = {}
    found: dict[str, list[Array]] = {}
    work = []
    for name, call in sides(store, K, unit_norm=case.unit_norm).items():
        call(queries[0])
        time.sleep(2 * clock.REST)
        times: list[float] = []
        for query in queries:
            if len(times) >= FEWEST_CALLS and sum(times) > PATIENCE:
                break
            result, taken = clock.timed(partial(call, query))
            times.append(taken)
            if name == OURS:
                work.append(result)
            best = result.indices if name in (OURS, EXACT) else result
            found.setdefault(name, []).append(best)
        seconds[name] = float(np.median(times))
        quartiles[name] = [float(value) for value in np.quantile(times, [0.25, 0.75])]
    truth = found[EXACT]
    return {
        **asdict(case),
        "columns": store.shape[1],
        "bytes": sum(part.nbytes for part in store.parts),
        "dtype": store.dtype.name,
        "k": K,
        "norms_seconds": norms_seconds,
        "seconds": seconds,
        "quartiles": quartiles,
        "precision": {
            name: float(np.mean([np.isin(a, b).mean() for a, b in zip(truth, best, strict=False)]))
            for name, best in found.items()
        },
        "share": float(np.median([one.work.share for one in work])),
        "unconditional": all(one.certificate.unconditional for one in work),
        "algorithms": sorted({one.algorithm for one in work}),
        "torch": TORCH in seconds,
    }


def run(settings: argparse.Namespace) -> list[Row]:
    """Measure all that is missing, one store after the other; return the rows of this state of the library."""
    environment = machine.environment()
    digest = environment["library_digest"]
    data = "digits" if settings.fashion is None else "Fashion-MNIST"
    sizes = SIZES["small" if settings.fashion is None else "full"]
    wanted = [
        AttributionCase(data, n, N, unit_norm, settings.queries, settings.seed, digest)
        for n, N in sizes
        for unit_norm in (False, True)
    ]
    for case in rows.missing(wanted, rows.read(settings.out)):
        store, queries = make_store(case, settings.fashion, settings.folder)
        if settings.only_make:
            continue
        row = {**environment, **measure(case, store, queries)}
        rows.append(settings.out, row)
        report(*table.speed_lines([row])[2:])
    return rows.belonging(wanted, rows.read(settings.out))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.attribution.run", description=__doc__
    )
    parser.add_argument("--fashion", type=Path, metavar="PATH", help="Fashion-MNIST, .npz")
    parser.add_argument("--folder", type=Path, default=Path("results/stores"))
    parser.add_argument("--out", type=Path, default=Path("results/attribution.jsonl"))
    parser.add_argument("--only-make", action="store_true", help="make the stores, time nothing")
    parser.add_argument("--queries", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main() -> None:
    """Measure and print the table."""
    print(*table.speed_lines(run(parse())), sep="\n")


if __name__ == "__main__":
    main()
