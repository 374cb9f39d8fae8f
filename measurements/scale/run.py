"""How fast matrices in files are searched, cold and warm, against the best exact ways to read the same file.

``python -m measurements.scale.run --folder FOLDER`` writes files of 8 to 16 GB to the folder, scans them, and times
the top 10 of some queries: sureshot with a scan and without bounds, a product of numpy over portions that are read
ahead, and numpy's product over a memory map. Cold means that the file was dropped from memory before each query, warm that
all of it is in memory and mapped, unless that is most of the machine's memory; and the same with a new map for each query.
Bytes are those that came from the disk. ``--small`` takes files of some MB. Rows of JSON are appended to ``--out``;
``--write`` puts them into docs/scale.md.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.harness import machine
from measurements.harness.command import report
from measurements.scale import files, table
from measurements.scale.sides import OURS, STREAM, sides
from sureshot.experiments import clock, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.rows import Row

K = 10
SIZES = {
    "full": (
        ("low-rank", 500, 1_000_000),
        ("low-rank", 2_000, 1_000_000),
        ("low-rank", 1_000, 4_000_000),
        ("low-rank", 20_000, 100_000),
        ("gradients", 2_000, 1_000_000),
        ("gaussian", 2_000, 1_000_000),
    ),
    "small": (("low-rank", 100, 200_000), ("gaussian", 100, 200_000)),
}


COLD, WARM, NEW_MAP = STATES = ("cold", "warm", "warm, a new map")


@dataclass(frozen=True)
class ScaleCase:
    """What one row measures."""

    data: str
    rows: int
    columns: int
    state: str  # one of `STATES`
    queries: int
    seed: int
    library_digest: str


def measure(case: ScaleCase, path: Path, bounds: sureshot.Bounds) -> Row:
    """Time every way to search one file."""
    mapped = np.load(path, mmap_mode="r") if case.state == WARM else None
    if case.state != COLD:
        files.read_into_memory(path)
    seconds: dict[str, float] = {}
    share_of_bytes: dict[str, float] = {}
    found: dict[str, list[list[int]]] = {}
    memory: dict[str, int | None] = {}
    results = []
    size = path.stat().st_size
    for name, call in sides(path, K, bounds, mapped).items():
        peak = machine.PeakMemory()
        peak.start()
        times, read = [], []
        if mapped is not None:
            mapped @ files.queries_of(path)[0]  # so that each page is mapped
            time.sleep(2 * clock.REST)
        for query in files.queries_of(path):
            if case.state == COLD:
                files.drop_from_memory(path)
            before = files.bytes_from_disk()
            result, taken = clock.timed(partial(call, query))
            times.append(taken)
            read.append((files.bytes_from_disk() - before) / size)
            if name == OURS:
                results.append(result)
            best: Any = result.indices if isinstance(result, sureshot.TopK) else result
            found.setdefault(name, []).append(sorted(np.asarray(best).tolist()))
        seconds[name] = float(np.median(times))
        share_of_bytes[name] = float(np.median(read))
        memory[name] = peak.growth()
    return {
        **asdict(case),
        "bytes": size,
        "k": K,
        "seconds": seconds,
        "share_of_bytes": share_of_bytes,
        "memory": memory,
        "share": float(np.median([one.work.share for one in results])),
        "rounds": float(np.median([one.work.rounds for one in results])),
        "exact_scores": float(np.median([one.work.exact_scores for one in results])),
        "choices": sorted({one.work.choice for one in results}),
        "right": {
            name: float(np.mean([a == b for a, b in zip(found[STREAM], its, strict=True)]))
            for name, its in found.items()
        },
    }


def run(settings: argparse.Namespace) -> list[Row]:
    """Measure all that is missing, one file after the other; return the rows of this state of the library."""
    environment = machine.environment()
    wanted = [
        ScaleCase(*size, state, settings.queries, settings.seed, environment["library_digest"])
        for size in SIZES["small" if settings.small else "full"]
        for state in STATES
        if state == COLD or 2 * files.bytes_of(*size[1:]) < machine.memory_bytes()
    ]
    for case in rows.missing(wanted, rows.read(settings.out)):
        if settings.data is not None and settings.data != f"{case.data}-{case.rows}":
            continue
        path = files.made(
            case.data, case.rows, case.columns, case.queries, case.seed, settings.folder
        )
        bounds = _bounds(path)
        if settings.only_make:
            continue
        row = {**environment, **measure(case, path, bounds)}
        rows.append(settings.out, row)
        report(table.lines([row])[2])
    return rows.belonging(wanted, rows.read(settings.out))


def _bounds(path: Path) -> sureshot.Bounds:
    kept = path.with_suffix(".bounds.npz")
    if not kept.exists():
        sureshot.scan(np.load(path, mmap_mode="r")).save(kept)
    return sureshot.Bounds.load(kept)


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m measurements.scale.run", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("results/files"))
    parser.add_argument("--out", type=Path, default=Path("results/scale.jsonl"))
    parser.add_argument("--small", action="store_true", help="files of some MB")
    parser.add_argument("--data", metavar="NAME", help="only this one, such as low-rank-2000")
    parser.add_argument("--only-make", action="store_true", help="write and scan, time nothing")
    parser.add_argument("--write", action="store_true", help="put the table into docs/scale.md")
    parser.add_argument("--queries", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def main() -> None:
    """Measure and print the table."""
    settings = parse()
    found = run(settings)
    print(*table.lines(found), sep="\n")
    if settings.write:
        table.write(found)


if __name__ == "__main__":
    main()
