"""The tables of docs/trust.md on hostile searches, from rows."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from measurements.harness import page

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sureshot.experiments.rows import Row

# What a row of the summary is about, and what it adds up.
KIND = ("method", "replacement", "metric", "bounds", "order", "delta")
COUNTS = ("trials", "wrong", "broken", "excused", "certain")

# The chance that a correct method has so many failures in some line of the table.
LUCK = 1e-6


def summary(raw: Iterable[Row]) -> list[Row]:
    """Add up the rows of all tables of a kind, and name the population that failed most often."""
    populations: dict[tuple[object, ...], dict[str, dict[str, int]]] = defaultdict(
        lambda: defaultdict(lambda: dict.fromkeys(COUNTS, 0))
    )
    commits = set()
    for row in raw:
        commits.add(row["commit"])
        counts = populations[tuple(row[name] for name in KIND)][row["population"]]
        for name in COUNTS:
            counts[name] += row[name]
    found = []
    for kind in sorted(populations, key=str):
        own = populations[kind]
        worst = max(own, key=lambda name: (own[name]["wrong"] / own[name]["trials"], name))
        found.append(
            {
                **dict(zip(KIND, kind, strict=True)),
                **{name: sum(one[name] for one in own.values()) for name in COUNTS},
                "worst": worst,
                "worst_wrong": own[worst]["wrong"],
                "worst_trials": own[worst]["trials"],
                "commits": sorted(commits),  # that all searches were made with
            }
        )
    return found


def title(row: Row) -> str:
    """Return the name of a method, and how it draws."""
    method: str = row["method"]
    return f"{method}, with replacement" if row["replacement"] else method


def chance(wrong: int, trials: int, delta: float) -> float:
    """Return how likely a method that is wrong in a share delta has so many failures or more.

    By Chernoff's bound, which is a little too large.

    Examples
    --------
    >>> chance(5, 100, 0.05)
    1.0
    >>> chance(40, 100, 0.05) < 1e-6
    True
    """
    rate = wrong / trials
    if rate <= delta:
        return 1.0
    rest = (1 - rate) * math.log((1 - rate) / (1 - delta)) if rate < 1 else 0.0
    return math.exp(-trials * (rate * math.log(rate / delta) + rest))


def merged(found: Sequence[Row]) -> list[Row]:
    """Add up the metrics and memory orders: one row for each method, kind of bounds and delta."""
    groups: dict[tuple[str, str, float], list[Row]] = defaultdict(list)
    for row in found:
        groups[title(row), row["bounds"], row["delta"]].append(row)
    merged_rows = []
    for (name, bounds, delta), group in groups.items():
        worst = max(group, key=lambda row: row["worst_wrong"] / row["worst_trials"])
        merged_rows.append(
            {
                "title": name,
                "bounds": bounds,
                "delta": delta,
                **{count: sum(row[count] for row in group) for count in COUNTS},
                **{key: worst[key] for key in ("worst", "worst_wrong", "worst_trials", "metric")},
            }
        )
    return merged_rows


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table: how often each method was wrong, and on which data most often."""
    titles = [
        *("method", "searches", "proved", "wrong", "share", "δ", "broken promises"),
        *("bounds", "worst data"),
    ]
    body = []
    for row in merged(found):
        share = row["worst_wrong"] / row["worst_trials"]
        worst = f"{row['worst']}, {row['metric']}: {share:.3f}" if row["worst_wrong"] else "–"
        body.append(
            [
                row["title"],
                f"{row['trials']:,}",
                f"{row['certain'] / row['trials']:.0%}",
                f"{row['wrong']:,}",
                f"{row['wrong'] / row['trials']:.4f}",
                f"{row['delta']:g}",
                f"{row['broken']:,}",
                row["bounds"],
                worst,
            ]
        )
    return page.table(titles, body, words=2)


def verdict(found: Sequence[Row]) -> list[str]:
    """Return the sentences that say what the table shows."""
    if not found:
        return ["Nothing has been searched yet."]
    trials, broken = (sum(row[name] for row in found) for name in ("trials", "broken"))
    unlucky = [
        row for row in found if chance(row["worst_wrong"], row["worst_trials"], row["delta"]) < LUCK
    ]
    rate = max(row["worst_wrong"] / row["worst_trials"] / row["delta"] for row in found)
    sentence = (
        f"{trials:,} searches. An answer that was called exact was wrong in {broken:,} of them. On no kind of data was the "
        f"share of wrong answers more than {rate:.2f} times δ; {len(unlucky):,} kinds of data and search had more of them "
        f"than a correct method has by a chance of one in a million."
    )
    return [sentence]


def sections(found: Sequence[Row]) -> dict[str, list[str]]:
    """Return the generated parts of the page by the names of their marks."""
    return {"searches verdict": verdict(found), "searches": lines(found) if found else []}
