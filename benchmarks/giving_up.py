"""When a search gives up: share and time on data that leads predictions astray, and on data without a gap.

``python -m benchmarks.giving_up --label after --out results/giving_up.jsonl`` appends rows of JSON and prints a
table of all labels in the file side by side. To compare two states of the library run it once with each
on the path. The data needs up to 1 GB of memory.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import sureshot
from benchmarks import command, machine
from benchmarks.measure import ROUNDING
from benchmarks.table import markdown
from sureshot.experiments import rows
from sureshot.experiments.page import per_cent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.random import Generator
    from numpy.typing import NDArray

    Row = Callable[[int], NDArray[Any]]

K = 10
ORDERS: dict[str, Literal["C", "F"]] = {"row": "C", "coordinate": "F"}
BOUNDS = ("limits", "scan", "none")
LOUDEST = 120  # decibels
FRAMES = 430  # of a spectrogram
RANK = 10


@dataclass(frozen=True)
class Recipe:
    """How to make each row, and queries by what is done to them."""

    shape: tuple[int, int]
    row: Row
    queries: NDArray[np.float64]
    limits: tuple[float, float] | None = None  # None: the extremes of the data
    centred: bool = (
        True  # whether the queries are also tried less their mean, and less the mean row
    )


def _clips(path: Path, queries: int, generator: Generator) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the clips to search, and those to search for."""
    with np.load(path) as file:
        clips = file["S"]
    shuffled = generator.permutation(len(clips))
    return clips[shuffled[queries:]], clips[shuffled[:queries]].astype(np.float64)


def copied_clips(path: Path, queries: int, generator: Generator) -> Recipe:
    """Five noisy copies of each clip, some louder and some softer: five near ties for each place."""
    clips, wanted = _clips(path, queries, generator)

    def row(at: int) -> NDArray[Any]:
        noise = generator.standard_normal(clips.shape[1], dtype=np.float32)
        copy: NDArray[Any] = clips[at % len(clips)] + noise + np.float32(generator.normal(0, 2))
        return copy.clip(0, LOUDEST)

    return Recipe((2_000, clips.shape[1]), row, wanted, (0.0, LOUDEST))


def mixed_clips(path: Path, queries: int, generator: Generator) -> Recipe:
    """Clips that begin at another time, with another clip in the background."""
    clips, wanted = _clips(path, queries, generator)

    def part(at: int, level: float) -> NDArray[Any]:
        moved = np.roll(clips[at].reshape(-1, FRAMES), int(generator.integers(FRAMES)), axis=1)
        louder: NDArray[Any] = moved.reshape(-1).astype(np.float32) + np.float32(level)
        return louder

    def row(at: int) -> NDArray[Any]:
        front = part(at % len(clips), generator.normal(0, 6))
        behind = part(int(generator.integers(len(clips))), -generator.uniform(5, 40))
        louder: NDArray[Any] = np.maximum(front, behind)
        return louder.clip(0, LOUDEST)

    return Recipe((2_000, clips.shape[1]), row, wanted, (0.0, LOUDEST))


def images(path: Path, queries: int, generator: Generator) -> Recipe:
    """Images with every pixel made a square of 16, which a search need not read all of."""
    with np.load(path) as file:
        pictures = file["train_images_idx3_ubyte"].reshape(-1, 28, 28)
    chosen = pictures[generator.permutation(len(pictures))[: 2_000 + queries]]

    def enlarged(at: int) -> NDArray[Any]:
        found: NDArray[Any] = chosen[at].repeat(4, axis=0).repeat(4, axis=1).reshape(-1)
        return found.astype(np.float32)

    wanted = np.stack([enlarged(2_000 + at) for at in range(queries)]).astype(np.float64)
    return Recipe((2_000, wanted.shape[1]), enlarged, wanted, (0.0, 255.0))


def _factors(
    queries: int, generator: Generator, width: int = 40_000
) -> tuple[tuple[int, int], Row, NDArray[np.float64]]:
    """Return a shape, rows of low rank with noise, and queries of the same kind."""
    basis = generator.standard_normal((RANK, width), dtype=np.float32)

    def row(_at: int) -> NDArray[Any]:
        factors = generator.standard_normal(RANK, dtype=np.float32)
        return factors @ basis + generator.standard_normal(width, dtype=np.float32)

    return (1_000, width), row, np.stack([row(0) for _ in range(queries)]).astype(np.float64)


def late_gap(queries: int, generator: Generator) -> Recipe:
    """Make the coordinates that are drawn first the same in all rows: the gap is in the others."""
    (n, width), row, wanted = _factors(queries, generator)
    heavy = generator.permutation(width)[: width // 100]
    same = generator.standard_normal(len(heavy), dtype=np.float32)
    wanted[:, heavy] *= 30

    def with_same(at: int) -> NDArray[Any]:
        found = row(at)
        found[heavy] = same
        return found

    return Recipe((n, width), with_same, wanted, centred=False)


def one_stretch(queries: int, generator: Generator) -> Recipe:
    """Half of what a row scores comes from one stretch of 2 % of the coordinates."""
    (n, width), row, wanted = _factors(queries, generator)

    def with_stretch(at: int) -> NDArray[Any]:
        found = row(at)
        start = int(generator.integers(width - width // 50))
        found[start : start + width // 50] *= 7
        return found

    return Recipe((n, width), with_stretch, wanted, centred=False)


def long_tails(queries: int, generator: Generator) -> Recipe:
    """Low rank and noise of Student's distribution with 2 degrees of freedom."""
    (n, width), row, wanted = _factors(queries, generator)

    def with_tails(at: int) -> NDArray[Any]:
        return row(at) + generator.standard_t(2, width).astype(np.float32)

    return Recipe((n, width), with_tails, wanted, centred=False)


def few_stand_out(queries: int, generator: Generator) -> Recipe:
    """Fewer rows than are wanted stand out of Gaussian ones: the last places have no gap."""
    n, width = 1_000, 40_000
    wanted = generator.standard_normal((queries, width))

    def row(at: int) -> NDArray[Any]:
        found = generator.standard_normal(width, dtype=np.float32)
        return found + wanted.sum(axis=0).astype(np.float32) if at % 200 == 0 else found

    return Recipe((n, width), row, wanted, centred=False)


def gaussian(queries: int, generator: Generator) -> Recipe:
    """No gap: everything must be read, and soon."""
    n, width = 1_000, 40_000
    wanted = generator.standard_normal((queries, width))
    return Recipe(
        (n, width),
        lambda _at: generator.standard_normal(width, dtype=np.float32),
        wanted,
        centred=False,
    )


def constant_rows(queries: int, _generator: Generator) -> Recipe:
    """Rows of zeros, and as many as are wanted that are a little larger."""
    n, width = 1_000, 40_000
    return Recipe(
        (n, width),
        lambda at: np.full(width, 0.02 if at % (n // K) == 0 else 0.0, np.float32),
        np.ones((queries, width)),
        (0.0, 1.0),
        centred=False,
    )


# Those that read a file, and the option that names it.
FILES = {"copied-clips": "spectrograms", "mixed-clips": "spectrograms", "images": "fashion"}
RECIPES: dict[str, Callable[..., Recipe]] = {
    "copied-clips": copied_clips,
    "mixed-clips": mixed_clips,
    "images": images,
    "late-gap": late_gap,
    "one-stretch": one_stretch,
    "long-tails": long_tails,
    "few-stand-out": few_stand_out,
    "constant-rows": constant_rows,
    "gaussian": gaussian,
}


def fill(recipe: Recipe, order: str) -> NDArray[Any]:
    """Return the rows, stored in that order."""
    data: NDArray[Any] = np.empty(recipe.shape, np.float32, order=ORDERS[order])
    at_once = 64  # a row at a time is slow to put into columns
    for start in range(0, len(data), at_once):
        stop = min(start + at_once, len(data))
        data[start:stop] = np.stack([recipe.row(at) for at in range(start, stop)])
    return data


def queries_of(recipe: Recipe, data: NDArray[Any]) -> dict[str, NDArray[np.float64]]:
    """Return the queries as they are, and what they are less if that is tried."""
    found = {"raw": recipe.queries}
    if recipe.centred:
        found["less their mean"] = recipe.queries - recipe.queries.mean(axis=1, keepdims=True)
        found["less the mean row"] = recipe.queries - data.mean(axis=0, dtype=np.float64)
    return found


def measure(
    data: NDArray[Any], queries: NDArray[np.float64], bounds: Any, repeats: int
) -> dict[str, Any]:
    """Search with every query; times are the shortest of some repetitions."""
    shares, seconds, exact_seconds, scores, right = [], [], [], [], 0
    for seed, query in enumerate(queries):
        exact, taken = _timed(partial(sureshot.top_k, data, query, K, method="exact"), repeats)
        exact_seconds.append(taken)
        search = partial(sureshot.top_k, data, query, K, bounds=bounds, rng=seed)
        found, taken = _timed(search, repeats)
        seconds.append(taken)
        shares.append(found.work.share)
        scores.append(found.work.exact_scores)
        last = exact.scores[-1]
        right += int(np.count_nonzero(found.scores >= last - ROUNDING * abs(last)))
    return {
        "queries": len(queries),
        "median_share": float(np.median(shares)),
        "mean_share": float(np.mean(shares)),
        "max_share": max(shares),
        "median_exact_scores": float(np.median(scores)),
        "precision": right / (K * len(queries)),
        "median_seconds": float(np.median(seconds)),
        "exact_median_seconds": float(np.median(exact_seconds)),
    }


def _timed(call: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """Return what a call returns, and the shortest time it took."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        found = call()
        taken.append(time.perf_counter() - started)
    return found, min(taken)


def measured(name: str, order: str, settings: argparse.Namespace) -> Iterator[rows.Row]:
    """Yield the rows of one kind of data in one order."""
    generator = np.random.default_rng(settings.seed)
    arguments: tuple[Any, ...] = (settings.queries, generator)
    if name in FILES:
        arguments = (getattr(settings, FILES[name]), *arguments)
    recipe = RECIPES[name](*arguments)
    data = fill(recipe, order)
    low, high = recipe.limits or (float(data.min()), float(data.max()))
    known = {"limits": (low, high), "scan": sureshot.scan(data), "none": None}
    for treated, queries in queries_of(recipe, data).items():
        for bounds in BOUNDS:
            yield {
                "label": settings.label,
                "data": name,
                "order": order,
                "queries are": treated,
                "bounds": bounds,
                "seed": settings.seed,
                "n": data.shape[0],
                "N": data.shape[1],
                **measure(data, queries, known[bounds], settings.repeats),
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
    return markdown(titles, body)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.giving_up", description=__doc__)
    parser.add_argument(
        "--label", default="now", help="of the state of the library that is measured"
    )
    parser.add_argument("--out", type=Path, default=Path("results/giving_up.jsonl"))
    parser.add_argument("--queries", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--workloads", type=command.names_in, default=list(RECIPES), metavar="NAMES"
    )
    for option in dict.fromkeys(FILES.values()):
        parser.add_argument(
            f"--{option}", type=Path, metavar="PATH", help=".npz; skipped if not given"
        )
    settings = parser.parse_args(arguments)
    command.refuse_unknown(parser, "workloads", settings.workloads)
    return settings


def main() -> None:
    """Measure what is wanted, and print what there is."""
    settings = parse()
    environment = machine.environment()
    for name in settings.workloads:
        if name in FILES and getattr(settings, FILES[name]) is None:
            command.tell(f"{name}: skipped, it needs --{FILES[name]} PATH")
            continue
        for order in ORDERS:
            for row in measured(name, order, settings):
                rows.append(settings.out, {**row, **environment})
                command.tell(
                    f"{name}, {order} order, queries {row['queries are']}, {row['bounds']}: "
                    f"{row['median_share']:.3%}, {row['median_seconds']:.3g} s "
                    f"against {row['exact_median_seconds']:.3g} s"
                )
    print("\n".join(table(rows.read(settings.out))))


if __name__ == "__main__":
    main()
