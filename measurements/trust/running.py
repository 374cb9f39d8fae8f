"""What the commands share: their options, and trying what is missing in several threads for as long as there is time."""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from measurements.harness import command, machine
from sureshot.experiments import rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sureshot.experiments.rows import Row

Case = TypeVar("Case")


def parser_of(what: str, count: int, minutes: int, about: str | None) -> argparse.ArgumentParser:
    """Return the parser of a command that tries so many of `what` by default; its rows go to a file of that name."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument(f"--{what}", type=command.at_least_one, default=count)
    time_help = f"at most; {minutes} by default, 0: only write"
    parser.add_argument("--minutes", type=float, default=float(minutes), help=time_help)
    threads = machine.available_threads()
    parser.add_argument("--processes", type=command.at_least_one, default=threads)
    parser.add_argument("--out", type=Path, default=Path(f"results/trust/{what}.jsonl"))
    parser.add_argument("--write", action="store_true", help="write what was found to docs")
    return parser


def try_in_time(
    attempt: Callable[[Case], Row], left: Sequence[Case], settings: argparse.Namespace
) -> Iterator[Row]:
    """Try what is left, some at a time, until the time is over; add the rows to the file as they come."""
    end = time.monotonic() + 60 * settings.minutes

    def one(case: Case) -> Row | None:
        return attempt(case) if time.monotonic() < end else None

    with ThreadPoolExecutor(settings.processes) as threads:
        for row in threads.map(one, left):
            if row is None:
                command.report("time is over: the same command goes on")
                break
            rows.append(settings.out, row)
            yield row
