"""Data that is ready to be searched, and what is known of it before the first search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sureshot
from sureshot.experiments import answers, clock

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot.experiments.sets import DataSet


@dataclass(frozen=True)
class Prepared:
    """A data set, what `bounds` may be for it, and the true scores, shape (queries, n)."""

    made: DataSet
    bounds: dict[str, Any]
    true_scores: Floats
    scan_seconds: float


def prepare(made: DataSet, threads: int | None = None) -> Prepared:
    """Scan the data and score every row for every query."""
    scanned, seconds = clock.timed(lambda: sureshot.scan(made.data, threads=threads))
    bounds = {"limits": (made.low, made.high), "scan": scanned, "none": None, "unit": "unit"}
    return Prepared(made, bounds, answers.true_scores(made.data, made.queries), seconds)
