"""The table of docs/estimators.md, from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from measurements.harness import page
from sureshot.experiments import rows

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row

OURS = "sureshot"


def lines(found: list[Row]) -> list[str]:
    """Return the table: a line for each width and batch, the ratios of the metrics and workloads beside each other."""
    kinds = list(dict.fromkeys((row["workload"], row["metric"]) for row in found))
    sizes = list(dict.fromkeys((row["N"], row["n"], row["batch"]) for row in found))
    ratios = {
        (row["N"], row["n"], row["batch"], row["workload"], row["metric"]): row for row in found
    }
    body = [
        [
            f"{N:,}",
            f"{n:,}",
            f"{batch:,}",
            *(_cell(ratios.get((N, n, batch, *kind))) for kind in kinds),
        ]
        for N, n, batch in sizes
    ]
    titles = ["features", "rows", "queries", *(f"{metric}, {name}" for name, metric in kinds)]
    return [*_about(found), "", *page.table(titles, body)]


def _cell(row: Row | None) -> str:
    if row is None:
        return ""
    return f"{row['ratio']:.2f} × ({1e3 * row['seconds'][OURS]:.3g} ms)"


def _about(found: list[Row]) -> list[str]:
    last = found[-1]
    ratios = [row["ratio"] for row in found]
    level = sum(ratio >= 0.9 for ratio in ratios)
    words = (
        'Times as fast as the faster of `algorithm="brute"` and `algorithm="auto"` (and milliseconds of a call); '
        f"{level} of {len(ratios)} cases at 0.9 or more, smallest {min(ratios):.2f}, largest {max(ratios):.1f}. "
        f"{last['threads']} threads on {last['cpu']}; scikit-learn {last['sklearn']}, sureshot {last['library']} "
        f"({last['library_digest']}); seed {last['seed']}."
    )
    return [words]


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table into docs/estimators.md, and the rows beside it."""
    page.rewrite(docs / "estimators.md", {"estimators": lines(found)})
    rows.write(docs / "results" / "estimators.jsonl", found)
