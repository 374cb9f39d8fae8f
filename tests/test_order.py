"""The order of draws: without replacement, in proportion to the weights."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chi2

from sureshot._native import Order


def test_the_law_of_the_first_three_draws() -> None:
    """Weights are such that tickets are given anew after the first or second draw."""
    weight = np.array([1.0, 6.0, 0.0, 2.0, 0.5, 3.0])
    trials = 40_000
    found: Counter[tuple[int, ...]] = Counter()
    for seed in range(trials):
        order = Order(weight, seed)
        order.draw(3)
        found[tuple(order.blocks.tolist())] += 1
    statistic = 0.0
    sequences = list(itertools.permutations([0, 1, 3, 4, 5], 3))
    for sequence in sequences:
        left, probability = weight.sum(), 1.0
        for block in sequence:
            probability *= weight[block] / left
            left -= weight[block]
        statistic += (found[sequence] - trials * probability) ** 2 / (trials * probability)
    assert sum(found[sequence] for sequence in sequences) == trials
    assert statistic < chi2.ppf(1 - 1e-6, len(sequences) - 1)


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0])
def test_every_block_comes_once_and_the_weight_left_is_right(spread: float) -> None:
    rng = np.random.default_rng(1)
    weight = rng.lognormal(0, spread, 3000) * (rng.random(3000) < 0.9)
    order = Order(weight, 5)
    assert order.length == np.count_nonzero(weight)
    for front in (1, 7, 500, 2000, 3000):
        order.draw(front)
        drawn = order.blocks
        assert len(drawn) == min(front, order.length)
        undrawn = order.undrawn(len(drawn))
        assert sorted([*drawn, *undrawn]) == np.flatnonzero(weight).tolist()
    suffix = np.cumsum(weight[order.blocks][::-1])[::-1]
    np.testing.assert_allclose(order.left[:-1], suffix, rtol=1e-12)
    assert order.left[-1] == 0
    np.testing.assert_array_equal(order.undrawn(10), np.sort(order.blocks[10:]))


def test_the_same_seed_gives_the_same_order_however_it_is_drawn() -> None:
    weight = np.random.default_rng(2).random(1000)
    at_once, bit_by_bit = Order(weight, 3), Order(weight, 3)
    at_once.draw(1000)
    for front in range(0, 1001, 7):
        bit_by_bit.draw(front)
    bit_by_bit.draw(1000)
    np.testing.assert_array_equal(at_once.blocks, bit_by_bit.blocks)
    other = Order(weight, 4)
    other.draw(1000)
    assert not np.array_equal(at_once.blocks, other.blocks)
