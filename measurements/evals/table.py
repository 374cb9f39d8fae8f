"""The tables of docs/evals.md, from rows."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from measurements.evals import results
from measurements.harness import page

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row


def outcomes(found: list[Row]) -> dict[tuple[int, float], dict[str, tuple[float, float]]]:
    """Return, for each size and epsilon, the share and how often it was right of each strategy."""
    cells: dict[tuple[int, float], dict[str, list[tuple[float, float]]]] = {}
    for row in found:
        blocks = cells.setdefault((row["examples"], row["epsilon"]), {})
        for one in row["outcomes"]:
            blocks.setdefault(one["name"], []).append((one["share"], one["right"]))
    return {
        case: {
            name: (fmean(share for share, _ in blocks), fmean(right for _, right in blocks))
            for name, blocks in strategies.items()
        }
        for case, strategies in sorted(cells.items())
    }


def lines(found: list[Row]) -> list[str]:
    """Return the table: for each size and promise, what each strategy took and how often it was right."""
    cells = outcomes(found)
    names = [one["name"] for one in found[0]["outcomes"] if one["name"] != "everything"]
    body = [
        [
            f"{examples:,}",
            f"{epsilon:g}",
            *(f"{of[name][0]:.1%}, {of[name][1]:.0%}" for name in names),
        ]
        for (examples, epsilon), of in cells.items()
    ]
    return [*_about(found), "", *page.table(["examples", "ε", *names], body)]


def _about(found: list[Row]) -> list[str]:
    models, right = results.read()
    accuracies = sorted(zip(right.mean(axis=1), models, strict=True), reverse=True)
    (best, name), (second, _), (worst, _) = accuracies[0], accuracies[1], accuracies[-1]
    last = found[-1]
    orders = last["orders"] * len({row["first"] for row in found})
    words = (
        f"{len(models)} models; the best, {name}, is right on {best:.2%} of {right.shape[1]:,} examples, "
        f"the second on {second:.2%}, the worst on {worst:.2%}. {orders} orders, "
        f"δ = {last['delta']:g}, sureshot {last['library']}. "
        "Each cell: answers paid for as a share of all, and in how many orders the choice was within ε of the best."
    )
    return [words]


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the table into docs/evals.md."""
    page.rewrite(docs / "evals.md", {"replay": lines(found)})
