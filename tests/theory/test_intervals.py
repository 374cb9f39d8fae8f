from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureshot.theory.intervals import value_intervals

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
