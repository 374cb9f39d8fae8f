from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.blocks import Blocks
from sureshot.query_sums import QuerySums
from sureshot.theory.intervals import (
    TINY,
    Intervals,
    from_distances,
    from_norms,
    from_scales,
    from_two_limits,
    from_values,
    limits_of_reach,
    squares_of_norms,
    to_be_estimated,
    value_intervals,
)

if TYPE_CHECKING:
    from sureshot._types import Floats

REWARD = {
    "ip": lambda value, query: value * query,
    "sqeuclidean": lambda value, query: -((value - query) ** 2),
    "l1": lambda value, query: -abs(value - query),
}
reals = st.floats(min_value=-1e6, max_value=1e6)


@pytest.mark.parametrize("metric", list(REWARD))
@given(ends=st.tuples(reals, reals), query=reals, part=st.floats(min_value=0, max_value=1))
def test_every_legal_value_has_its_reward_inside(
    metric: str, ends: tuple[float, float], query: float, part: float
) -> None:
    low, high = min(ends), max(ends)
    value = min(high, max(low, low + part * (high - low)))
    (centre,), (weight,) = value_intervals(metric, np.array([query]), low, high)
    reward = REWARD[metric](value, query)
    if weight == 0:
        assert reward == pytest.approx(centre, rel=1e-9, abs=1e-300)
    else:
        assert centre - weight <= reward <= centre + weight


@pytest.mark.parametrize("metric", list(REWARD))
@given(ends=st.tuples(reals, reals), query=reals)
def test_the_ends_are_attained(metric: str, ends: tuple[float, float], query: float) -> None:
    low, high = min(ends), max(ends)
    (centre,), (weight,) = value_intervals(metric, np.array([query]), low, high)
    candidates = [low, high, min(max(query, low), high)]
    rewards = [REWARD[metric](value, query) for value in candidates]
    slack = 1e-300 + 1e-9 * max(abs(r) for r in rewards)
    assert centre - weight == pytest.approx(min(rewards), abs=slack)
    assert centre + weight == pytest.approx(max(rewards), abs=slack)


def test_limits_per_coordinate_and_coordinates_that_cannot_matter() -> None:
    query = np.array([0.0, 2.0, -1.0])
    low, high = np.array([-1.0, 3.0, 0.0]), np.array([1.0, 3.0, 2.0])
    centre, weight = value_intervals("ip", query, low, high)
    assert weight[:2].tolist() == [0, 0]
    assert centre.tolist() == [0, 6, -1]
    assert weight[2] == pytest.approx(1)


N_ARMS, WIDTH = 6, 23
cut = pytest.mark.parametrize("blocks", [Blocks(WIDTH), Blocks(WIDTH, 4), Blocks(WIDTH, 8, 3)])


def drawn(seed: int, blocks: Blocks) -> tuple[Floats, Floats, QuerySums]:
    """Return data with values from -1 to 3, some at the ends, and a query with zeros in a whole block."""
    rng = np.random.default_rng(seed)
    data = rng.choice([-1.0, 3.0, 0.5], (N_ARMS, WIDTH)) * rng.choice([1.0, 0.9], (N_ARMS, WIDTH))
    query = rng.standard_normal(WIDTH)
    query[slice(*blocks.span(1))] = 0.0
    return data, query, QuerySums(query, blocks)


def block_sums(table: Floats, blocks: Blocks) -> Floats:
    """Return the correctly rounded sums of each row over the blocks."""
    spans = [slice(*blocks.span(block)) for block in range(blocks.count)]
    return np.array([[math.fsum(row[span]) for span in spans] for row in table])


def assert_inside(found: Intervals, sums: Floats, *, tight: float) -> None:
    """Fail unless every sum is within its interval, and some of them use a good part of it."""
    constant = found.weight == 0
    assert np.allclose(sums[:, constant], found.centre[constant], rtol=1e-12, atol=1e-300)
    y = (sums - found.centre)[:, ~constant] / found.weight[~constant]
    assert (y <= found.limit[:, None]).all()
    if found.two_sided:
        assert (-y <= found.limit[:, None]).all()
    assert (np.abs(y) / np.maximum(found.limit, TINY)[:, None]).max() >= tight
    assert found.magnitude >= np.abs(found.centre).sum() * (1 - 1e-12)


@cut
@pytest.mark.parametrize("metric", list(REWARD))
def test_every_sum_of_a_block_is_inside(metric: str, blocks: Blocks) -> None:
    data, query, sums = drawn(0, blocks)
    table = REWARD[metric](data, query)
    limits = np.full(WIDTH, -1.0), np.full(WIDTH, 3.0)
    found = from_values(metric, query, *limits, blocks, N_ARMS)
    assert_inside(found, block_sums(table, blocks), tight=0.5)
    if metric == "ip":
        assert (found.weight == 0).any()  # where the query is zero
        shorter = from_two_limits(sums, -1.0, 3.0, N_ARMS)
        assert_inside(shorter, block_sums(table, blocks), tight=0.5)
        assert shorter.weight == pytest.approx(found.weight, rel=1e-9)
        assert shorter.centre == pytest.approx(found.centre, rel=1e-9, abs=1e-12)
        small = from_two_limits(sums, -(2.0**-30), 3 * 2.0**-30, N_ARMS)
        assert small.weight == pytest.approx(found.weight * 2.0**-30, rel=1e-9, abs=0)
        one_value = from_two_limits(sums, 3.0, 3.0, N_ARMS)
        assert not one_value.weight.any()
        assert one_value.centre == pytest.approx(block_sums(3 * query[None], blocks)[0])


@cut
def test_values_at_the_larger_limit_are_inside_whatever_is_lost_to_rounding(blocks: Blocks) -> None:
    for seed in range(20):
        query = np.abs(drawn(seed, blocks)[1])
        at_the_limit, sums = block_sums(0.7 * query[None], blocks), QuerySums(query, blocks)
        for sign in (1, -1):
            low, high = sorted((sign * 1e-7, sign * 0.7))
            found = from_two_limits(sums, low, high, N_ARMS)
            assert_inside(found, sign * at_the_limit, tight=0.99)


@cut
def test_every_sum_of_a_block_is_within_its_reach(blocks: Blocks) -> None:
    data, query, sums = drawn(1, blocks)
    middle, scale = np.linspace(-2, 1, WIDTH), np.linspace(0.5, 2, WIDTH)
    reach = (np.abs(data - middle) / scale).max(axis=1)
    limit = limits_of_reach(reach, middle, scale, blocks)
    assert (reach < limit).all()
    assert limit == pytest.approx(reach, rel=1e-8)
    found = from_scales(sums, sums.absolute(scale).sums, middle, limit)
    assert_inside(found, block_sums(data * query, blocks), tight=0.3)  # most values are nearer


@cut
def test_norms_limit_no_sum_but_all_squares(blocks: Blocks) -> None:
    data, query, sums = drawn(2, blocks)
    norms = np.sqrt(np.array([math.fsum(row**2) for row in data]))
    found = from_norms(sums, sums.squares().sums, squares_of_norms(norms, blocks))
    assert found.square_limit is not None
    assert (found.square_limit > norms**2).all()
    assert found.square_limit == pytest.approx(norms**2, rel=1e-8)
    mass = block_sums(query[None] ** 2, blocks)[0]
    assert ((found.weight > mass) == (mass > 0)).all()
    assert found.weight == pytest.approx(mass, rel=1e-9)
    assert np.isinf(found.limit).all()
    assert not found.centre.any()
    assert not found.estimated


@cut
def test_squares_of_norms_that_underflow_are_limited(blocks: Blocks) -> None:
    norms = np.array([0.0, 5e-324, 1e-170, 1e-162, 1e-150])
    found = squares_of_norms(norms, blocks)
    assert all(
        Fraction(limit) > Fraction(norm) ** 2
        for limit, norm in zip(found.tolist(), norms.tolist(), strict=True)
    )


@cut
def test_what_is_not_limited(blocks: Blocks) -> None:
    _, query, sums = drawn(3, blocks)
    distances = from_distances(blocks, N_ARMS)
    assert not distances.limit.any()  # they are at most 0,
    assert not distances.two_sided  # and no more is known of them
    assert distances.weight.tolist() == block_sums(np.ones((1, WIDTH)), blocks)[0].tolist()
    unknown = to_be_estimated(sums, N_ARMS)
    assert unknown.estimated
    assert unknown.two_sided
    assert unknown.limit.tolist() == [math.inf] * N_ARMS
    assert unknown.weight == pytest.approx(block_sums(np.abs(query)[None], blocks)[0])
    assert (distances.magnitude, unknown.magnitude) == (0.0, 0.0)


def test_blocks_whose_weight_underflows_are_read() -> None:
    blocks = Blocks(3)
    sums = QuerySums(np.array([1e-200, 0.0, 1.0]), blocks)
    by_norms = from_norms(sums, sums.squares().sums, np.ones(N_ARMS))
    assert by_norms.weight[:2].tolist() == [TINY, 0.0]
    assert by_norms.weight[2] == pytest.approx(1)
    by_reach = from_scales(sums, sums.squares().sums, np.zeros(3), np.ones(N_ARMS))
    assert by_reach.weight[:2].tolist() == [TINY, 0.0]


def test_a_reach_is_widened_by_what_the_middle_loses_to_rounding() -> None:
    blocks = Blocks(1000, 16)
    found = limits_of_reach(
        np.array([0.0, 1.0]), np.array([3.0, -5.0]), np.array([0.5, 2.0]), blocks
    )
    lost = (1e-12 + 16 * 2.0**-53) * 5 / 0.5
    np.testing.assert_allclose(found, [lost, 1 + 1e-9 + lost], rtol=1e-15)
