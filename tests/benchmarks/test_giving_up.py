"""The measurement of giving up: every kind of data can be made, and labels stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from benchmarks import giving_up

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row


@pytest.mark.parametrize(
    "name", [name for name in giving_up.RECIPES if name not in giving_up.FILES]
)
def test_rows_and_queries_are_as_wide_as_the_recipe_says(name: str) -> None:
    recipe = giving_up.RECIPES[name](2, np.random.default_rng(0))
    assert recipe.row(0).shape == (recipe.shape[1],)
    assert recipe.queries.shape == (2, recipe.shape[1])
    assert np.isfinite(recipe.row(1)).all()


def test_labels_stand_side_by_side() -> None:
    case = {"data": "late-gap", "order": "row", "queries are": "raw", "bounds": "scan"}

    def row(label: str, share: float) -> Row:
        figures = {"median_share": share, "mean_share": share}
        return {"label": label, **case, **figures, "median_seconds": 1, "exact_median_seconds": 2}

    titles, _, line = giving_up.table([row("before", 0.5), row("after", 0.02)])
    assert titles.index("before") < titles.index("after")
    assert "| late-gap | row | raw | scan | 50" in line
    assert line.endswith("| 0.50 | 0.50 |")
