"""The order of draws: without replacement, in proportion to the weights."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import chi2

from sureshot._native import Order
from sureshot._seed import SEEDS, FirstDraw, seed_from

if TYPE_CHECKING:
    from sureshot._types import Floats


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


def weights_of(order: Order) -> Floats:
    """Return by how much each drawn block lessened the weight left; zero for blocks never drawn.

    Exactly: there is no rounding in what is left, however many are drawn and however they differ.
    """
    left = order.left.tolist()
    taken = [Fraction(before) - Fraction(after) for before, after in itertools.pairwise(left)]
    weights = np.zeros(1 + order.blocks.max())
    weights[order.blocks] = taken
    assert [Fraction(weight) for weight in weights[order.blocks].tolist()] == taken
    return weights


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0, 100.0])
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
    other = Order(weight, 6)
    other.draw(3000)
    assert not np.array_equal(order.blocks, other.blocks)
    np.testing.assert_array_equal(weights_of(order), weights_of(other))
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


@pytest.mark.parametrize("size", [2.0**-1074, 1e-300, 1e-290, 1e-160, 1.0, 1e160, 1e300])
def test_weights_of_any_size_are_drawn(size: float) -> None:
    """To divide by what is left must not be to divide by nothing."""
    weight = np.maximum(size * np.random.default_rng(4).random(1500), 2.0**-1074)
    order = Order(weight, 6)
    order.draw(1500)
    assert sorted(order.blocks) == list(range(1500))
    weights = weights_of(order)
    assert (weights >= weight).all()
    lightest = max(float(weight.sum()) * 2.0**-51, 2.0**-1022)
    assert (weights - weight <= lightest).all()


def test_one_weight_may_be_all_there_is() -> None:
    """A block that is next to nothing beside another is drawn last, with the probability it is given."""
    weight = np.full(2000, 5e-324)
    weight[700] = 1e300
    order = Order(weight, 7)
    order.draw(2000)
    assert order.blocks[0] == 700
    assert sorted(order.blocks) == list(range(2000))
    assert np.unique(weights_of(order)[weight < 1]).tolist() == [math.ldexp(1.0, 996 + 1 - 52)]


def test_weights_without_a_finite_sum_are_refused() -> None:
    with pytest.raises(ValueError, match="finite sum"):
        Order(np.array([1e308, 1e308]), 0)


@pytest.mark.parametrize("bits", [40, 52])
def test_small_probabilities_are_exact(bits: int) -> None:
    """The second of two blocks comes first as often as its tickets say, even if it has only one."""
    weight = np.array([1.0, math.ldexp(1.0, -bits)])
    order = Order(weight, 0)
    order.draw(2)
    first, second = weights_of(order)
    assert second / first == max(2.0**-bits, 2.0**-51)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox])
def test_seeds_are_the_numbers_that_a_generator_draws(bits: type[np.random.BitGenerator]) -> None:
    for given in (0, 5, 2**63 - 1):
        generator, same = (np.random.Generator(bits(given)) for _ in range(2))
        for _ in range(3):
            assert seed_from(generator) == same.integers(SEEDS)
        assert generator.random() == same.random()
        assert FirstDraw(given).number() == np.random.default_rng(given).integers(SEEDS)
