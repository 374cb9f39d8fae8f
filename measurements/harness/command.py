"""What the commands share: options, data files, progress."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.harness import machine, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Workloads that read a file, and the option that names it.
FILE_OPTIONS = {
    "fashion-gradients": "fashion",
    "spectrograms": "spectrograms",
    "spectrograms-centred": "spectrograms",
    "spectrograms-copied": "spectrograms",
    "images": "fashion",
    "images-upsampled": "fashion",
    "copied-clips": "spectrograms",
    "mixed-clips": "spectrograms",
    "enlarged-images": "fashion",
}


def add_options(parser: argparse.ArgumentParser, known: Iterable[str]) -> None:
    """Add the options that say which of the known workloads are measured, and with what."""
    names = list(known)
    parser.add_argument(
        "--workloads",
        type=names_in,
        default=names,
        metavar="NAMES",
        help=f"comma-separated, of: {', '.join(names)}",
    )
    parser.add_argument("--seed", type=int, default=0, help="of data and searches; 0 by default")
    add_file_options(parser, names)


def add_run_options(parser: argparse.ArgumentParser, room: str, written: str) -> None:
    """Add the options of a room's command that measures what is missing, and may write it to the documents."""
    threads = machine.available_threads()
    parser.add_argument("--threads", type=at_least_one, default=threads, help="all by default")
    parser.add_argument("--out", type=Path, default=Path(f"results/{room}.jsonl"))
    parser.add_argument("--write", action="store_true", help=f"write {written} to docs")


def print_table(
    room: str,
    description: str | None,
    sizes: tuple[int, int, int],
    table: Callable[[int, int, int], list[str]],
    part: str,
) -> None:
    """Read the command line of a room that measures one table, print it, and write it if that is wanted.

    `table` is given rows, coordinates and calls, by default `sizes`; `part` is its place in docs/benchmarks.md.
    """
    n_arms, n_coordinates, calls = sizes
    parser = argparse.ArgumentParser(prog=f"python -m measurements.{room}", description=description)
    parser.add_argument("-n", type=int, default=n_arms, help=f"rows; {n_arms:,} by default")
    parser.add_argument(
        "-N", type=int, default=n_coordinates, help=f"coordinates; {n_coordinates:,} by default"
    )
    parser.add_argument(
        "--calls", type=int, default=calls, help=f"of each kind; {calls:,} by default"
    )
    parser.add_argument("--write", action="store_true", help="add to docs/benchmarks.md")
    settings = parser.parse_args()
    lines = table(settings.n, settings.N, settings.calls)
    print(*lines, sep="\n")
    if settings.write:
        page.rewrite(page.DOCS / "benchmarks.md", {part: lines})


def add_most_numbers(parser: argparse.ArgumentParser, default: float, what: str) -> None:
    """Add the option that leaves out what is too large for a machine."""
    parser.add_argument(
        "--most-numbers", type=float, default=default, help=f"{what}; {default:.0e} by default"
    )


def at_least_one(text: str) -> int:
    """Return a number of an option that must be 1 or more."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {number}")
    return number


def add_file_options(parser: argparse.ArgumentParser, names: Iterable[str]) -> None:
    """Add the options that name the data files of these workloads."""
    for option in dict.fromkeys(FILE_OPTIONS[name] for name in names if name in FILE_OPTIONS):
        parser.add_argument(
            f"--{option}", type=Path, metavar="PATH", help=f"{option}, .npz; skipped if not given"
        )


def names_in(text: str) -> list[str]:
    """Return the parts of a comma-separated list."""
    return text.split(",")


def refuse_unknown(parser: argparse.ArgumentParser, option: str, names: Iterable[str]) -> None:
    """End with an error if the option `option` names something that is not known."""
    known = list(parser.get_default(option))
    for name in names:
        if name not in known:
            parser.error(f"--{option}: expected some of {', '.join(known)}; got {name!r}")


def file_of(name: str, settings: argparse.Namespace) -> Path | None:
    """Return the file that a workload reads; None if it needs none."""
    path: Path | None = getattr(settings, FILE_OPTIONS[name]) if name in FILE_OPTIONS else None
    return path


def lacks_file(name: str, settings: argparse.Namespace) -> bool:
    """Return whether a workload needs a file that was not given or is not there, and report it."""
    if name not in FILE_OPTIONS:
        return False
    path = file_of(name, settings)
    if path is None:
        report(f"{name}: skipped, it needs --{FILE_OPTIONS[name]} PATH")
    elif not path.exists():
        report(f"{name}: skipped, expected a file, got {path}")
    return path is None or not path.exists()


def report(line: str) -> None:
    """Report progress."""
    print(line, file=sys.stderr, flush=True)
