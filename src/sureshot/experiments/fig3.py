"""Figure 3: precision against online speed-up on uniform data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot.experiments import speed_up, synthetic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.compare import ComparisonCase
    from sureshot.experiments.rows import Row
    from sureshot.experiments.section import Section

CLAIM = (
    "On uniform rows, too, the precision of the other methods drops quickly as the speed-up grows, and "
    "that of BoundedME stays high."
)
NOTES = (
    (
        "The paper does not say on which interval its values are uniform. Rows and queries are uniform in "
        "[0, 1] here, because its rewards lie in [0, 1]: the range is that of the query's largest "
        "value, a little below 1, so R = 1 holds here and nearly the same search as the true range."
    ),
    (
        "These rows have no gap either: their mean scores differ by a few thousandths at full size, far less "
        "than any ε that saves BoundedME pulls."
    ),
)


def cases(scale: str) -> list[ComparisonCase]:
    """Return the cases of a scale."""
    return synthetic.cases("fig3", "uniform", scale)


def section(found: Sequence[Row]) -> Section:
    """Return the part of the report."""
    return speed_up.section("fig3", "Figure 3: uniform data", found, CLAIM, NOTES)
