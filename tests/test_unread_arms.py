"""Arms that wait until others have set a threshold, and are dropped unread if their norms are too small for it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot._native import DROPPED
from sureshot.search.race import policy
from sureshot.search.race.costs import costs_of
from sureshot.search.race.race import Race
from sureshot.sources.costs import in_memory
from sureshot.theory import intervals
from tests.racing import race_any_size
from tests.reference.tables import table_of
from tests.test_race import NEVER_GIVE_UP, assert_best, checked_search

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot.query_sums import QuerySums
    from sureshot.theory.intervals import Intervals

ROWS = costs_of(in_memory(16, 4, coordinate_major=False), 10_000)
COLUMNS = costs_of(in_memory(16, 4, coordinate_major=True), 10_000)
SPREAD = np.random.default_rng(0).lognormal(0, 0.7, 10_000)

# Some arms wait wherever there are norms, whatever that costs.
WAIT = dataclasses.replace(NEVER_GIVE_UP, beginners=0.4, waiting_rounds=-(10**9))

K, ARMS, WIDTH = 2, 60, 1024


def test_arms_wait_where_many_may_never_be_read() -> None:
    least = policy.limit_to_begin(policy.DEFAULT, ROWS, SPREAD, 10, 6250)
    assert least is not None
    assert (least <= SPREAD).mean() == pytest.approx(policy.DEFAULT.beginners, abs=0.03)
    for limits, costs, k, length in (
        (np.ones(10_000), ROWS, 10, 6250),  # all arms can reach as much
        (SPREAD[:100], ROWS, 10, 6250),  # there are few
        (SPREAD, ROWS, 10, 10**6),  # to evaluate k of the first ones in vain would cost more
        (SPREAD, COLUMNS, 10, 6250),  # the same
        (SPREAD, ROWS, 1000, 6250),  # more are wanted than begin
    ):
        assert policy.limit_to_begin(policy.DEFAULT, costs, limits, k, length) is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("rules", [WAIT, dataclasses.replace(WAIT, finish_after=0.0)])
def test_every_step_is_what_plain_numpy_makes_of_it(
    order: str, signs: bool, rules: policy.Policy, monkeypatch: pytest.MonkeyPatch
) -> None:
    unread = 0
    for seed, epsilon in enumerate((0.0, 0.0, 100.0)):
        table = table_of(
            "norms", order, np.random.default_rng([1, seed]), signs=signs, epsilon=epsilon
        )
        answer, race = checked_search(table, seed, monkeypatch, rules)
        assert_best(answer, table, epsilon)
        dropped = race.ledger.arms_with(DROPPED)
        unread += int((race.ledger.steps[dropped] == 0).sum())
    # Before anything is predicted, the arms that wait are read.
    assert unread > 0 or rules.finish_after == 0


def aligned_and_short(rng: np.random.Generator, query: Floats) -> Floats:
    """Return rows of which the best ones are short: their scores are all that their norms allow.

    The others are long, and hardly less good. Some are so short that they need not be read.
    """
    norm = float(np.linalg.norm(query))
    across = rng.standard_normal((ARMS, WIDTH))
    across -= np.outer(across @ query / norm**2, query)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    scores = np.linspace(0.9, 0.99, ARMS)
    lengths = np.full(ARMS, 4.0)
    scores[:K] = lengths[:K] = 1.0 + 1e-6 * np.arange(K)
    scores[K:10], lengths[K:10] = 0.0, 0.5
    along = np.outer(scores, query / norm)
    return np.asarray(along + across * np.sqrt(lengths**2 - scores**2)[:, None])


def found_share(monkeypatch: pytest.MonkeyPatch) -> float:
    """Search aligned and short rows often; return how often the best ones were found."""
    race_any_size(monkeypatch)
    monkeypatch.setattr(policy, "finishing_may_pay", lambda *_: False)
    monkeypatch.setattr(policy, "limit_to_begin", lambda *_: 2.0)
    dropped_unread, found = 0, 0
    answer = Race.answer

    def remembered(race: Race) -> object:
        nonlocal dropped_unread
        dropped = race.ledger.arms_with(DROPPED)
        dropped_unread += int((race.ledger.steps[dropped] == 0).sum())
        return answer(race)

    monkeypatch.setattr(Race, "answer", remembered)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        query = rng.standard_normal(WIDTH)
        rows = aligned_and_short(rng, query)
        norms = sureshot.Bounds(norms=np.linalg.norm(rows, axis=1))
        result = sureshot.top_k(rows, query, K, bounds=norms, delta=0.01, rng=seed)
        found += set(result.indices) == set(range(K))
    assert dropped_unread >= 20 * 8
    return found / 20


def test_an_arm_that_its_norm_allows_is_not_dropped_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    assert found_share(monkeypatch) == 1.0


def test_planted_a_limit_that_is_too_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundredths are enough for the best arms to be dropped although nothing was read of them."""

    from_norms = intervals.from_norms

    def short(sums: QuerySums, squares: Floats, square_limit: Floats) -> Intervals:
        # Only of the arms that wait: the others would be found out when they are read.
        limits = np.where(square_limit < 4.0, 0.96, 1.0) * square_limit
        return from_norms(sums, squares, limits)

    monkeypatch.setattr(intervals, "from_norms", short)
    with pytest.raises(AssertionError):
        assert found_share(monkeypatch) == 1.0
