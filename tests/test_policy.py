"""The rules of cost: what they weigh, never whether an answer is right."""

from __future__ import annotations

import numpy as np
import pytest

from sureshot.search import policy
from sureshot.search.costs import PULLS, Costs

ROWS = Costs(
    visit=200.0,
    step=7.0,
    lone_step=7.0,
    draw=0.0,
    row=2.0,
    rest=2.0,
    round=0.0,
    ledger_bytes=1 << 20,
)


def test_the_slowest_arms_are_evaluated_and_no_others() -> None:
    """A row of 1,000 blocks costs 2,000, as much as 286 steps."""
    needed = np.array([10.0, 285.0, 287.0, 900.0, 0.0])
    assert policy.how_many_to_evaluate(ROWS, needed, front=100, length=1000) == 2


def test_an_arm_that_needs_a_long_order_alone_is_evaluated() -> None:
    costs = Costs(**{name: getattr(ROWS, name) for name in Costs.__slots__} | {"draw": 100.0})
    needed = np.array([10.0, 200.0])
    assert policy.how_many_to_evaluate(ROWS, needed, front=100, length=1000) == 0
    assert policy.how_many_to_evaluate(costs, needed, front=100, length=1000) == 1


def test_pulls_are_never_spent_on_an_arm_that_needs_fewer() -> None:
    needed = np.array([10.0, 400.0, 899.0])
    assert policy.how_many_to_evaluate(PULLS, needed, front=100, length=1000) == 0


@pytest.mark.parametrize(
    ("foretold", "expected"), [(10.0, 0), (130.0, 128), (300.0, 256), (1e9, 256)]
)
def test_a_round_goes_on_to_where_arms_are_foretold_to_be_beaten(
    foretold: float, expected: int
) -> None:
    """In whole groups of bets, and at most to four times the front."""
    assert policy.foretold_front(policy.DEFAULT, ROWS, 64, 1000, foretold) == expected
    assert policy.foretold_front(policy.DEFAULT, PULLS, 64, 1000, foretold) == 0


def test_rounds_end_where_a_group_of_bets_does_unless_pulls_cost() -> None:
    for front in (8, 32, 100, 999):
        assert policy.next_front(policy.DEFAULT, ROWS, front, 10_000, 50) % policy.GROUP == 0
    assert policy.next_front(policy.DEFAULT, PULLS, 100, 10_000, 50) == 120
    assert policy.next_front(policy.DEFAULT, ROWS, 999, 1001, 50) == 1001
