"""How far apart the scores of the workloads are, in the unit of the calculator.

``python -m measurements.advice.gaps`` measures them in seconds and writes ``docs/results/gaps.jsonl``. Rows of few
coordinates are enough: but for independent values the gap does not depend on their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from measurements import workloads
from measurements.harness import machine
from measurements.harness.page import DOCS
from sureshot.experiments import rows

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.experiments.rows import Row

ROWS = DOCS / "results" / "gaps.jsonl"
WIDTH = 4_000
QUERIES = 12
K = 10
CASES = [("low-rank", n) for n in (1_000, 2_000, 2_500, 3_000, 10_000)] + [
    ("planted-0.3", 10_000),
    ("unit-norm", 1_000),
]


def gap_of(data: Array, query: Array, k: int) -> float:
    """Return how far the k-th best score lies above the median, over the norm of the query and of a typical row."""
    scores = data @ query
    norms = np.linalg.norm(data, axis=1)
    apart = np.sort(scores)[-k] - np.median(scores)
    return float(apart / (np.linalg.norm(query) * np.median(norms)))


def measure(workload: str, n: int) -> Row:
    """Measure the gaps of some queries of one workload; the row has their median."""
    made = workloads.make(workload, n=n, N=WIDTH, queries=QUERIES)
    gaps = [gap_of(made.data, query, K) for query in made.queries]
    return {"workload": workload, "n": n, "N": WIDTH, "k": K, "gap": float(np.median(gaps))}


def main() -> None:
    """Measure all of them."""
    rows.write(ROWS, [measure(*case) | machine.environment() for case in CASES])


if __name__ == "__main__":
    main()
