"""What each rule of the policy is worth: the share read with the rule changed or left out.

``python -m measurements.policy.rules`` measures everything, which takes a minute or two, and writes the rows to
docs/results/policy.jsonl and the tables of docs/policy.md. The guarantee does not depend on any of these
rules, so every answer must be right all the same.
"""

from __future__ import annotations

import argparse
import dataclasses
from functools import partial
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from unittest import mock

import numpy as np

import sureshot
from measurements import workloads
from measurements.harness import machine, page, prepared
from measurements.harness.command import report
from sureshot.experiments import metrics, rows
from sureshot.experiments.numbers import per_cent
from sureshot.search.methods import METHODS
from sureshot.search.race import betting, policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measurements.harness.prepared import Prepared
    from sureshot.experiments.rows import Row

K = 10
NEVER = 1e9
AS_IT_IS = "as it is"

# What is changed of the default policy, and how it is called in the table.
VARIANTS: dict[str, dict[str, Any]] = {
    AS_IT_IS: {},
    "rounds grow by 1.1": {"growth": 1.1},
    "rounds grow by 1.4": {"growth": 1.4},
    "rounds grow by 2": {"growth": 2.0},
    "no suspension: only the exact threshold counts": {"caution": NEVER},
    "guess without caution": {"caution": 0.0},
    "guess with 2 standard errors of caution": {"caution": 2.0},
    "candidates evaluated at once": {"patience": 0.0},
    "patience 1": {"patience": 1.0},
    "patience 10": {"patience": 10.0},
    "candidates evaluated only when alone": {"patience": NEVER},
    "never give up": {"finish_after": NEVER},
}
CHANGED_WITH = ("limits", "scan")  # the bounds with which the rules are changed
BOUNDS = ("limits", "none", "scan without norms", "scan")
SIZES: dict[str, tuple[int | None, int | None]] = {
    "low-rank": (2_000, 50_000),
    "digits-gradients": (None, None),
}
ORDERS: tuple[Literal["row", "coordinate"], ...] = ("row", "coordinate")


def main() -> None:
    """Measure every variant on every workload, and write what was found."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.policy.rules", description=__doc__
    )
    parser.add_argument("--docs", type=Path, default=page.DOCS, help="folder to write to; docs")
    parser.add_argument("--queries", type=int, default=10)
    options = parser.parse_args()
    found: list[Row] = []
    for (name, (n, width)), order in product(SIZES.items(), ORDERS):
        made = workloads.make(name, n=n, N=width, queries=options.queries, order=order)
        found += measure(prepared.prepare(made), {"workload": name, "order": order})
    write(found, options.docs)


def write(found: Sequence[Row], docs: Path = page.DOCS) -> None:
    """Write the rows, and their tables into the page."""
    rows.write(docs / "results" / "policy.jsonl", found)
    page.rewrite(docs / "policy.md", tables(found))


def tables(found: Sequence[Row]) -> dict[str, list[str]]:
    """Return what the rules and what the bounds are worth, in Markdown."""
    names = ("workload", "order", "bounds", "variant")
    shares = {tuple(row[name] for name in names): row["median_share"] for row in found}
    data = list(product(SIZES, ORDERS))
    settings = [(*where, bounds) for where, bounds in product(data, CHANGED_WITH)]
    right = [row["precision"] == 1 for row in found]
    return {
        "rules": [
            *page.table(
                ["", *(f"{name}, {order}, {bounds}" for name, order, bounds in settings)],
                (
                    [variant, *(per_cent(shares[*one, variant]) for one in settings)]
                    for variant in VARIANTS
                ),
            ),
            "",
            "Every answer was right."
            if all(right)
            else f"{right.count(False)} rows have wrong answers.",
        ],
        "bounds": page.table(
            ["", *(f"{name}, {order}" for name, order in data)],
            (
                [bounds, *(per_cent(shares[*one, bounds, AS_IT_IS]) for one in data)]
                for bounds in BOUNDS
            ),
        ),
    }


def measure(ready: Prepared, about: Row) -> list[Row]:
    """Return one row per variant and kind of bounds; `about` is the part that all rows share."""
    scan = ready.bounds["scan"]
    without_norms = dataclasses.replace(scan, norms=None, norms_exact=False)
    known = ready.bounds | {"scan without norms": without_norms}
    data, queries = ready.made.data, ready.made.queries
    found = []
    for variant, changes in VARIANTS.items():
        rules = dataclasses.replace(policy.DEFAULT, **changes)
        search = partial(betting.search, rules=rules)
        changed = {"betting": dataclasses.replace(METHODS["betting"], search=search)}
        for kind in CHANGED_WITH if changes else BOUNDS:
            with mock.patch.dict(METHODS, changed):
                results = [
                    sureshot.top_k(data, query, K, bounds=known[kind], rng=seed)
                    for seed, query in enumerate(queries)
                ]
            shares = [result.work.share for result in results]
            right = [
                metrics.precision(result.indices, scores, K)
                for result, scores in zip(results, ready.true_scores, strict=True)
            ]
            row = {
                **about,
                "n": data.shape[0],
                "N": data.shape[1],
                "bounds": kind,
                "variant": variant,
                "queries": len(results),
                "median_share": float(np.median(shares)),
                "mean_share": float(np.mean(shares)),
                "max_share": float(np.max(shares)),
                "median_exact_scores": float(np.median([r.work.exact_scores for r in results])),
                "precision": float(np.mean(right)),
            }
            found.append(row | machine.environment())
            report(f"{about['workload']} {about['order']} {kind} {variant}")
    return found


if __name__ == "__main__":
    main()
