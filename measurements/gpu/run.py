"""Measures all data sets on the card, each in a process of its own: ``make bench-gpu``.

A process that fails or takes too long loses its own rows only. Rows are appended to ``--out``, and what is there is not
measured again. ``--write`` puts them into docs/gpu.md, which needs no card.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from measurements.gpu import table

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

# Seconds that a case may take.
LIMIT = 120


class Case(NamedTuple):
    """A data set, its type and its size."""

    set: str
    dtype: str
    gigabytes: float
    columns: int = 100_000


# Small data, where launches and not memory take the time; a batch of 16 bits; wide rows, and many short ones.
SMALL = [
    *(
        Case("gaussian", "float32", *shape)
        for shape in ((0.003, 768), (0.04, 1000), (0.1, 100_000))
    ),
    *(Case("low rank", "float32", size) for size in (0.1, 1.0)),
    Case("gaussian", "float32", 1.0),
    Case("gaussian", "bfloat16", 0.4),
]
SHAPES = [
    *(Case("low rank", "float32", *shape) for shape in ((4.0, 10**6), (40.0, 10**7), (4.0, 1000))),
    *(Case("gaussian", "float32", *shape) for shape in ((4.0, 100), (4.0, 1000), (0.4, 1000))),
]
# What photographs and networks have made: from files that are not part of the project.
REAL = [
    Case("images", "float32", 4.0),
    Case("fashion gradients", "float32", 4.0),
    Case("spectrograms", "float32", 4.0),
]

CASES = [
    *(
        Case(name, "float32", 4.0)
        for name in ("low rank", "unit", "gradients", "planted", "gaussian")
    ),
    *(
        Case(name, "float32", 80.0)
        for name in ("low rank", "unit", "gradients", "planted", "gaussian")
    ),
    *(Case(name, "bfloat16", 80.0) for name in ("gradients", "low rank", "gaussian")),
    *(Case(name, "bfloat16", 4.0) for name in ("low rank", "gaussian")),
    *(Case("low rank", "float32", size) for size in (0.4, 20.0, 100.0)),
    *(Case("gaussian", "float32", size) for size in (0.4, 20.0, 100.0)),
    *SMALL,
    *SHAPES,
    *REAL,
]


def main() -> None:
    """Measure what is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("results/gpu.jsonl"))
    parser.add_argument("--most-gigabytes", type=float, default=1000.0)
    parser.add_argument("--only", nargs="*", help="data sets; all by default")
    parser.add_argument("--data", type=Path, help="the folder of real data")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    done = {key(row) for row in table.read(options.out)} if options.out.exists() else set()
    for case in CASES:
        wanted = options.only is None or case.set in options.only
        wanted = wanted and (options.data is not None or case not in REAL)
        if wanted and case.gigabytes <= options.most_gigabytes and case not in done:
            measure(case, options.out, options.data)
    if options.write:
        table.write(table.read(options.out))


def key(row: Row) -> Case:
    """Return the case of a row."""
    return Case(row["set"], row["dtype"], row["gigabytes"], row["columns"])


def measure(case: Case, out: Path, data: Path | None) -> None:
    """Measure one case in a process of its own."""
    command = [sys.executable, "-m", "measurements.gpu.measure", "--out", str(out)]
    for name, value in case._asdict().items():
        command += [f"--{name}", str(value)]
    if data is not None:
        command += ["--data", str(data)]
    try:
        subprocess.run(command, check=True, timeout=LIMIT)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(json.dumps({"failed": case._asdict(), "why": str(error)[-300:]}), flush=True)


if __name__ == "__main__":
    main()
