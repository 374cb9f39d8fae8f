"""Hostile arguments and files, in processes of their own: nothing may end one, or keep it busy for long.

``python -m measurements.trust.fuzz --inputs 100000 --minutes 30``. An interrupted run goes on with the same command.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.harness import command, machine, page
from measurements.trust import fuzz_table, running
from sureshot.experiments import rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.rows import Row

COMMITTED = page.DOCS / "results" / "trust-fuzz.jsonl"
ROOT = Path(__file__).parents[2]
KINDS = ("arguments", "files")
TOGETHER = 200  # inputs of a process
PATIENCE = 300.0  # seconds for them, which take a few


@dataclass(frozen=True)
class Batch:
    """Inputs that one process tries."""

    kind: str
    seed: int


def batches(inputs: int) -> list[Batch]:
    """Return enough of them for so many inputs, half of each kind."""
    seeds = -(-inputs // (TOGETHER * len(KINDS)))
    return [Batch(kind, seed) for seed in range(seeds) for kind in KINDS]


def attempt(batch: Batch, folder: Path, count: int = TOGETHER) -> Row:
    """Let a process try its inputs, and return a row that says what it found."""
    folder.mkdir(parents=True, exist_ok=True)
    last, found = (folder / f"{batch.kind}-{batch.seed}.{name}" for name in ("last", "found"))
    found.unlink(missing_ok=True)
    words = [sys.executable, "-m", "measurements.trust.fuzz", "--child"]
    words += [batch.kind, str(batch.seed), str(count)]
    began = time.monotonic()
    try:
        child = subprocess.run(
            [*words, str(last), str(found)],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
        )
        ended = (
            "" if child.returncode == 0 else f"ended with {child.returncode}: {child.stderr[-500:]}"
        )
        answered = int(child.stdout.split()[-1]) if not ended else 0
    except subprocess.TimeoutExpired:
        ended, answered = f"no end after {PATIENCE:.0f} s", 0
    wrong = found.read_text(encoding="utf-8").split("\0") if found.exists() else []
    if ended:
        wrong.append(f"{ended}\n{last.read_text(encoding='utf-8') if last.exists() else ''}")
    last.unlink(missing_ok=True)
    return {
        **asdict(batch),
        "inputs": count,
        "answered": answered,
        "found": [text for text in wrong if text.strip()],
        "seconds": round(time.monotonic() - began, 2),
        "commit": machine.environment()["commit"],
    }


def be_child(kind: str, seed: int, count: int, last: Path, found: Path) -> None:
    """Try the inputs of a batch; write down each of them before, and what is wrong after."""
    room = importlib.import_module(
        f"measurements.trust.{kind}"
    )  # what the other kind needs is slow to import

    def report(text: str) -> None:
        with found.open("a", encoding="utf-8") as file:
            file.write(text + "\0")

    def note(text: str) -> None:
        last.write_text(text, encoding="utf-8")

    print(room.fuzz(seed, count, note, report))


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Return the options."""
    parser = running.parser_of("inputs", 100_000, 30, __doc__)
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def measure(settings: argparse.Namespace) -> None:
    """Try what is missing, as long as there is time."""
    folder = settings.out.parent.resolve() / "fuzz"
    left = rows.missing(batches(settings.inputs), rows.read(settings.out))
    for row in running.try_in_time(lambda batch: attempt(batch, folder), left, settings):
        for text in row["found"]:
            command.report(f"{row['kind']}, seed {row['seed']}: {text[:2000]}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Try, and write the page if asked to."""
    settings = parse(arguments)
    if settings.child:
        kind, seed, count, last, found = settings.child
        be_child(kind, int(seed), int(count), Path(last), Path(found))
        return
    if settings.minutes > 0:
        measure(settings)
    found = fuzz_table.summary(rows.read(settings.out))
    print("\n".join(fuzz_table.lines(found)))
    if settings.write:
        rows.write(COMMITTED, found)
        page.rewrite(page.DOCS / "trust.md", {"fuzz": fuzz_table.lines(found)})


if __name__ == "__main__":
    main()
