"""The formula of the calculator next to the committed rows: the table of ``docs/can-it-help.md``, and what it shows readers.

Both are made when the site is built, from the rows that are committed then.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from measurements.advice import gaps
from measurements.advice.model import ANSWERS, Advice, Question, advise, constants, independent_gap
from measurements.harness import page
from measurements.harness.page import DOCS
from sureshot.experiments import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

INDEPENDENT = ("gaussian", "uniform")
ORDERS = {"row": "row", "coordinate": "column"}
WORDS = {
    "row": "memory, by row",
    "column": "memory, by column",
    "file": "file, cold",
    "cluster": "cluster",
    "scan": "scan",
    "none": "none",
}


@dataclass(frozen=True, slots=True)
class Comparison:
    """One measured search and what the formula says of it."""

    workload: str
    question: Question
    share: float
    gain: float  # over the exact product that it was measured next to
    expected: Advice


def comparisons() -> list[Comparison]:
    """Return all rows that were measured on data whose gap is known."""
    return [*_in_memory(), *_in_files(), *_on_clusters()]


def _in_memory() -> Iterator[Comparison]:
    for row in rows.read(DOCS / "results" / "speed-full.jsonl"):
        kind = {"task": "search", "method": "betting", "dtype": "float32", "k": gaps.K}
        if all(row.get(name) == value for name, value in kind.items()):
            yield from _compare(
                row["workload"],
                (row["n"], row["N"], ORDERS[row["order"]]),
                {row["bounds"]: (row["median_share"], row["ratios"]["numpy"])},
            )


def _in_files() -> Iterator[Comparison]:
    for row in rows.read(DOCS / "results" / "scale.jsonl"):
        if row["state"] == "cold":
            found = {
                bounds: (
                    row["share_of_bytes"][name],
                    row["seconds"]["streamed product"] / row["seconds"][name],
                )
                for bounds, name in OURS.items()
            }
            yield from _compare(row["data"], (row["rows"], row["columns"], "file"), found)


def _on_clusters() -> Iterator[Comparison]:
    for row in rows.read(DOCS / "results" / "cluster.jsonl"):
        seconds = row["seconds"]
        found = {
            bounds: (row["share"], seconds["dask.array"] / seconds[name])
            for bounds, name in OURS.items()
        }
        size = (row["rows"], row["columns"], "cluster")
        yield from _compare(row["data"], size, found, row["workers"])


OURS = {"scan": "sureshot, scan", "none": "sureshot, no bounds"}


def _compare(
    workload: str,
    size: tuple[int, int, str],
    found: dict[str, tuple[float, float]],
    workers: float = 8,
) -> Iterator[Comparison]:
    n, width, storage = size
    gap = gap_of(workload, n, width)
    for bounds, (share, gain) in found.items():
        if gap is not None and bounds in WORDS:
            question = Question(n, width, gap, storage, bounds, gaps.K, workers)
            yield Comparison(workload, question, share, gain, advise(question))


def gap_of(workload: str, n: int, width: int) -> float | None:
    """Return how far apart the scores of a workload are, if that is known."""
    if workload in INDEPENDENT:
        return independent_gap(n, width, gaps.K)
    known = [row for row in rows.read(gaps.ROWS) if row["workload"] == workload]
    nearest = min(known, key=lambda row: abs(row["n"] - n), default=None)
    return None if nearest is None else float(nearest["gap"])


def table() -> list[str]:
    """Return the table of all comparisons."""
    titles = ["data", "rows × numbers", "where", "bounds", "gap"]
    titles += ["share", "expected", "gain", "expected", "the answer"]
    body = []
    for one in comparisons():
        asked, expected = one.question, one.expected
        body.append(
            [
                one.workload,
                f"{asked.rows:,.0f} × {asked.width:,.0f}",
                WORDS[asked.storage],
                WORDS[asked.bounds],
                f"{asked.gap:.2g}",
                percent(one.share),
                percent(expected.share),
                f"{one.gain:.2g} ×",
                f"{expected.gain:.2g} ×",
                ANSWERS[expected.verdict].partition(":")[0],
            ]
        )
    return page.table(titles, body, words=1)


def percent(share: float) -> str:
    """Return a share in per cent, with two digits.

    Examples
    --------
    >>> percent(0.00394), percent(0.215), percent(1.02)
    ('0.39 %', '22 %', '102 %')
    """
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.2g} %"


def script() -> str:
    """Return a script that gives the calculator its constants and the measured rows."""
    found = [
        {"workload": one.workload, **asdict(one.question), "share": one.share, "gain": one.gain}
        for one in comparisons()
    ]
    content = json.dumps({"constants": constants(), "measured": found})
    return f"var SURESHOT_ADVICE = {content};\n"
