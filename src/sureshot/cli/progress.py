"""A line on stderr that shows how far a slow search or scan has come."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from sureshot.cli.text import count, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import ProgressColumn

    from sureshot import RoundInfo, ScanInfo

# Most searches end before a person would expect to see progress.
SECONDS_BEFORE_SHOWN = 1.0


def describe(info: RoundInfo, numbers: int, queries: int) -> str:
    """Describe the progress of a search in a few words.

    Parameters
    ----------
    info
        The round that has just ended.
    numbers
        How many numbers the data holds.
    queries
        How many queries the search has.
    """
    parts = [
        f"round {info.round}",
        f"{count(info.arms, 'arm')} undecided",
        f"{percent(info.numbers_read / numbers)} read",
    ]
    if info.epsilon is not None:
        parts.append(f"certificate so far: within {info.epsilon:.3g}")
    if queries > 1:
        parts.insert(0, f"query {info.query + 1} of {queries}")
    return " · ".join(parts)


@contextmanager
def shown_if_slow(numbers: int, queries: int) -> Iterator[Callable[[RoundInfo], object] | None]:
    """Give the `progress` argument of a search: a live line if it is slow, None without a terminal.

    Parameters
    ----------
    numbers, queries
        As in `describe`.
    """
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with _live_if_slow(*columns) as display:
        if display is None:
            yield None
            return
        task = display.add_task("first round")
        yield lambda info: display.update(task, description=describe(info, numbers, queries))


@contextmanager
def shown_each_round(numbers: int, queries: int) -> Iterator[Callable[[RoundInfo], object] | None]:
    """Give the `progress` argument of a search: a line for every round, with or without a terminal.

    Parameters
    ----------
    numbers, queries
        As in `describe`.
    """
    yield lambda info: click.echo(describe(info, numbers, queries), err=True)


@contextmanager
def scan_shown_if_slow(name: str) -> Iterator[Callable[[ScanInfo], object] | None]:
    """Give the `progress` argument of a scan: a bar if it is slow, None without a terminal."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with _live_if_slow(*columns) as display:
        if display is None:
            yield None
            return
        task = display.add_task(f"scanning {name}", total=None)

        def show(info: ScanInfo) -> None:
            text = f"{info.rows:,} of {count(info.all_rows, 'row')} of {name}"
            display.update(task, description=text, completed=info.rows, total=info.all_rows)

        yield show


@contextmanager
def _live_if_slow(*columns: ProgressColumn) -> Iterator[Progress | None]:
    """Give a display that is shown if it is needed for long; None without a terminal."""
    console = Console(stderr=True)
    if not (sys.stderr.isatty() and console.is_interactive):
        yield None
        return
    display = Progress(*columns, console=console, transient=True)
    # A timer, not a check after each round: the first round may be the slow one.
    timer = Timer(SECONDS_BEFORE_SHOWN, display.start)
    timer.daemon = True
    timer.start()
    try:
        yield display
    finally:
        timer.cancel()
        timer.join()
        display.stop()
