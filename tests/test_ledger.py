"""The native ledger against evidence in plain numpy, which bets with the formulas of the theory."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot import _native
from sureshot._native import ACTIVE, DROPPED, KNOWN, SUSPENDED
from sureshot.search.budget import Budget
from sureshot.search.problem import Tally
from sureshot.search.race import policy
from sureshot.search.race.race import Race
from tests.guarantee import assert_at_most
from tests.ledgers import empty_ledger, ledger_of
from tests.reference.estimates import estimates_of
from tests.reference.evidence import Evidence
from tests.reference.tables import CASES, N_ARMS, N_COORDINATES, Table, table_of

if TYPE_CHECKING:
    from sureshot._types import Floats


def walked(table: Table, seed: int, rounds: int) -> tuple[Race, Evidence]:
    """Let all arms read some rounds, with guesses, and return the same evidence in plain numpy."""
    rules = policy.Policy(largest_growth=1.2)
    race = Race(table.problem, np.random.default_rng(seed), Tally(), rules)
    evidence = Evidence(table, race.order)
    for _ in range(rounds):
        staked = race.ladder.limit > 0 or not table.problem.intervals.estimated
        guess = race.guess
        race.read_on()
        evidence.record_guess(guess, race.front, stakes=staked)
        race.guess = race.ledger.survey(table.problem.k, rules.caution).guess
    if table.problem.intervals.estimated:
        evidence.limit[:] = race.ladder.limit
    return race, evidence


@pytest.mark.parametrize(("kind", "order", "signs"), CASES)
@pytest.mark.parametrize("instructions", _native.instruction_sets())
def test_bets_win_where_those_of_the_reference_do(
    kind: str, order: str, signs: bool, instructions: str
) -> None:
    """At every level and threshold, but for what stakes that are kept short make of it."""
    best = _native.instruction_set()
    try:
        _native.use_instruction_set(instructions)
        table = table_of(kind, order, np.random.default_rng(2), signs=signs)
        race, evidence = walked(table, 5, 6)
        everyone, steps = np.arange(N_ARMS), race.ledger.steps
        expected, errors = estimates_of(table, race.order, everyone, steps)
        np.testing.assert_allclose(race.ledger.estimates, expected, rtol=1e-9)
        np.testing.assert_allclose(race.ledger.errors, errors, rtol=1e-6)
        decided = 0
        for theta in np.quantile(expected, [0.0, 0.5, 0.9, 0.97, 1.0]).tolist():
            peaks = evidence.peaks(everyone, steps, theta)
            reached, slack = evidence.last(everyone, steps, theta)
            for log_level in (0.5, 2.0, 5.0, 20.0):
                race.ledger.status[:] = ACTIVE
                race.ledger.judge(table.problem.team, everyone, theta, log_level, DROPPED)
                wins = race.ledger.status == DROPPED
                assert (peaks[wins] >= (log_level - slack)[wins]).all()
                # The peak is looked for at the end of every group of 16 steps.
                assert wins[(reached >= log_level + slack) & np.isfinite(reached)].all()
                decided += int(wins.sum())
        assert 0 < decided < 20 * N_ARMS
    finally:
        _native.use_instruction_set(best)


def test_the_ceiling_is_above_every_score_and_near() -> None:
    misses = 0
    for seed in range(200):
        rng = np.random.default_rng([4, seed])
        table = table_of("range", "F", rng)
        race, _ = walked(table, seed, 12)
        team, everyone, scores = table.problem.team, np.arange(N_ARMS), table.scores
        low = float(scores.min()) - 1.0
        ceiling = race.ledger.ceiling(team, everyone, race.log_level, low)
        misses += ceiling < scores.max()
        certain = race.ledger.ceiling(team, everyone, 1e6, low)
        assert low < ceiling <= certain
        assert certain >= scores.max()
    assert misses <= 2  # at a level of 0.02


def test_wealth_that_was_nearly_lost_can_be_won_back() -> None:
    """Hundreds of orders of magnitude down, and up again: no underflow on the way."""
    lost, won = 400, 4000
    rewards = np.concatenate([np.full(lost, 1.0), np.full(won, -1.0)])
    steps = lost + won
    # With such a guess the bets stake as much as they may from the start.
    ledger = ledger_of(rewards[:, None], 2 * steps, guess=1.9 * steps)
    team, arm = _native.Team(1), np.array([0])
    assert ledger.judge(team, arm, float(lost - won - steps), math.log(20), DROPPED) == 0
    assert ledger.judge(team, arm, 0.0, math.log(20), DROPPED) == 1


def test_the_ceiling_of_arms_without_a_bet_is_what_is_certain() -> None:
    table = table_of("range", "F", np.random.default_rng(6))
    race, _ = walked(table, 7, 12)
    team, everyone = table.problem.team, np.arange(N_ARMS)
    low = float(table.scores.min()) - 1.0
    race.ledger.steps[3] = 0
    alone = race.ledger.ceiling(team, np.array([3]), race.log_level, low)
    assert race.ledger.ceiling(team, np.array([3]), 1e6, low) == alone  # whatever the level
    others = race.ledger.ceiling(team, np.delete(everyone, 3), race.log_level, low)
    assert race.ledger.ceiling(team, everyone, race.log_level, low) == max(alone, others)


# A round of all arms reads all that the budget affords.
AS_FAR_AS_AFFORDED = policy.Policy(
    first_front=N_COORDINATES, second_front=N_COORDINATES, beginners=0.0
)


def read_up_to(race: Race, front: int) -> None:
    """Let all arms read up to a step, wherever the rounds of a search would end."""
    affordable = (front - race.front) * N_ARMS * race.problem.source.blocks.size
    race.budget = Budget(replace(race.problem, budget=affordable), race.tally)
    assert race.read_on()
    assert race.front == front


def test_an_arm_that_reads_on_keeps_its_bets() -> None:
    """Reading in many small rounds places the same bets as reading at once."""
    problem = table_of("range", "C", np.random.default_rng(8), signs=True).problem
    found = []
    for stops in ([200], [1, 3, 16, 17, 31, 64, 65, 130, 200]):
        race = Race(problem, np.random.default_rng(9), Tally(), AS_FAR_AS_AFFORDED)
        race.guess = 50.0
        for stop in stops:
            read_up_to(race, stop)
        found.append(
            [race.ledger.ceiling(problem.team, np.array([arm]), 2.0, -1e6) for arm in range(N_ARMS)]
        )
    assert found[0] == found[1]


POPULATIONS = {
    "rare and large": np.where(np.arange(400) < 8, 1.0, -0.3),
    "half and half": np.where(np.arange(400) < 200, 1.0, -1.0),
    "rare and small": np.where(np.arange(400) < 380, 0.2, -1.0),
    "even": np.linspace(-1.0, 1.0, 400),
}


def boundary_wins(values: Floats, guess: float, shift: float, delta: float) -> tuple[int, int]:
    """Return how many of many lists are beaten at their true sum plus `shift`, and how many there are.

    Every arm has the same values in an order of its own, so one order serves them all.
    """
    steps, arms = len(values), 4000
    rng = np.random.default_rng([10, steps])
    rewards = rng.permuted(np.repeat(values[:, None], arms, axis=1), axis=0)
    truth = float(values.sum())
    ledger = ledger_of(rewards[: steps - 20].copy(), steps, guess=truth + guess)
    theta = truth + shift
    wins = ledger.judge(_native.Team(2), np.arange(arms), theta, -math.log(delta), DROPPED)
    return wins, arms


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("guess", [0.0, 20.0, 100.0])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_kept_bets_keep_the_promise(name: str, guess: float, delta: float) -> None:
    """An arm at the threshold is beaten with probability at most delta, for any guess."""
    assert_at_most(*boundary_wins(POPULATIONS[name], guess, 0.0, delta), delta)


@pytest.mark.parametrize("name", ["half and half", "even"])
def test_planted_a_threshold_that_is_too_high(name: str) -> None:
    wins, arms = boundary_wins(POPULATIONS[name], 100.0, 40.0, 0.05)
    with pytest.raises(AssertionError, match=r"promised 0\.05"):
        assert_at_most(wins, arms, 0.05)


# Rewards y and squares u >= y^2: where the mass lies, and whether it goes with the rewards.
MASSES = {
    "as large as the rewards": (POPULATIONS["half and half"], POPULATIONS["half and half"] ** 2),
    "in few blocks": (POPULATIONS["rare and large"], np.where(np.arange(400) < 8, 9.0, 0.1)),
    "elsewhere": (POPULATIONS["even"], np.where(np.arange(400) % 50 == 0, 40.0, 1.0)),
    "with the rewards": (1.0 + 0.2 * POPULATIONS["even"], (1.0 + 0.2 * POPULATIONS["even"]) ** 2),
}


def norm_wins(name: str, guess: float, mass: float, delta: float) -> tuple[int, int]:
    """Return how many of many lists norm bets beat at their true sum, and how many there are.

    `mass` is what the norm is declared to be, of the true one.
    """
    values, squares = MASSES[name]
    steps, arms = len(values), 4000
    rng = np.random.default_rng([12, steps])
    places = rng.permuted(np.repeat(np.arange(steps)[:, None], arms, axis=1), axis=0)[: steps - 20]
    truth = float(values.sum())
    ledger = ledger_of(
        values[places],
        steps,
        guess=truth + guess,
        squares=squares[places],
        square_limit=mass * float(squares.sum()),
    )
    wins = ledger.judge(_native.Team(2), np.arange(arms), truth, -math.log(delta), DROPPED)
    return wins, arms


@pytest.mark.parametrize("name", MASSES)
@pytest.mark.parametrize("guess", [0.0, 20.0, 100.0])
@pytest.mark.parametrize("mass", [1.000001, 4.0])
@pytest.mark.parametrize("delta", [0.05, 0.3])
def test_kept_norm_bets_keep_the_promise(
    name: str, guess: float, mass: float, delta: float
) -> None:
    """For any guess, wherever the mass lies, and for bounds of the norm that are far too large."""
    assert_at_most(*norm_wins(name, guess, mass, delta), delta)


@pytest.mark.parametrize("name", ["as large as the rewards", "in few blocks", "with the rewards"])
def test_planted_a_norm_that_is_too_small(name: str) -> None:
    """What the drift costs is what keeps the promise."""
    wins, arms = norm_wins(name, 20.0, 0.5, 0.05)
    with pytest.raises(AssertionError, match=r"promised 0\.05"):
        assert_at_most(wins, arms, 0.05)


@pytest.mark.parametrize("limit", [1.0, 0.7310585786, 1.9999])
def test_an_arm_at_its_limit_is_never_certainly_below(limit: float) -> None:
    """The room is kept short: rounded down it would drop an arm whose every reward is the largest."""
    steps = 100
    ledger = ledger_of(np.full((60, 1), limit), steps, guess=0.37 * steps, limit=limit)
    team, arm = _native.Team(1), np.array([0])
    assert ledger.judge(team, arm, limit * steps, 1e-6, DROPPED) == 0
    # Beyond it, by more than the room is rounded, it is certain at once.
    assert ledger.judge(team, arm, 1.02 * limit * steps, 1e6, DROPPED) == 1


@pytest.mark.parametrize("kind", ["range", "norms", "estimated"])
def test_a_replay_goes_on_where_the_last_one_ended(kind: str) -> None:
    """Judging after every round, at one threshold, comes to the same as judging once at the end."""
    problem = table_of(kind, "C", np.random.default_rng(10), signs=kind == "range").problem
    everyone = np.arange(N_ARMS)
    decided = set()
    for theta in (-2000.0, 0.0, 300.0, 5000.0, 1e5):
        verdicts = []
        for judged_often in (True, False):
            race = Race(problem, np.random.default_rng(11), Tally(), AS_FAR_AS_AFFORDED)
            race.guess = 50.0
            # Groups of 16 are filled, left half full, and passed over.
            for stop in (4, 16, 20, 31, 64, 65, 100):
                read_up_to(race, stop)
                if judged_often:
                    race.ledger.judge(problem.team, everyone, theta, 50.0, DROPPED)
                    race.ledger.judge(problem.team, everyone, theta, 1.0, DROPPED)
                    race.ledger.status[:] = ACTIVE
            race.ledger.judge(problem.team, everyone, theta, 1.0, DROPPED)
            verdicts.append(race.ledger.status.copy())
        np.testing.assert_array_equal(verdicts[0], verdicts[1])
        decided |= set(verdicts[0].tolist())
    assert decided == {ACTIVE, DROPPED}


def test_what_is_known_of_an_arm_does_not_drift() -> None:
    """A running sum of a million numbers is off by 1e-11 of itself; what is tested must not be."""
    steps = 1_000_000
    rewards = np.full((steps, 1), 0.05)
    ledger = ledger_of(rewards, steps + 1, guess=-math.inf, centre=0.1, stakes=False)
    # All rewards are the same, so that the estimate is the score.
    assert ledger.estimates[0] == pytest.approx(0.05 * (steps + 1), rel=1e-13)


@pytest.mark.parametrize("n_arms", [1, 7, 63, 64, 65, 1535])
@pytest.mark.parametrize("active", [0.0, 0.01, 0.5, 1.0])
def test_statuses_are_counted_and_found_as_by_numpy(n_arms: int, active: float) -> None:
    generator = np.random.default_rng(n_arms)
    ledger = empty_ledger(n_arms, 10)
    others = generator.choice((SUSPENDED, DROPPED, KNOWN), n_arms)
    ledger.status[:] = np.where(generator.random(n_arms) < active, ACTIVE, others)
    status = ledger.status.copy()
    for wanted in (ACTIVE, SUSPENDED, DROPPED, KNOWN):
        np.testing.assert_array_equal(ledger.arms_with(wanted), np.flatnonzero(status == wanted))
    assert ledger.n_active == np.count_nonzero(status == ACTIVE)
    assert ledger.n_undecided == np.count_nonzero(status <= SUSPENDED)


def test_what_is_learnt_of_some_arms_is_known_and_ranked() -> None:
    ledger = empty_ledger(100, 10)
    generator = np.random.default_rng(3)
    known, scores = np.empty(0, dtype=np.int64), np.empty(0)
    for positions in np.split(generator.permutation(100)[:30], 3):
        more = generator.standard_normal(len(positions))
        known, scores = np.append(known, positions), np.append(scores, more)
        expected = np.sort(scores)[-15] if len(scores) >= 15 else -np.inf
        assert ledger.learn(positions, more, 15) == expected == ledger.kth_score(15)
    np.testing.assert_array_equal(ledger.arms_with(KNOWN), np.sort(known))
    np.testing.assert_array_equal(ledger.scores[known], scores)
    with pytest.raises(ValueError, match="every arm has one score"):
        ledger.learn(known[:2], scores[:1], 1)


def test_stock_is_a_survey_and_the_verdicts_on_the_others() -> None:
    # Arms far below the best three are beaten at the guess; the best stay, although epsilon lets them be beaten, too.
    rewards = np.repeat(np.array([0.9, 0.8, 0.7, *np.full(97, -0.9)])[None], 64, axis=0)
    seen, unseen = (ledger_of(rewards, 640, guess=640.0) for _ in range(2))
    survey = unseen.survey(3, 0.5)
    level, epsilon = math.log(20), 1e3
    stock = seen.take_stock(_native.Team(2), 3, 0.5, -math.inf, epsilon, level)
    np.testing.assert_array_equal(stock.candidates, [0, 1, 2])
    assert stock.guess == survey.guess
    others = np.arange(3, 100)
    unseen.judge(_native.Team(1), others, survey.guess + epsilon, level, SUSPENDED)
    np.testing.assert_array_equal(seen.status, unseen.status)
    assert (seen.status[others] == SUSPENDED).any()
    assert stock.others == np.count_nonzero(seen.status[others] == ACTIVE)
    np.testing.assert_array_equal(seen.other_arms(stock), others[seen.status[others] == ACTIVE])
    # At a threshold that is no guess they are dropped.
    threshold = survey.guess + 1.0
    dropped = unseen.take_stock(_native.Team(1), 3, 0.5, threshold, 0.0, level)
    assert dropped.guess == threshold
    assert not (unseen.status[:3] != ACTIVE).any()
