"""Results as tables and sentences for a terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from sureshot.cli.text import count, duration, percent

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from sureshot import TopK, Work
    from sureshot.cli.scan import Scanned

# With more queries than this, each gets one row of one table instead of a table of its own.
QUERIES_WITH_OWN_TABLE = 10


def print_result(result: TopK) -> None:
    """Print the answer of a search, what is guaranteed of it, and what it cost."""
    console = Console()
    several = result.scores.ndim > 1
    if len(result.queries) > QUERIES_WITH_OWN_TABLE:
        console.print(_queries_table(result))
    else:
        for position, query in enumerate(result.queries):
            console.print(answer_table(query, f"query {position}" if several else None))
    print_sentence(console, f"{'For each query: ' if several else ''}{result.certificate}")
    print_sentence(console, _work_sentence(result.work, len(result.queries)))
    if result.work.choice:
        print_sentence(console, f"How: {result.work.choice}.")


def print_best(result: TopK, everything: int, price: float | None) -> None:
    """Print the best arms of a table of rewards, what is guaranteed of them, and what it cost.

    Parameters
    ----------
    result
        Of the search.
    everything
        How many rewards the table has.
    price
        What one of them costs, if that is known.
    """
    console = Console()
    console.print(answer_table(result, None, names=("rank", "arm", "mean reward")))
    print_sentence(console, str(result.certificate))
    print_sentence(console, _work_sentence(result.work, 1))
    print_sentence(console, saved_sentence(result.work.numbers_read, everything, price))


def saved_sentence(read: int, everything: int, price: float | None) -> str:
    """Say how many rewards fewer than all were read, and what that saves.

    Examples
    --------
    >>> saved_sentence(300, 1000, 0.02)
    'That is 700 rewards fewer than all 1,000 (70 %); at 0.02 each 6.00 instead of 20.00.'
    >>> saved_sentence(1000, 1000, None), saved_sentence(1001, 1000, None)
    ('That is all 1,000 rewards.', 'That is 1 reward more than all 1,000 (0.1 %).')
    """
    saved = everything - read
    less = (
        f"{count(abs(saved), 'reward')} {'fewer' if saved > 0 else 'more'} than all {everything:,}"
    )
    sentence = f"That is {less} ({percent(abs(saved) / everything)})"
    if saved == 0:
        sentence = f"That is all {count(everything, 'reward')}"
    if price is not None:
        cost, whole = price * read, price * everything
        sentence += f"; at {price:g} each {cost:,.2f} instead of {whole:,.2f}"
    return f"{sentence}."


def print_scan(found: Scanned, data: Path, out: Path) -> None:
    """Print what a scan found, what it cost, and how to use it."""
    table = plain_table()
    table.show_header = False
    table.add_column(style="bold")
    table.add_column()
    table.add_row("rows", f"{found.rows:,}")
    table.add_row("coordinates", f"{found.coordinates:,}")
    table.add_row("largest norm", f"{found.largest_norm:.6g}")
    table.add_row("time", duration(found.seconds))
    table.add_row("speed", f"{found.gigabytes_per_second:.3g} GB/s")
    console = Console()
    console.print(table)
    command = shlex.join(["sureshot", "search", str(data), "QUERY.npy", "--bounds", str(out)])
    print_sentence(console, f"Stored in {out}. Use it with: {command}")


def print_examination(found: Mapping[str, Any]) -> None:
    """Print what `sureshot doctor` found."""
    table = plain_table()
    table.show_header = False
    table.add_column(style="bold")
    table.add_column()
    for name in ("sureshot", "python", "numpy", "platform"):
        table.add_row(name, found[name])
    others = [name for name in found["instruction_sets"] if name != found["instruction_set"]]
    also = f" (also here: {', '.join(others)})" if others else ""
    table.add_row("instruction set", found["instruction_set"] + also)
    table.add_row("threads", str(found["threads"]))
    for extra, packages in found["extras"].items():
        missing = f"not installed: pip install 'sureshot[{extra}]'"
        for package, version in packages.items():
            table.add_row(f"{package} ({extra})", version or missing)
    # The command must stay on one line to be copied, so the table may be wider than the terminal.
    Console().print(table, markup=False, crop=False, no_wrap=True, overflow="ignore")


def plain_table(title: str | None = None) -> Table:
    """Return an empty table in the style of all tables here."""
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        collapse_padding=True,  # the comparison of the demo just fits into 80 columns
        pad_edge=False,
    )


def answer_table(
    result: TopK,
    title: str | None,
    true_ranks: npt.NDArray[np.int64] | None = None,
    names: tuple[str, str, str] = ("rank", "index", "score"),
) -> Table:
    """Return the rows that one query found, with their true ranks if these are known."""
    table = plain_table(title)
    for name in names:
        table.add_column(name, justify="right")
    if true_ranks is not None:
        table.add_column("true rank", justify="right")
    scores, indices = result
    for position, (score, index) in enumerate(zip(scores, indices, strict=True)):
        cells = [str(position + 1), str(index), f"{score:.8g}"]
        if true_ranks is not None:
            cells.append(str(true_ranks[index]))
        table.add_row(*cells)
    return table


def _queries_table(result: TopK) -> Table:
    table = plain_table()
    for name in ("query", "best index", "best score", "last index", "last score", "read", "time"):
        table.add_column(name, justify="right")
    for position, query in enumerate(result.queries):
        scores, indices = query
        table.add_row(
            str(position),
            str(indices[0]),
            f"{scores[0]:.8g}",
            str(indices[-1]),
            f"{scores[-1]:.8g}",
            percent(query.work.share),
            duration(query.work.seconds),
        )
    return table


def _work_sentence(work: Work, queries: int) -> str:
    each = f"{percent(work.share)} of the data" + (" per query" if queries > 1 else "")
    if work.numbers_scanned:
        each += f"; {work.numbers_scanned:,} of them by the scan"
    return (
        f"Read {count(work.numbers_read, 'number')} ({each}) in {count(work.rounds, 'round')}, "
        f"{duration(work.seconds)}."
    )


def print_sentence(console: Console, sentence: str) -> None:
    """Print a sentence: wrapped on a terminal, in one line in a pipe, where it may be searched."""
    console.print(sentence, markup=False, highlight=False, soft_wrap=not console.is_terminal)
