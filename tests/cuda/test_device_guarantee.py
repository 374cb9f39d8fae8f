"""The guarantee on a card: the hostile rows of the reference, searched by the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sureshot
from tests.cuda.populations import ROWS, copies, tied_rows
from tests.guarantee import assert_at_most

torch = pytest.importorskip("torch", reason="torch brings arrays on a card")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")

K, DELTA, SEARCHES = 20, 0.2, 400


def missed(rows: Any, query: Any) -> int:
    """Return how many searches of the rows, each with a seed of its own, miss one of the best."""
    tensor, asked = torch.from_numpy(rows).cuda(), torch.from_numpy(query).cuda()
    bounds = sureshot.scan(tensor)
    scores = rows.astype(np.float64) @ query.astype(np.float64)
    best = np.sort(np.argsort(-scores)[:K])
    count = 0
    for seed in range(SEARCHES):
        found = sureshot.top_k(tensor, asked, K, bounds=bounds, delta=DELTA, rng=seed)
        count += not np.array_equal(np.sort(found.indices), best)
    return count


def test_rows_that_are_nearly_tied() -> None:
    assert_at_most(
        missed(*tied_rows(np.random.default_rng(7), 1500, K, 100, 1500)), SEARCHES, DELTA
    )


@pytest.mark.parametrize("name", list(ROWS))
def test_a_hostile_row_is_kept_where_its_score_is_the_threshold(name: str) -> None:
    assert_at_most(missed(*copies(np.random.default_rng(8), name)), SEARCHES, DELTA)
