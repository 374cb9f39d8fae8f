"""The race of betting elimination: every step is what plain numpy makes of the block sums."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot import _native
from sureshot._native import ACTIVE, DROPPED, KNOWN, SUSPENDED
from sureshot.search.problem import Tally
from sureshot.search.race import betting, policy
from sureshot.search.race.race import Race
from sureshot.sources.base import QuerySource
from sureshot.sources.dense import DenseSource
from tests.reference.checked_race import CheckedRace
from tests.reference.tables import CASES, KINDS, N_ARMS, N_COORDINATES, Table, table_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Answer

# Arms are then dropped one by one, also where it would be cheaper to evaluate them or to read them all to the end.
NEVER_GIVE_UP = dataclasses.replace(policy.DEFAULT, finish_after=1e9, most_slow_arms=64)


def checked_search(
    table: Table, seed: int, monkeypatch: pytest.MonkeyPatch, rules: policy.Policy = NEVER_GIVE_UP
) -> tuple[Answer, CheckedRace]:
    """Search with a race that is checked after every step."""
    races = []

    def checked(*arguments: Any) -> CheckedRace:
        races.append(CheckedRace(table, *arguments))
        return races[0]

    with monkeypatch.context() as patch:
        patch.setattr(betting, "Race", checked)
        answer = betting.search(table.problem, np.random.default_rng(seed), Tally(), rules)
    return answer, races[0]


def assert_best(answer: Answer, table: Table, epsilon: float) -> None:
    """Compare the answer with the truth, position by position."""
    found = np.sort(table.scores[answer.positions])
    assert (found >= np.sort(table.scores)[-len(found) :] - epsilon).all()


@pytest.mark.parametrize(("kind", "order", "signs"), CASES)
def test_every_step_is_what_plain_numpy_makes_of_it(
    kind: str, order: str, signs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    suspended, dropped, came_back = 0, 0, 0
    for seed, epsilon in enumerate((0.0, 0.0, 100.0)):
        rng = np.random.default_rng([1, seed])
        table = table_of(kind, order, rng, signs=signs, epsilon=epsilon)
        answer, race = checked_search(table, seed, monkeypatch)
        assert_best(answer, table, epsilon)
        assert answer.certificate.epsilon == epsilon
        assert answer.certificate.unconditional == (kind != "estimated")
        suspended += race.verdicts[SUSPENDED]
        dropped += race.verdicts[DROPPED]
        came_back += race.came_back
    assert dropped > 100
    assert suspended > 0 or kind == "estimated"
    if kind == "norms" and order == "F":
        assert came_back > 0


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_step_where_a_score_is_expected(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With norms it is bet on from the first step on, unless none allows such a score."""
    for seed, share in enumerate((0.5, 1.0, 1e9)):
        table = table_of("norms", order, np.random.default_rng([4, seed]))
        expected = share * float(np.sort(table.scores)[-table.problem.k])
        problem = dataclasses.replace(table.problem, expected_score=expected)
        answer, race = checked_search(
            dataclasses.replace(table, problem=problem), seed, monkeypatch
        )
        assert_best(answer, table, 0.0)
        possible = share <= 1
        assert (race.evidence.guesses[0] == expected) == possible
        assert (race.fronts[1] > policy.DEFAULT.first_front) == possible


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_step_under_a_budget(kind: str, order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The epsilon that is reached is what the bets against the arms that are left allow."""
    ended_early = 0
    for seed, share in enumerate((0.03, 0.1, 0.3)):
        table = table_of(kind, order, np.random.default_rng([2, seed]))
        budget = int(share * N_ARMS * N_COORDINATES)
        table = dataclasses.replace(
            table, problem=dataclasses.replace(table.problem, budget=budget)
        )
        answer, race = checked_search(table, seed, monkeypatch)
        assert_best(answer, table, answer.certificate.epsilon)
        # The answers are read to the end also where the budget does not allow it.
        assert race.tally.numbers_read <= budget + len(answer.positions) * N_COORDINATES
        ended_early += answer.certificate.early
    assert ended_early > 0


@pytest.mark.parametrize("kind", KINDS)
def test_every_step_of_a_search_that_reads_the_rest_to_the_end(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = dataclasses.replace(policy.DEFAULT, finish_after=0.0)
    read_whole = 0
    for seed in range(3):
        table = table_of(kind, "C", np.random.default_rng([3, seed]))
        answer, race = checked_search(table, seed, monkeypatch, rules)
        assert_best(answer, table, 0.0)
        read_whole += len(race.ledger.arms_with(KNOWN))
    assert read_whole > 3 * len(answer.positions)


def drop_one_too_many(race: Race) -> None:
    race.ledger.status[race.ledger.arms_with(ACTIVE)[-1]] = DROPPED


def spare_one(race: Race) -> None:
    dropped = race.ledger.arms_with(DROPPED)
    # By its bets: what is certain of an arm that was never read is not compared.
    read = dropped[race.ledger.steps[dropped] > 0]
    race.ledger.status[read[:1]] = ACTIVE


def raise_the_threshold(race: Race) -> None:
    race.threshold = max(race.threshold, float(race.ledger.scores.max()))


def lower_the_level(race: Race) -> None:
    race.log_level -= math.log(race.problem.k)


def forget_what_was_read(race: Race) -> None:
    race.tally.numbers_read -= 1


def move_an_estimate(race: Race) -> None:
    race.ledger.estimates[-1] *= 1 + 1e-6


def raise_the_guess(race: Race) -> None:
    race.guess += 1.0


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("suspend_and_drop", drop_one_too_many),
        ("suspend_and_drop", spare_one),
        ("suspend_and_drop", raise_the_guess),
        ("evaluate_candidates", raise_the_threshold),
        ("read_on", lower_the_level),
        ("read_on", forget_what_was_read),
        ("read_on", move_an_estimate),
    ],
)
def test_planted_errors_are_seen(
    step: str, error: Callable[[Race], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(Race, step)

    def wrong(race: Race) -> Any:
        returned = right(race)
        error(race)
        return returned

    monkeypatch.setattr(Race, step, wrong)
    # Where a row is expensive, arms are dropped, and not read to the end, where a mistake is put right.
    table = table_of("range", "F", np.random.default_rng(4))
    with pytest.raises(AssertionError):
        checked_search(table, 0, monkeypatch)


@pytest.mark.parametrize("kind", KINDS)
def test_instruction_sets_and_threads_give_the_same_search(kind: str) -> None:
    best = _native.instruction_set()
    found = []
    try:
        for instructions in _native.instruction_sets():
            for threads in (1, 2, 3):
                _native.use_instruction_set(instructions)
                table = table_of(kind, "C", np.random.default_rng(3), threads=threads)
                tally = Tally()
                answer = betting.search(table.problem, np.random.default_rng(7), tally)
                found.append((answer.positions.tolist(), answer.scores.tolist(), tally.rounds))
    finally:
        _native.use_instruction_set(best)
    assert all(one == found[0] for one in found)


def test_numbers_of_any_size_are_kept_well() -> None:
    """The kept numbers are short; their unit follows the data."""
    numbers = set()
    for unit in (2.0**-400, 2.0**-100, 1.0, 2.0**100, 2.0**400):
        table = table_of("norms", "C", np.random.default_rng(6), unit=unit)
        tally = Tally()
        betting.search(table.problem, np.random.default_rng(1), tally)
        numbers.add(tally.numbers_read)
    assert len(numbers) == 1


class GivenSums(QuerySource):
    """A source that the kernels cannot read themselves: it gives what another one answers."""

    def __init__(self, source: DenseSource) -> None:
        self.source, self.query, self.costs = source, source.query, source.costs
        self.n_arms, self.n_coordinates = source.n_arms, source.n_coordinates
        self.blocks, self.bytes_per_number = source.blocks, source.bytes_per_number
        self.coordinate_major = source.coordinate_major

    def block_sums(self, arms: Ints, blocks: Ints) -> Floats:
        return self.source.block_sums(arms, blocks)

    def sums_and_squares(self, arms: Ints, blocks: Ints) -> tuple[Floats, Floats]:
        return self.source.sums_and_squares(arms, blocks)

    def exact_scores(self, arms: Ints, blocks: Ints | None = None) -> Floats:
        return self.source.exact_scores(arms, blocks)

    def exact_scores_of(self, queries: Floats, arms: Ints, team: _native.Team) -> Floats:
        return self.source.exact_scores_of(queries, arms, team)

    def exact_scores_and_norms(
        self, queries: Floats, arms: Ints, team: _native.Team
    ) -> tuple[Floats, Floats]:
        return self.source.exact_scores_and_norms(queries, arms, team)


@pytest.mark.parametrize(("kind", "order", "signs"), CASES)
def test_sums_that_are_given_are_bet_on_like_those_that_the_ledger_reads(
    kind: str, order: str, signs: bool
) -> None:
    problem = table_of(kind, order, np.random.default_rng(3), signs=signs).problem
    assert isinstance(problem.source, DenseSource)
    given = dataclasses.replace(problem, source=GivenSums(problem.source))
    found = []
    for one in (problem, given):
        tally = Tally()
        answer = betting.search(one, np.random.default_rng(4), tally, NEVER_GIVE_UP)
        found.append((answer.positions.tolist(), tally.rounds, answer.certificate))
    assert found[0] == found[1]


def test_norm_bets_are_not_placed_without_squares() -> None:
    problem = table_of("norms", "C", np.random.default_rng(3)).problem
    race = Race(problem, np.random.default_rng(4), Tally(), policy.DEFAULT)
    race.order.draw(4)
    race.ledger.record(race.order, race.centre, 0, 4, 0.0, stakes=True)
    with pytest.raises(ValueError, match="need the sums of squares"):
        race.ledger.add(race.problem.team, np.zeros((4, N_ARMS)), np.arange(N_ARMS), 0, 4)
