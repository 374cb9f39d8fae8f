"""Arms that were suspended at far too high a guess: they come back before much is spent in vain."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot._native import ACTIVE, SUSPENDED
from sureshot.search.race import costs, policy
from sureshot.search.race.race import Race
from tests.racing import race_any_size
from tests.reference.tables import KINDS, table_of
from tests.test_race import NEVER_GIVE_UP, assert_best, checked_search

if TYPE_CHECKING:
    from sureshot._types import Ints

LEFT_ACTIVE = 20


@pytest.fixture(autouse=True)
def first_guess_is_wild(monkeypatch: pytest.MonkeyPatch) -> None:
    """Suspend nearly all arms after the first round, as a guess does that single large rewards make."""
    right = Race.evaluate_candidates

    def wrong(race: Race) -> None:
        if len(race.fronts) == 2:
            active = race.ledger.arms_with(ACTIVE)
            race.ledger.status[active[LEFT_ACTIVE:]] = SUSPENDED
            race.highest_guess = math.inf
        else:
            right(race)

    race_any_size(monkeypatch)
    monkeypatch.setattr(Race, "evaluate_candidates", wrong)


@pytest.mark.parametrize("kind", KINDS)
def test_arms_come_back_before_others_are_evaluated(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[int] = []
    right = Race.evaluate

    def watched(race: Race, positions: Ints) -> None:
        if race.tally.exact_scores == 0:
            compared.append(race.ledger.n_active)
        right(race, positions)

    monkeypatch.setattr(Race, "evaluate", watched)
    for seed in range(3):
        table = table_of(kind, "F", np.random.default_rng([4, seed]))
        answer, _ = checked_search(table, seed, monkeypatch)
        assert_best(answer, table, 0.0)
    assert min(compared) > LEFT_ACTIVE


def test_arms_that_catch_up_take_no_more_memory_than_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The race gives up before that, however far they have to go."""
    allowed = 40_000
    taken: list[int] = []
    right = Race._take_in

    def watched(race: Race, *arguments: object) -> None:
        taken.append(race.ledger.bytes)
        right(race, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(costs, "LEDGER_BYTES", allowed)
    monkeypatch.setattr(costs, "LEDGER_BYTES_OF_ARM", 0)
    monkeypatch.setattr(Race, "_take_in", watched)
    for seed in range(4):
        table = table_of("distances", "F", np.random.default_rng([5, seed]))
        answer, _ = checked_search(table, seed, monkeypatch, NEVER_GIVE_UP)
        assert_best(answer, table, 0.0)
    assert max(taken) <= policy.DEFAULT.most_memory * allowed
