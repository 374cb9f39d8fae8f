"""Figures 2 and 3: precision against online speed-up on independent values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.experiments import compare, grids, sets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sureshot.experiments.compare import ComparisonCase
    from sureshot.experiments.rows import Row
    from sureshot.experiments.sets import DataSet

KS = (5, 10)
SHAPES = {"small": (1_000, 4_000), "paper": (10_000, 100_000)}
QUERIES = {"small": 5, "paper": 5}


def cases(figure: str, data: str, scale: str) -> list[ComparisonCase]:
    """Return the cases of one of the two figures."""
    return grids.cases(figure, data, SHAPES[scale], KS, grids.GRIDS[scale], QUERIES[scale])


def measure(wanted: Sequence[ComparisonCase], folder: Path | None = None) -> Iterator[Row]:  # noqa: ARG001
    """Yield the row of each case."""
    return compare.measure(wanted, load)


def load(case: ComparisonCase) -> DataSet:
    """Make the data of a case."""
    return sets.MADE[case.data](case.n, case.N, case.queries, case.seed)
