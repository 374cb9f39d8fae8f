"""What each rule of the policy is worth: the share read with the rule changed or left out.

``python -m benchmarks.policy [--out results/policy.jsonl]`` appends JSON rows and prints a table. The
guarantee does not depend on any of these rules, so every answer must be right all the same.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from benchmarks import machine, workloads
from sureshot.experiments import rows
from sureshot.search import betting, policy, run

if TYPE_CHECKING:
    from benchmarks.workloads import Workload

NEVER = 1e9

# What is changed of the default policy, and how it is called in the table.
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
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
    "never give up": {"hopeless_after": NEVER},
}
BOUNDS = ("limits", "scan", "scan without norms", "none")


def bounds_of(kind: str, made: Workload, scan: sureshot.Bounds) -> Any:
    """Return the bounds of one kind."""
    return {
        "limits": (made.low, made.high),
        "scan": scan,
        "scan without norms": dataclasses.replace(scan, norms=None),
        "none": None,
    }[kind]


def main() -> None:
    """Measure every variant on every workload."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("results/policy.jsonl"))
    parser.add_argument("--queries", type=int, default=10)
    options = parser.parse_args()
    sizes: list[tuple[str, Any, Any]] = [
        ("low-rank", 2_000, 50_000),
        ("digits-gradients", None, None),
    ]
    print("| workload | order | bounds | variant | median share | mean | exact scores | right |")
    print("|---|---|---|---|---|---|---|---|")
    for name, n, width in sizes:
        for order in ("row", "coordinate"):
            made = workloads.make(name, n=n, N=width, queries=options.queries, order=order)
            for row in measure(made, order):
                rows.append(options.out, row)
                print(
                    f"| {name} | {order} | {row['bounds']} | {row['variant']} "
                    f"| {row['median_share']:.3%} | {row['mean_share']:.3%} "
                    f"| {row['median_exact_scores']:g} | {row['precision']:.3f} |",
                    flush=True,
                )


def measure(made: Workload, order: str) -> list[dict[str, Any]]:
    """Return one row per variant and kind of bounds."""
    scan = sureshot.scan(made.data)
    truth = [set(sureshot.top_k(made.data, q, 10, method="exact").indices) for q in made.queries]
    found = []
    for variant, changes in VARIANTS.items():
        rules = dataclasses.replace(policy.DEFAULT, **changes)
        run.METHODS["betting"] = partial(betting.search, rules=rules)
        kinds = BOUNDS if not changes else ("limits", "scan")
        for kind in kinds:
            bounds = bounds_of(kind, made, scan)
            results = [
                sureshot.top_k(made.data, q, 10, bounds=bounds, rng=i)
                for i, q in enumerate(made.queries)
            ]
            shares = [result.work.share for result in results]
            right = [len(truth[i] & set(r.indices)) / 10 for i, r in enumerate(results)]
            row = {
                "workload": made.name,
                "order": order,
                "n": made.data.shape[0],
                "N": made.data.shape[1],
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
            print(f"{made.name} {order} {kind} {variant}", file=sys.stderr)
    return found


if __name__ == "__main__":
    main()
