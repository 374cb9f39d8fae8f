"""The text of the demo around its comparison, for readers who do not know sureshot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from sureshot.cli.demo import NUMPY, RANK, SCAN, SCANNED, K
from sureshot.cli.tables import answer_table, plain_table, print_sentence
from sureshot.cli.text import count, duration, percent, times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.cli.demo import Example, Timed

# Times closer to each other than this differ by chance.
SAME_TIME = 1.05

# Rows of this length show the advantage of sampling.
LONG_ROWS = 100_000


def print_demo(example: Example, lines: Sequence[Timed]) -> None:
    """Print the comparison, then the answer of the scanned search in full.

    Parameters
    ----------
    example
        What was searched.
    lines
        One per method.
    """
    console = Console()
    by_label = {line.label: line for line in lines}
    scanned = by_label[SCANNED]
    rows, columns = example.data.shape
    print_sentence(
        console,
        f"Which {K} of {rows:,} rows have the largest inner product with a query? The rows follow "
        f"{RANK} hidden patterns plus noise, {count(columns, 'number')} each: "
        f"{example.data.nbytes / 1e6:,.3g} MB of float32.",
    )
    console.print(comparison_table(lines))
    console.print(explanations(len(scanned.seconds)))
    console.print()
    print_sentence(console, time_sentence(by_label[NUMPY], by_label[SCAN], scanned, rows, columns))
    if scanned.result is not None:
        console.print()
        print_sentence(console, f"{scanned.label}: {scanned.result.certificate}")
        console.print(answer_table(scanned.result, None, example.true_ranks))
    print_sentence(console, "With your own data: sureshot search DATA.npy QUERY.npy")


def comparison_table(lines: Sequence[Timed]) -> Table:
    """Return one row for each method."""
    table = plain_table()
    table.add_column("method", style="bold")
    for name in ("time", "numbers read", "share", "right"):
        table.add_column(name, justify="right")
    table.add_column("guarantee")
    for line in lines:
        table.add_row(
            line.label,
            duration(line.median_seconds),
            f"{line.numbers_read:,}",
            percent(line.share),
            "" if line.right is None else f"{line.right}/{K}",
            guarantee(line),
        )
    return table


def guarantee(line: Timed) -> str:
    """Describe the guarantee of a method in a few words."""
    if line.result is None:
        return "" if line.right is None else "exact in float32"
    certificate = line.result.certificate
    if certificate.exact:
        return "exact"
    promise = f"{percent(1 - certificate.delta)} sure"
    # The certificate states the condition in a sentence with "unless".
    return promise if certificate.unconditional else f"{promise}, if …"


def explanations(repetitions: int) -> Table:
    """Explain the words of the comparison."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column()
    table.add_row(
        "time",
        f"Median of {repetitions} runs, made just now; the scan ran once.",
    )
    table.add_row("right", f"How many of the {K} rows returned belong to the true top {K}.")
    table.add_row(
        "scan",
        "Reads the data once to find how large each row is. Stored in a file, it serves every "
        "later query.",
    )
    table.add_row(
        "betting",
        "Reads a row only until it is sure enough that others are better: with the scan, with "
        "limits (the smallest and the largest value), or with no bounds: then its guarantee has "
        "a condition (if …).",
    )
    table.add_row(
        "bounded-me",
        "Decides what to read before it sees the data. To guarantee the exact top "
        f"{K} it has to read everything.",
    )
    return table


def time_sentence(numpy: Timed, scan: Timed, scanned: Timed, rows: int, columns: int) -> str:
    """Compare the time of the scanned search with that of numpy, also where it is slower."""
    ours, theirs = scanned.median_seconds, numpy.median_seconds
    read = f"read {percent(scanned.share)} of the numbers"
    if ours * SAME_TIME < theirs:
        queries = math.ceil(scan.median_seconds / (theirs - ours))
        return (
            f"Time: betting with the scan {read} and was {times(theirs / ours)} as fast "
            f"as numpy. The time of the scan is saved after {queries:,} "
            f"such {'query' if queries == 1 else 'queries'}."
        )
    verdict = "about as long as numpy"
    if ours > theirs * SAME_TIME:
        verdict = f"{times(ours / theirs)} as long as numpy"
    longer = max(2 * columns, LONG_ROWS)
    return (
        f"Time: betting with the scan took {verdict}, although it {read}. Its time is "
        "spent on the bets, not on reading. Longer rows slow numpy down, but hardly sureshot: try "
        f"--columns {longer} ({4 * rows * longer / 1e9:.2g} GB)."
    )
