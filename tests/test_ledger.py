"""The native ledger against the search in plain numpy, which bets with the formulas of the theory."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot import _native
from sureshot.blocks import Blocks
from sureshot.search.condition import fact
from sureshot.search.problem import Problem, Tally
from sureshot.search.race import betting, policy
from sureshot.search.race.race import ACTIVE, DROPPED, Race
from sureshot.sources.dense import DenseSource
from sureshot.theory import intervals, wealth
from tests.guarantee import assert_at_most
from tests.reference.race import Race as ReferenceRace

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot.theory.intervals import Intervals

KINDS = ("range", "reach", "norms", "estimated", "distances")


def known(kind: str, data: Array, query: Floats, blocks: Blocks) -> Intervals:
    n_arms = len(data)
    if kind == "range":
        low, high = float(data.min()), float(data.max())
        return intervals.from_values("ip", query, np.array(low), np.array(high), blocks, n_arms)
    if kind == "reach":
        return intervals.from_scales(query, 0.0, 1.0, np.abs(data).max(axis=1), blocks)
    if kind == "norms":
        return intervals.from_norms(query, np.linalg.norm(data, axis=1) * 1.001, blocks)
    if kind == "estimated":
        return intervals.to_be_estimated(query, blocks, n_arms)
    return intervals.from_distances(query, blocks, n_arms)


def problem_of(
    kind: str, order: str, rng: np.random.Generator, *, signs: bool, epsilon: float = 0.0
) -> Problem:
    blocks = Blocks(3000, 8, 3) if order == "C" else Blocks(3000)
    data = rng.standard_normal((200, 12)) @ rng.standard_normal((12, 3000))
    data += 0.5 * rng.standard_normal(data.shape)
    data *= rng.lognormal(0, 0.7, (200, 1))
    query = rng.standard_normal(12) @ rng.standard_normal((12, 3000)) + rng.standard_normal(3000)
    stored = np.asarray(data, order=order)  # type: ignore[call-overload]
    reward = "sqeuclidean" if kind == "distances" else "ip"
    scale = rng.lognormal(0, 0.3, 200) if kind == "range" else np.ones(200)
    return Problem(
        DenseSource(stored, query, reward, blocks, _native.Team(2)),
        np.arange(200),
        scale,
        5,
        epsilon,
        0.1,
        known(kind, data, query, blocks),
        fact("none"),
        signs=(1.0, -1.0) if signs else (1.0,),
    )


CASES = [
    pytest.param(kind, order, signs, id=f"{kind}-{order}{'-both signs' if signs else ''}")
    for kind in KINDS
    for order in ("C", "F")
    for signs in (False, True)
    if not (signs and kind == "distances")
]


@pytest.mark.parametrize(("kind", "order", "signs"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_a_search_answers_as_the_reference_does(
    kind: str, order: str, signs: bool, seed: int
) -> None:
    problem = problem_of(kind, order, np.random.default_rng([1, seed]), signs=signs)
    tally, reference_tally = Tally(), Tally()
    found = betting.search(problem, np.random.default_rng(seed), tally)
    race = ReferenceRace(problem, np.random.default_rng(seed), reference_tally, policy.DEFAULT)
    while not race.over() and race.read_on():
        race.suspend_and_drop()
        race.evaluate_candidates()
        race.finish_if_hopeless()
        race.end_round()
    expected = race.answer()
    assert sorted(found.positions) == sorted(expected.positions)
    np.testing.assert_allclose(np.sort(found.scores), np.sort(expected.scores), rtol=1e-12)
    # An outlook on the edge may lead one of them to give up.
    if not (found.certificate.exact or expected.certificate.exact):
        assert found.certificate.epsilon == expected.certificate.epsilon
        assert found.certificate.delta == expected.certificate.delta
        assert found.certificate.unconditional == expected.certificate.unconditional
    # Numbers kept short cost next to nothing; rows are read whole for their exact scores.
    again = tally.exact_scores * problem.source.n_coordinates
    assert tally.numbers_read - again <= 1.1 * reference_tally.numbers_read


def walked(problem: Problem, seed: int, rounds: int) -> tuple[Race, ReferenceRace]:
    """Let all arms of both races read the same rounds with the same guesses; nothing is dropped."""
    rules = policy.Policy(largest_growth=1.2)
    race = Race(problem, np.random.default_rng(seed), Tally(), rules)
    reference = ReferenceRace(problem, np.random.default_rng(seed), Tally(), rules)
    for _ in range(rounds):
        race.read_on()
        reference.read_on()
        race.guess = reference.guess = race.ledger.survey(problem.k, rules.caution).guess
    return race, reference


@pytest.mark.parametrize(("kind", "order", "signs"), CASES)
@pytest.mark.parametrize("instructions", _native.instruction_sets())
def test_bets_win_where_those_of_the_reference_do(
    kind: str, order: str, signs: bool, instructions: str
) -> None:
    """At every level and threshold, but for what stakes that are kept short make of it."""
    best = _native.instruction_set()
    try:
        _native.use_instruction_set(instructions)
        problem = problem_of(kind, order, np.random.default_rng(2), signs=signs)
        race, reference = walked(problem, 5, 6)
        everyone = np.arange(200)
        estimates = race.ledger.estimates
        np.testing.assert_allclose(estimates, reference.estimates.of(everyone)[0], rtol=1e-9)
        np.testing.assert_allclose(
            race.ledger.errors, reference.estimates.of(everyone)[1], rtol=1e-6
        )
        decided = 0
        for theta in np.quantile(estimates, [0.0, 0.5, 0.9, 0.97, 1.0]):
            peaks = reference.evidence.peaks(everyone, race.ledger.steps, float(theta))
            reached, slack = reference_wealth(reference, everyone, float(theta))
            for log_level in (0.5, 2.0, 5.0, 20.0):
                race.ledger.status[:] = 0
                race.ledger.judge(problem.team, everyone, float(theta), log_level, 2)
                wins = race.ledger.status == 2
                assert (peaks[wins] >= (log_level - slack)[wins]).all()
                # The peak is looked for at the end of every group of 16 steps.
                assert wins[(reached >= log_level + slack) & np.isfinite(reached)].all()
                decided += int(wins.sum())
        assert 0 < decided < 20 * 200
    finally:
        _native.use_instruction_set(best)


def reference_wealth(reference: ReferenceRace, arms: Array, theta: float) -> tuple[Floats, Floats]:
    """Return the log wealth after the last step, the smaller of both signs, and how inexact it is.

    A stake is kept to 2^-9 of itself, which changes the logarithm of its factor F by as much of
    |F - 1| / F.
    """
    evidence, problem = reference.evidence, reference.problem
    raw = theta / problem.scale[arms]
    raw = raw - evidence.guard(arms, raw)
    least, slack = np.full(len(arms), np.inf), np.full(len(arms), 0.01)
    for sign in problem.signs:
        grown = wealth.log_wealth(evidence.bets(arms, reference.front, sign), raw)
        with np.errstate(invalid="ignore", over="ignore"):
            factors = np.exp(np.diff(grown, axis=0, prepend=0.0))
            slack += 2.0**-9 * np.nan_to_num(np.abs(factors - 1) / factors).sum(axis=0)
        least = np.minimum(least, grown[-1])
    return least, slack


@pytest.mark.parametrize("kind", KINDS)
def test_instruction_sets_and_threads_give_the_same_search(kind: str) -> None:
    best = _native.instruction_set()
    found = []
    try:
        for instructions in _native.instruction_sets():
            for threads in (1, 2, 3):
                _native.use_instruction_set(instructions)
                problem = problem_of(kind, "C", np.random.default_rng(3), signs=False)
                object.__setattr__(problem, "team", _native.Team(threads))
                tally = Tally()
                answer = betting.search(problem, np.random.default_rng(7), tally)
                found.append((answer.positions.tolist(), answer.scores.tolist(), tally.rounds))
    finally:
        _native.use_instruction_set(best)
    assert all(one == found[0] for one in found)


def test_the_ceiling_is_above_every_score_and_near() -> None:
    misses = 0
    for seed in range(200):
        rng = np.random.default_rng([4, seed])
        problem = problem_of("range", "F", rng, signs=False)
        race, _ = walked(problem, seed, 12)
        scores = problem.scale * problem.source.exact_scores(problem.arms)
        low = float(scores.min()) - 1.0
        ceiling = race.ledger.ceiling(problem.team, np.arange(200), race.log_level, low)
        misses += ceiling < scores.max()
        certain = race.ledger.ceiling(problem.team, np.arange(200), 1e6, low)
        assert low < ceiling <= certain
        assert certain >= scores.max()
    assert misses <= 2  # at a level of 0.02


def test_wealth_that_was_nearly_lost_can_be_won_back() -> None:
    """Hundreds of orders of magnitude down, and up again: no underflow on the way."""
    lost, won = 400, 4000
    rewards = np.concatenate([np.full(lost, 1.0), np.full(won, -1.0)])
    steps = lost + won
    order = _native.Order(np.ones(2 * steps), 3)
    order.draw(steps)
    field = {
        "centres": 0.0,
        "magnitude": 0.0,
        "weights": 2.0 * steps,
        "floor": 0.0,
        "rounding": 1e-11,
    }
    flags = {"estimated": False, "two_sided": True, "both_signs": False}
    ledger = _native.Ledger(np.ones(1), np.ones(1), None, **field, **flags)  # type: ignore[arg-type]
    # Told that the score is enormous, the bets stake as much as they may from the start.
    ledger.record(order, np.zeros(2 * steps), 0, steps, 1.9 * steps, stakes=True)
    team = _native.Team(1)
    ledger.add(team, rewards[:, None].copy(), np.zeros(1, np.int64), 0, steps)
    positions = np.zeros(1, np.int64)
    assert ledger.judge(team, positions, float(lost - won - steps), math.log(20), 2) == 0
    assert ledger.judge(team, positions, 0.0, math.log(20), 2) == 1


def test_numbers_of_any_size_are_kept_well() -> None:
    """The kept numbers are short; their unit follows the data."""
    shares = []
    for unit in (2.0**-400, 2.0**-100, 1.0, 2.0**100, 2.0**400):
        problem = problem_of("norms", "C", np.random.default_rng(6), signs=False)
        source = problem.source
        assert isinstance(source, DenseSource)
        scaled = DenseSource(source.data * unit, source.query, "ip", source.blocks, _native.Team(1))
        bounds = known("norms", scaled.data / unit, source.query, source.blocks)
        assert bounds.square_limit is not None
        bounds = type(bounds)(
            bounds.centre,
            bounds.weight,
            bounds.limit,
            bounds.magnitude,
            square_limit=bounds.square_limit * unit**2,
        )
        again = Problem(scaled, problem.arms, problem.scale, 5, 0.0, 0.1, bounds, fact("none"))
        tally = Tally()
        betting.search(again, np.random.default_rng(1), tally)
        shares.append(tally.numbers_read)
    assert len(set(shares)) == 1


def test_an_arm_that_reads_on_keeps_its_bets() -> None:
    """Reading in many small rounds places the same bets as reading at once."""
    problem = problem_of("range", "C", np.random.default_rng(8), signs=True)
    found = []
    for stops in ([200], [1, 3, 16, 17, 31, 64, 65, 130, 200]):
        race = Race(problem, np.random.default_rng(9), Tally(), policy.DEFAULT)
        race.order.draw(200)
        everyone = race.ledger.arms_with(ACTIVE)
        start = 0
        for stop in stops:
            race.ledger.record(race.order, race.centre, start, stop, 50.0, stakes=True)
            problem.source.advance(
                race.ledger, race.order, problem.team, problem.arms, everyone, start, stop
            )
            start = stop
        low = -1e6
        found.append(
            [race.ledger.ceiling(problem.team, everyone[i : i + 1], 2.0, low) for i in range(200)]
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
    order = _native.Order(np.ones(steps), 0)
    order.draw(steps - 20)
    ledger = _native.Ledger(
        np.ones(arms),
        np.ones(arms),
        None,
        centres=0.0,
        magnitude=0.0,
        weights=float(steps),
        rounding=1e-11,
        floor=0.0,
        estimated=False,
        two_sided=True,
        both_signs=False,
    )
    truth = float(values.sum())
    ledger.record(order, np.zeros(steps), 0, steps - 20, truth + guess, stakes=True)
    team, everyone = _native.Team(2), np.arange(arms)
    ledger.add(team, rewards[: steps - 20].copy(), everyone, 0, steps - 20)
    wins = ledger.judge(team, everyone, truth + shift, -math.log(delta), DROPPED)
    return wins, arms


@pytest.mark.parametrize("name", POPULATIONS)
@pytest.mark.parametrize("guess", [0.0, 20.0, 100.0])
@pytest.mark.parametrize("delta", [0.01, 0.05, 0.3])
def test_kept_bets_keep_the_promise(name: str, guess: float, delta: float) -> None:
    """An arm at the threshold is beaten with probability at most delta, whatever was guessed."""
    assert_at_most(*boundary_wins(POPULATIONS[name], guess, 0.0, delta), delta)


@pytest.mark.parametrize("name", ["half and half", "even"])
def test_planted_a_threshold_that_is_too_high(name: str) -> None:
    wins, arms = boundary_wins(POPULATIONS[name], 100.0, 40.0, 0.05)
    with pytest.raises(AssertionError, match=r"promised 0\.05"):
        assert_at_most(wins, arms, 0.05)


@pytest.mark.parametrize("limit", [1.0, 0.7310585786, 1.9999])
def test_an_arm_at_its_limit_is_never_certainly_below(limit: float) -> None:
    """The room is kept short: rounded down it would drop an arm whose every reward is the largest."""
    steps = 100
    order = _native.Order(np.ones(steps), 0)
    order.draw(60)
    ledger = _native.Ledger(
        np.ones(1),
        np.full(1, limit),
        None,
        centres=0.0,
        magnitude=0.0,
        weights=float(steps),
        rounding=1e-11,
        floor=0.0,
        estimated=False,
        two_sided=True,
        both_signs=False,
    )
    ledger.record(order, np.zeros(steps), 0, 60, 0.37 * steps, stakes=True)
    team, arm = _native.Team(1), np.zeros(1, np.int64)
    ledger.add(team, np.full((60, 1), limit), arm, 0, 60)
    assert ledger.judge(team, arm, limit * steps, 1e-6, DROPPED) == 0
    # Beyond it, by more than the room is rounded, it is certain at once.
    assert ledger.judge(team, arm, 1.02 * limit * steps, 1e6, DROPPED) == 1


@pytest.mark.parametrize("kind", ["range", "norms", "estimated"])
def test_a_replay_goes_on_where_the_last_one_ended(kind: str) -> None:
    """Judging after every round, at one threshold, comes to the same as judging once at the end."""
    problem = problem_of(kind, "C", np.random.default_rng(10), signs=kind == "range")
    decided = set()
    for theta in (-2000.0, 0.0, 300.0, 5000.0, 1e5):
        verdicts = []
        for judged_often in (True, False):
            race = Race(problem, np.random.default_rng(11), Tally(), policy.DEFAULT)
            everyone = race.ledger.arms_with(ACTIVE)
            race.order.draw(100)
            start = 0
            # Groups of 16 are filled, left half full, and passed over.
            for stop in (4, 16, 20, 31, 64, 65, 100):
                race.ledger.record(race.order, race.centre, start, stop, 50.0, stakes=True)
                race._read(everyone, start, stop)
                if judged_often:
                    race.ledger.judge(problem.team, everyone, theta, 50.0, DROPPED)
                    race.ledger.judge(problem.team, everyone, theta, 1.0, DROPPED)
                    race.ledger.status[:] = ACTIVE
                start = stop
            race.ledger.judge(problem.team, everyone, theta, 1.0, DROPPED)
            verdicts.append(race.ledger.status.copy())
        np.testing.assert_array_equal(verdicts[0], verdicts[1])
        decided |= set(verdicts[0].tolist())
    assert decided == {ACTIVE, DROPPED}


def test_what_is_known_of_an_arm_does_not_drift() -> None:
    """A running sum of a million numbers is off by 1e-11 of itself; what is tested must not be."""
    steps = 1_000_000
    order = _native.Order(np.ones(steps + 1), 0)
    order.draw(steps)
    centre = np.full(steps + 1, 0.1)
    ledger = _native.Ledger(
        np.ones(1),
        np.ones(1),
        None,
        centres=float(centre.sum()),
        magnitude=float(centre.sum()),
        weights=float(steps + 1),
        rounding=1e-11,
        floor=0.0,
        estimated=False,
        two_sided=True,
        both_signs=False,
    )
    ledger.record(order, centre, 0, steps, -math.inf, stakes=False)
    ledger.add(_native.Team(1), np.full((steps, 1), 0.05), np.zeros(1, np.int64), 0, steps)
    # All rewards are the same, so that the estimate is the score.
    assert ledger.estimates[0] == pytest.approx(0.05 * (steps + 1), rel=1e-13)
