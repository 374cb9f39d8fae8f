"""Figure 2: precision against online speed-up on Gaussian data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.experiments import speed_up, synthetic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.compare import Case
    from sureshot.experiments.rows import Row
    from sureshot.experiments.section import Section

CLAIM = (
    "On Gaussian rows all methods are precise at small speed-ups; as the speed-up grows the precision of "
    "LSH-MIPS, Greedy-MIPS and PCA-MIPS drops quickly while BoundedME keeps it high. The summary "
    "speaks of queries 5 to 10 times as fast as those of the others."
)
NOTES = (
    (
        "Independent Gaussian rows have no gap: the scores of all rows follow one bell curve whose width is "
        "that of a single score, so a sample of a share s of the coordinates knows a score with the "
        "correlation √s. That caps every method that samples coordinates, ours included."
    ),
    (
        "The rewards of Gaussian rows have a range of about 40, not 1. BoundedME with the true range reads "
        "nearly everything; with R = 1 it reads what the paper's schedule says, and keeps no promise "
        "about ε. Its rows hold the loss that is promised in truth, R ε."
    ),
)


def cases(scale: str) -> list[Case]:
    """Return the cases of a scale."""
    return synthetic.cases("fig2", "gaussian", scale)


def section(found: Sequence[Row]) -> Section:
    """Return the part of the report."""
    return speed_up.section("fig2", "Figure 2: Gaussian data", found, CLAIM, NOTES)
