"""When a search gives up: share and time on data that misleads its predictions, and on data without a gap.

``python -m measurements.policy.giving_up --label after --out results/giving_up.jsonl`` appends rows of JSON and
prints a table of all labels in the file side by side. To compare two states of the library run it once with each
on the path. The data needs up to 1 GB of memory.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import sureshot
from measurements import workloads
from measurements.harness import command, machine, prepared
from measurements.harness.page import left_aligned
from sureshot.experiments import clock, metrics, rows
from sureshot.experiments.answers import true_scores
from sureshot.experiments.numbers import per_cent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot._types import Array, Floats

K = 10
ORDERS: tuple[Literal["row", "coordinate"], ...] = ("row", "coordinate")
BOUNDS = ("limits", "scan", "none")
# The last one has no gap: everything must be read, and soon.
WORKLOADS = (*workloads.MISLEADING, "gaussian")
GAUSSIAN = {"n": 1_000, "N": 40_000}
# Those whose queries are also tried less their mean, and less the mean row.
CENTRED = ("copied-clips", "mixed-clips", "enlarged-images")
EXACT, SEARCH = "exact", "search"


def queries_of(name: str, queries: Array, data: Array) -> dict[str, Floats]:
    """Return the queries as they are, and what they are less if that is tried."""
    raw = queries.astype(np.float64)
    found = {"raw": raw}
    if name in CENTRED:
        found["less their mean"] = raw - raw.mean(axis=1, keepdims=True)
        found["less the mean row"] = raw - data.mean(axis=0, dtype=np.float64)
    return found


def measure(data: Array, queries: Floats, bounds: Any, repeats: int) -> rows.Row:
    """Search with every query; times are the shortest of some repetitions."""
    works, seconds, exact_seconds, right = [], [], [], []
    for seed, (query, scores) in enumerate(zip(queries, true_scores(data, queries), strict=True)):
        sides: dict[str, Callable[[int], sureshot.TopK]] = {
            EXACT: lambda _, query=query: sureshot.top_k(data, query, K, method="exact"),  # type: ignore[misc]
            SEARCH: lambda _, query=query, seed=seed: sureshot.top_k(  # type: ignore[misc]
                data, query, K, bounds=bounds, rng=seed
            ),
        }
        times = clock.in_turn(sides, range(repeats), rest=0.0)
        exact_seconds.append(min(times[EXACT].seconds))
        seconds.append(min(times[SEARCH].seconds))
        found = times[SEARCH].results[0]
        works.append(found.work)
        right.append(metrics.precision(found.indices, scores, K))
    shares = [work.share for work in works]
    return {
        "queries": len(queries),
        "median_share": float(np.median(shares)),
        "mean_share": float(np.mean(shares)),
        "max_share": max(shares),
        "median_exact_scores": float(np.median([work.exact_scores for work in works])),
        "precision": float(np.mean(right)),
        "median_seconds": float(np.median(seconds)),
        "exact_median_seconds": float(np.median(exact_seconds)),
    }


def measured(
    name: str, order: Literal["row", "coordinate"], settings: argparse.Namespace
) -> Iterator[rows.Row]:
    """Yield the rows of one kind of data in one order."""
    size = GAUSSIAN if name == "gaussian" else {}
    path = command.file_of(name, settings)
    made = workloads.make(
        name, **size, queries=settings.queries, seed=settings.seed, order=order, path=path
    )
    known = prepared.prepare(made).bounds
    for treated, queries in queries_of(name, made.queries, made.data).items():
        for bounds in BOUNDS:
            yield {
                "label": settings.label,
                "data": name,
                "order": order,
                "queries are": treated,
                "bounds": bounds,
                "seed": settings.seed,
                "n": made.data.shape[0],
                "N": made.data.shape[1],
                **measure(made.data, queries, known[bounds], settings.repeats),
            }


def table(found: list[rows.Row]) -> list[str]:
    """Return the lines of a table with the shares and times of all labels side by side."""
    labels = list(dict.fromkeys(row["label"] for row in found))
    cells: dict[tuple[str, ...], dict[str, rows.Row]] = {}
    for row in found:
        case = (row["data"], row["order"], row["queries are"], row["bounds"])
        cells.setdefault(case, {})[row["label"]] = row
    titles = ["data", "order", "queries", "bounds"]
    for value in ("median share", "mean share", "time, of the exact product's"):
        titles += [f"{value}, {label}" for label in labels]
    values: list[Callable[[rows.Row], str]] = [
        lambda row: per_cent(row["median_share"]),
        lambda row: per_cent(row["mean_share"]),
        lambda row: f"{row['median_seconds'] / row['exact_median_seconds']:.2f}",
    ]
    body = [
        [*case, *(value(of[label]) if label in of else "–" for value in values for label in labels)]
        for case, of in cells.items()
    ]
    return left_aligned(titles, body)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.policy.giving_up", description=__doc__
    )
    parser.add_argument(
        "--label", default="now", help="of the state of the library that is measured"
    )
    parser.add_argument("--out", type=Path, default=Path("results/giving_up.jsonl"))
    parser.add_argument("--queries", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=2)
    command.add_options(parser, WORKLOADS)
    settings = parser.parse_args(arguments)
    command.refuse_unknown(parser, "workloads", settings.workloads)
    return settings


def main() -> None:
    """Measure what is wanted, and print what there is."""
    settings = parse()
    environment = machine.environment()
    for name in settings.workloads:
        if command.lacks_file(name, settings):
            continue
        for order in ORDERS:
            for row in measured(name, order, settings):
                rows.append(settings.out, {**row, **environment})
                command.report(
                    f"{name}, {order} order, queries {row['queries are']}, {row['bounds']}: "
                    f"{row['median_share']:.3%}, {row['median_seconds']:.3g} s "
                    f"against {row['exact_median_seconds']:.3g} s"
                )
    print("\n".join(table(rows.read(settings.out))))


if __name__ == "__main__":
    main()
