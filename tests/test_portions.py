"""Which blocks are read together under a budget, and in which order."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot import _native
from sureshot.blocks import Blocks
from sureshot.search.race.portions import Portions, blocks_together

if TYPE_CHECKING:
    from sureshot._types import Floats


def test_the_largest_weights_come_first_and_equal_ones_at_random() -> None:
    portions = Portions(Blocks(600), np.arange(600), together=2)
    weight = np.repeat(np.arange(300) % 3.0, 2)
    orders = [portions.by_weight(weight, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], orders[2])
    for order in orders:
        np.testing.assert_array_equal(np.sort(order), np.arange(300))
        np.testing.assert_array_equal(order % 3, np.repeat([2, 1, 0], 100))
        assert 0.3 < np.mean(np.diff(order[:100]) > 0) < 0.7


@pytest.mark.parametrize("weight", [np.zeros(500), np.full(500, 1e-300), np.full(500, 1e300)])
def test_equal_weights_are_shuffled(weight: Floats) -> None:
    order = _native.heaviest_first(weight, 3)
    np.testing.assert_array_equal(np.sort(order), np.arange(500))
    assert 0.4 < np.mean(np.diff(order) > 0) < 0.6
    assert len(_native.heaviest_first(weight[:0], 3)) == 0


@pytest.mark.parametrize(
    ("by_column", "in_memory", "n_arms", "together"),
    [
        (False, True, 10_000, 64),  # a quarter of what the first round reads
        (True, True, 10_000, 1),
        (True, True, 10, 13),  # 520 bytes
        (True, False, 10_000, 256),
    ],
)
def test_columns_in_memory_are_read_one_by_one_if_they_are_long(
    *, by_column: bool, in_memory: bool, n_arms: int, together: int
) -> None:
    source: Any = SimpleNamespace(
        coordinate_major=by_column,
        dense=object() if in_memory else None,
        n_arms=n_arms,
        bytes_per_number=4,
        blocks=Blocks(100_000, 1 if by_column else 16),
    )
    assert blocks_together(source, 256 if not by_column else 1_024) == together


def test_portions_are_made_of_neighbours() -> None:
    portions = Portions(Blocks(40), np.array([0, 1, 3, 8, 9, 10, 11, 39]), together=4)
    assert portions.count == 3
    np.testing.assert_array_equal(portions.sums(np.ones(40)), [3, 4, 1])
    np.testing.assert_array_equal(portions.blocks_of(np.array([2, 0])), [0, 1, 3, 39])
    assert Portions(Blocks(40), np.arange(0), together=4).count == 0
