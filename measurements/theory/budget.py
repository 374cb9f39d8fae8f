"""What a budget finds, proves and loses on rows without a gap: the table of section 8 of ``docs/theory.md``.

python -m measurements.theory.budget
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import sureshot
from measurements.harness import machine, page
from measurements.harness.command import report
from sureshot.experiments import metrics, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array, Floats
    from sureshot.experiments.rows import Row

ARMS, WIDTH, K, QUERIES = 2_000, 20_000, 5, 20
LIMITS = {"gaussian": (-7.0, 7.0), "uniform": (0.0, 1.0)}
BUDGETS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)


@dataclass(frozen=True, slots=True)
class BudgetCase:
    """Some queries of one data set with one budget."""

    data: str
    n_arms: int
    width: int
    k: int
    budget: float
    queries: int
    seed: int


def cases() -> list[BudgetCase]:
    """Return all cases; those of one data set follow each other."""
    return [
        BudgetCase(data, ARMS, WIDTH, K, budget, QUERIES, seed=0)
        for data in LIMITS
        for budget in BUDGETS
    ]


def make(case: BudgetCase) -> tuple[Array, Floats]:
    """Return the rows and the queries of a case."""
    rng = np.random.default_rng(case.seed)
    shape = case.n_arms, case.width
    if case.data == "gaussian":
        data: Array = rng.standard_normal(shape, dtype=np.float32)
    else:
        data = rng.random(shape, dtype=np.float32)
    return data, rng.standard_normal((case.queries, case.width))


def measure(case: BudgetCase) -> Row:
    """Return means over the queries: what was found of the top k, lost at its last place, and proved."""
    data, queries = make(case)
    precision, lost, proved, share = [], [], [], []
    for query in queries:
        scores = data.astype(np.float64) @ query
        found = sureshot.top_k(
            data, query, case.k, bounds=LIMITS[case.data], budget=case.budget, rng=case.seed
        )
        precision.append(metrics.precision(found.indices, scores, case.k))
        lost.append(metrics.suboptimality(found.indices, scores, case.k))
        proved.append(found.certificate.epsilon)
        share.append(found.work.share)
    return {
        **asdict(case),
        "precision": float(np.mean(precision)),
        "suboptimality": float(np.mean(lost)),
        "promised_epsilon": float(np.mean(proved)),
        "share": float(np.mean(share)),
    }


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table in Markdown."""
    titles = ["rows", "budget", "numbers read", "found of the top 5", "lost", "proved"]
    body = [
        [
            row["data"],
            f"{row['budget']:.0%}",
            f"{row['share']:.1%}",
            f"{row['precision']:.2f}",
            f"{row['suboptimality']:.3g}",
            f"{row['promised_epsilon']:,.0f}",
        ]
        for row in found
    ]
    return page.table(titles, body)


def main() -> None:
    """Measure what is missing and write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.theory.budget", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=page.DOCS / "results" / "budget.jsonl")
    settings = parser.parse_args()
    environment = machine.environment()
    for case in rows.missing(cases(), rows.read(settings.out)):
        rows.append(settings.out, {**measure(case), **environment})
        report(f"{case}: done")
    found = rows.belonging(cases(), rows.read(settings.out))
    page.rewrite(page.DOCS / "theory.md", {"budget": lines(found)})
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
