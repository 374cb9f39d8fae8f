"""What a search saves on the committed results of models: docs/evals.md.

``python -m measurements.evals.run`` replays the table of ``measurements.evals.classifiers`` for several promises and sizes of
the test set, writes the rows to docs/results/evals.jsonl and the tables to the page. What has a row is not
replayed again. Some ten minutes from nothing.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measurements.evals import results, table
from measurements.harness.command import report
from measurements.harness.page import DOCS
from sureshot.evals import replay
from sureshot.experiments import rows

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

DELTA = 0.05
EPSILONS = (0.0, 0.01, 0.02, 0.05)
SIZES = (1_000, 10_000)  # the first examples of the table: they are in no order
BLOCKS, ORDERS = 10, 10  # a row has the orders of one block


@dataclass(frozen=True)
class EvalsCase:
    """What one row measures: how many of the examples, what is asked, and the first of how many orders."""

    examples: int
    epsilon: float
    delta: float
    first: int
    orders: int


def cases() -> list[EvalsCase]:
    """Return everything that is measured."""
    return [
        EvalsCase(size, epsilon, DELTA, block * ORDERS, ORDERS)
        for block, size, epsilon in itertools.product(range(BLOCKS), SIZES, EPSILONS)
    ]


def measure(case: EvalsCase) -> Row:
    """Replay the table, and return the row."""
    _, right = results.read()
    found = replay(
        right[:, : case.examples],
        epsilon=case.epsilon,
        delta=case.delta,
        orders=case.orders,
        rng=case.first,
    )
    return {**asdict(case), **found.to_dict(), **rows.environment()}


def main() -> None:
    """Replay what has no row, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=DOCS / "results" / "evals.jsonl")
    asked = parser.parse_args()
    for case in rows.missing(cases(), rows.read(asked.out)):
        row = measure(case)
        rows.append(asked.out, row)
        report(f"{case}: {row['outcomes'][0]['share']:.1%}")
    table.write(rows.read(asked.out))


if __name__ == "__main__":
    main()
