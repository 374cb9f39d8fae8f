"""Results as tables and sentences for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from sureshot.cli.demo import PATTERNS, K
from sureshot.cli.text import count, duration, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from sureshot import TopK, Work
    from sureshot.cli.demo import Example, Timed

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
            console.print(_answer_table(query, f"query {position}" if several else None))
    _print_sentence(console, f"{'For each query: ' if several else ''}{result.certificate}")
    _print_sentence(console, _work_sentence(result.work, len(result.queries)))


def print_demo(example: Example, lines: Sequence[Timed]) -> None:
    """Print the comparison of the demo, then the last answer in full.

    Parameters
    ----------
    example
        What was searched.
    lines
        One per method, numpy first.
    """
    console = Console()
    rows, columns = example.data.shape
    _print_sentence(
        console,
        f"Which {K} of {rows:,} rows have the largest inner product with a query? Each row is a "
        f"mix of {PATTERNS} patterns plus noise, {count(columns, 'number')} long; all rows "
        f"together are {example.data.nbytes / 1e6:,.3g} MB of float32.",
    )
    console.print(_comparison_table(lines))
    _print_sentence(
        console,
        f"Times are medians of {len(lines[0].seconds)}, all on the same data in this run. "
        f"ε = {example.epsilon:,.6g} is half the score that a row equal to the query would have: "
        "the last row returned by bounded-me may be that much worse than the true one.",
    )
    last = lines[-1]
    if last.result is not None:
        console.print(_answer_table(last.result, f"answer of {last.label}", example.true_ranks))
        _print_sentence(console, str(last.result.certificate))


def print_examination(found: Mapping[str, Any]) -> None:
    """Print what `sureshot doctor` found."""
    table = _table()
    table.show_header = False
    table.add_column(style="bold")
    table.add_column()
    for name in ("sureshot", "python", "numpy", "platform"):
        table.add_row(name, found[name])
    table.add_row("cpu features", ", ".join(found["cpu_features"]) or "none used")
    table.add_row("threads", str(found["threads"]))
    for extra, packages in found["extras"].items():
        missing = f"not installed: pip install 'sureshot[{extra}]'"
        for package, version in packages.items():
            table.add_row(f"{package} ({extra})", version or missing)
    # The hint must stay in one piece to be copied, so the table may be wider than the terminal.
    Console().print(table, markup=False, crop=False, no_wrap=True, overflow="ignore")


def _table(title: str | None = None) -> Table:
    return Table(
        title=title,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        collapse_padding=True,  # the comparison of the demo just fits into 80 columns
        pad_edge=False,
    )


def _answer_table(
    result: TopK, title: str | None, true_ranks: npt.NDArray[np.int64] | None = None
) -> Table:
    table = _table(title)
    for name in ("rank", "index", "score"):
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
    table = _table()
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


def _comparison_table(lines: Sequence[Timed]) -> Table:
    table = _table()
    table.add_column("method", style="bold")
    for name in ("time", "× numpy", "numbers read", "share", "right"):
        table.add_column(name, justify="right")
    table.add_column("guaranteed?")
    numpy_seconds = lines[0].median_seconds
    for line in lines:
        table.add_row(
            line.label,
            duration(line.median_seconds),
            f"{line.median_seconds / numpy_seconds:.2f}",
            f"{line.numbers_read:,}",
            percent(line.share),
            f"{line.right}/{K}",
            _guarantee(line),
        )
    return table


def _guarantee(line: Timed) -> str:
    if line.result is None:
        return "exact, in float32"
    certificate = line.result.certificate
    if certificate.exact:
        return "exact"
    promise = "exact" if certificate.epsilon == 0 else "within ε"
    return f"{promise}, {percent(1 - certificate.delta)} sure"


def _work_sentence(work: Work, queries: int) -> str:
    each = f"{percent(work.share)} of the data" + (" per query" if queries > 1 else "")
    speed = work.bytes_read / work.seconds / 1e6
    return (
        f"Read {count(work.numbers_read, 'number')} ({each}) in {count(work.rounds, 'round')}, "
        f"{duration(work.seconds)}, {speed:,.0f} MB/s."
    )


def _print_sentence(console: Console, sentence: str) -> None:
    # Wrapped for a reader, but one line for a pipe, so that it can be searched.
    console.print(sentence, markup=False, highlight=False, soft_wrap=not console.is_terminal)
