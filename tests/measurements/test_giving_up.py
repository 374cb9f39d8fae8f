"""The measurement of giving up: every kind of data can be made, and labels stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from measurements import workloads
from measurements.harness import command
from measurements.policy import giving_up
from measurements.workloads import misleading

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row


@pytest.mark.parametrize("name", [n for n in giving_up.WORKLOADS if n not in command.FILE_OPTIONS])
def test_a_search_of_each_kind_of_data_has_a_row(name: str) -> None:
    made = workloads.make(name, n=30, N=1_200, queries=2)
    row = giving_up.measure(made.data, made.queries.astype(float), (made.low, made.high), repeats=1)
    assert row["precision"] == 1
    assert row["queries"] == 2
    assert 0 < row["median_share"] <= row["max_share"]


@pytest.mark.parametrize("name", workloads.MISLEADING)
def test_misleading_data_is_as_large_as_asked_for(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    rng = np.random.default_rng(0)
    clips = rng.integers(0, 100, (20, 3 * misleading.FRAMES), dtype=np.uint8)
    images = rng.integers(0, 255, (40, 28, 28), dtype=np.uint8)
    np.savez(path, S=clips, train_images_idx3_ubyte=images)
    width = None if name in command.FILE_OPTIONS else 97
    made = workloads.make(name, n=30, queries=2, path=path, N=width)
    assert made.data.shape == (30, made.queries.shape[1])
    assert len(made.queries) == 2
    assert made.low <= made.data.min() <= made.data.max() <= made.high
    again = workloads.make(name, n=30, queries=2, path=path, order="coordinate", threads=3, N=width)
    np.testing.assert_array_equal(again.data, made.data)


def test_labels_stand_side_by_side() -> None:
    case = {"data": "late-gap", "order": "row", "queries are": "raw", "bounds": "scan"}

    def row(label: str, share: float) -> Row:
        figures = {"median_share": share, "mean_share": share}
        return {"label": label, **case, **figures, "median_seconds": 1, "exact_median_seconds": 2}

    titles, _, line = giving_up.table([row("before", 0.5), row("after", 0.02)])
    assert titles.index("before") < titles.index("after")
    assert "| late-gap | row | raw | scan | 50" in line
    assert line.endswith("| 0.50 | 0.50 |")
