"""The progress of ``sureshot reproduce``: a bar with the time left, or lines without a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot.experiments.reproduce import Step

# Without a terminal a line is printed at most this often, and for the last row.
SECONDS_BETWEEN_LINES = 5.0


def follow(steps: Iterator[Step]) -> int:
    """Show the steps as they come, and return how many rows were measured."""
    console = Console(stderr=True)
    if sys.stderr.isatty() and console.is_interactive:
        return _with_bar(steps, console)
    return _with_lines(steps)


def _with_bar(steps: Iterator[Step], console: Console) -> int:
    measured = 0
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        # Rows take very different times: the estimate averages over a longer time than usual.
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, speed_estimate_period=300) as display:
        task = display.add_task("first row", total=None)
        for step in steps:
            measured += 1
            words = f"{step.experiment}: {step.words}"
            display.update(task, description=words[:70], completed=step.done, total=step.total)
    return measured


def _with_lines(steps: Iterator[Step]) -> int:
    measured, started, printed = 0, time.monotonic(), float("-inf")
    for step in steps:
        measured += 1
        now = time.monotonic()
        if now - printed >= SECONDS_BETWEEN_LINES or step.done == step.total:
            printed = now
            left = time_left(measured, step.total - step.done, now - started)
            click.echo(
                f"{step.done}/{step.total} {step.experiment}: {step.words} ({left})", err=True
            )
    return measured


def time_left(measured: int, missing: int, seconds: float) -> str:
    """Predict the time left from the time so far.

    Examples
    --------
    >>> time_left(10, 20, 30.0), time_left(10, 20, 3000.0), time_left(3, 0, 1.0)
    ('about 60 s left', 'about 100 min left', 'done')
    """
    if missing == 0:
        return "done"
    rest = missing * seconds / measured
    return f"about {rest:.0f} s left" if rest < 120 else f"about {rest / 60:.0f} min left"
