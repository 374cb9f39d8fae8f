"""The rules of cost: what they weigh, never whether an answer is right."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.stats

import sureshot
from sureshot import _native
from sureshot.search.race import policy, remaining
from sureshot.search.race.costs import Costs, costs_of
from sureshot.sources.costs import PAID_PULLS
from tests.ledgers import empty_ledger, ledger_of

if TYPE_CHECKING:
    from sureshot._types import Array, Floats

ROWS = Costs(
    visit=200.0,
    step=7.0,
    lone_step=7.0,
    draw=0.0,
    row=2.0,
    first_row=0.0,
    rest=2.0,
    round=0.0,
    ledger_bytes=1 << 20,
    n_arms=2000,
)

TEAM = _native.Team(2)

PULLS = costs_of(PAID_PULLS, n_arms=50)


def test_the_slowest_arms_are_evaluated_and_no_others() -> None:
    """A row of 1,000 blocks costs 2,000, as much as 286 steps."""
    needed = np.array([10.0, 285.0, 287.0, 900.0, 0.0])
    assert policy.how_many_to_evaluate(ROWS, needed, front=100, length=1000) == 2


def test_an_arm_that_needs_a_long_order_alone_is_evaluated() -> None:
    costs = Costs(**{name: getattr(ROWS, name) for name in Costs.__slots__} | {"draw": 100.0})
    needed = np.array([10.0, 200.0])
    assert policy.how_many_to_evaluate(ROWS, needed, front=100, length=1000) == 0
    assert policy.how_many_to_evaluate(costs, needed, front=100, length=1000) == 1


def test_no_arm_is_evaluated_while_all_others_cost_less_than_one() -> None:
    """Rounds count, too: twice as far as the front is one more round."""
    needed = np.array([100.0, 100.0])
    costly = dataclasses.replace(ROWS, round=700.0)
    assert policy.how_many_to_evaluate(ROWS, needed, front=100, length=1000) == 0
    assert policy.how_many_to_evaluate(costly, np.array([1.0, 100.0]), front=100, length=1000) == 0
    assert policy.how_many_to_evaluate(costly, np.array([1.0, 280.0]), front=100, length=1000) == 1


def test_the_longest_rows_begin_if_that_saves_more_than_it_risks() -> None:
    limits = np.concatenate([np.full(900, 1.0), np.full(1100, 100.0)])
    rules = dataclasses.replace(policy.DEFAULT, beginners=0.125)
    first_look = ROWS.visit + rules.first_front * ROWS.step
    saved = 900 * first_look
    for risked, begins in ((0.9 * saved, 100.0), (1.1 * saved, None)):
        costs = dataclasses.replace(ROWS, row=risked / (10 * 1000), round=0.0)
        assert policy.limit_to_begin(rules, costs, limits, k=10, length=1000) == begins
    assert policy.limit_to_begin(rules, ROWS, limits, k=len(limits), length=1000) is None


def test_a_budget_is_raced_for_a_share_of_what_reading_everything_costs() -> None:
    rules = policy.DEFAULT
    first = max(rules.first_front, math.ceil(rules.least_raced / 16))
    within = math.floor(rules.racing_cost * ROWS.rest * 10_000 / ROWS.step)
    assert policy.racing_steps(rules, ROWS, math.inf, 10_000, 16) == first + within
    few = math.floor(rules.racing_share * 100)
    assert policy.racing_steps(rules, ROWS, 100, 10_000, 16) == first + few


def race_of(ledger: Any, **changes: Any) -> Any:
    """Return what predictions need of a race that has just begun."""
    problem = SimpleNamespace(
        arms=range(50), k=1, epsilon=0.25, team=TEAM, expected_score=changes.pop("expected_score")
    )
    begun = {
        "problem": problem,
        "ledger": ledger,
        "order": SimpleNamespace(length=1_000),
        "rules": policy.DEFAULT,
        "costs": ROWS,
        "threshold": 0.0,
        "front": 32,
        "steps_read": 32 * 50,
        "steps_ahead": lambda: 0,
        "log_level": 3.0,
    }
    return SimpleNamespace(**begun | changes)


def test_a_replay_waits_while_the_threshold_is_to_rise() -> None:
    """At an exact threshold far below the expected one it would tell little of the race."""
    nothing = SimpleNamespace()
    assert remaining.threshold_will_rise(race_of(nothing, expected_score=1.0))
    assert not remaining.threshold_will_rise(race_of(nothing, expected_score=-math.inf))
    assert not remaining.threshold_will_rise(race_of(nothing, expected_score=1.0, threshold=2.0))
    # What is expected counts no more when much was read.
    late = race_of(nothing, expected_score=1.0, front=500, steps_read=500 * 50)
    assert not remaining.threshold_will_rise(late)


def test_early_predictions_are_made_at_the_expected_score() -> None:
    """Or at what the estimates promise, or at the exact threshold, whichever is the largest."""
    asked: list[float] = []

    def remaining_steps(team: Any, length: int, theta: float, level: float) -> tuple[float, float]:
        asked.append(theta)
        return 0.0, 1.0

    ledger = SimpleNamespace(
        likely_threshold=lambda k: 1.0, remaining_steps=remaining_steps, n_undecided=50, bytes=0
    )
    for expected in (-math.inf, 0.5, 3.0):
        assert not remaining.finishing_pays(race_of(ledger, expected_score=expected))
    assert asked == [1.25, 1.25, 3.25]


def test_a_long_round_of_few_arms_is_worse_than_to_evaluate_them() -> None:
    """A row of 1,000 blocks costs 2,000; bets on few arms cost 100 a step, besides 7 for each arm."""
    costs = Costs(**{name: getattr(ROWS, name) for name in Costs.__slots__} | {"draw": 100.0})
    for arms, steps, slow in ((1, 18, False), (1, 19, True), (5, 74, False), (5, 75, True)):
        assert policy.few_arms_are_slow(costs, arms, steps, length=1000) is slow
    assert not policy.few_arms_are_slow(ROWS, 50, steps=285, length=1000)
    assert not policy.few_arms_are_slow(PULLS, 1, steps=1000, length=1000)


def test_pulls_are_never_spent_on_an_arm_that_needs_fewer() -> None:
    needed = np.array([10.0, 400.0, 899.0])
    assert policy.how_many_to_evaluate(PULLS, needed, front=100, length=1000) == 0


@pytest.mark.parametrize(
    ("predicted", "expected"), [(10.0, 0), (130.0, 128), (300.0, 256), (1e9, 256)]
)
def test_a_round_goes_on_to_where_arms_are_predicted_to_be_beaten(
    predicted: float, expected: int
) -> None:
    """In whole groups of bets, and at most to four times the front."""
    assert policy.predicted_front(policy.DEFAULT, ROWS, 64, 1000, predicted) == expected
    assert policy.predicted_front(policy.DEFAULT, PULLS, 64, 1000, predicted) == 0


def test_rounds_end_where_a_group_of_bets_does_unless_pulls_cost() -> None:
    for front in (8, 32, 100, 999):
        assert (
            policy.next_front(policy.DEFAULT, ROWS, front, 10_000, 50) % _native.STEPS_PER_GROUP
            == 0
        )
    assert policy.next_front(policy.DEFAULT, PULLS, 100, 10_000, 50) == 120
    assert policy.next_front(policy.DEFAULT, ROWS, 999, 1001, 50) == 1001


def test_a_first_round_with_a_guess_is_worth_coming_to_every_arm() -> None:
    """A visit costs as much as 29 steps; without a guess there are no bets in the first round."""
    fronts = [
        policy.next_front(policy.DEFAULT, ROWS, 0, 10_000, 50, guessed=guessed)
        for guessed in (False, True)
    ]
    assert fronts == [policy.DEFAULT.first_front, 32]


def test_rounds_that_are_trips_may_be_longer() -> None:
    """As long as they are worth what a round costs, up to a limit that is larger for trips."""

    def next_front(one_round: float, worth: int) -> int:
        step = one_round / (50 * worth)
        costs = dataclasses.replace(ROWS, visit=0.0, step=step, round=one_round)
        return policy.next_front(policy.DEFAULT, costs, 100, 10_000, 50)

    trip = policy.DEFAULT.trip
    assert [next_front(trip / 2, worth) for worth in (10, 50, 1_000)] == [120, 150, 200]
    assert [next_front(trip, worth) for worth in (10, 50, 1_000)] == [120, 150, 400]


def test_candidates_are_evaluated_if_few_of_them_are_wasted() -> None:
    for waste, pays in ((0.0, True), (1e-12, True), (0.5, False), (2.0, False)):
        found = policy.evaluation_pays(policy.DEFAULT, waste, evaluation=1e9, next_round=1.0)
        assert found is pays


@pytest.mark.parametrize("size", [0.0, 5e-324, 1.0, 1e160, 1e308])
def test_waste_is_predicted_for_scores_of_any_size(size: float) -> None:
    """Squares of large errors, differences of large scores and errors of nothing included."""
    ledger = empty_ledger(4, 10)
    ledger.estimates[:] = [size, size, size, -size]
    ledger.errors[:] = [size, 0.0, size, size]
    found = ledger.survey(3, 0.5)
    assert found.runner_up == 3
    assert 0.0 <= found.waste <= 1.5


def test_constant_candidates_above_a_constant_runner_up_are_no_waste() -> None:
    ledger = empty_ledger(3, 10)
    for runner_up, waste in ((-1.0, 0.0), (0.0, 1.0)):
        ledger.estimates[2] = runner_up
        assert ledger.survey(2, 0.5).waste == waste
    ledger.errors[:] = [0.0, 3.0, 4.0]
    ledger.estimates[:] = [4.0, 5.0, 0.0]
    assert ledger.survey(2, 0.5).waste == pytest.approx(2 * scipy.stats.norm.sf(1.0))


def test_predictions_are_rough_until_enough_was_read() -> None:
    rules, blocks = policy.DEFAULT, 1e6
    enough = math.ceil(rules.rough_until * ROWS.rest * blocks / ROWS.step)
    many = rules.rough_steps
    assert policy.predictions_are_rough(rules, ROWS, many, enough - 1, blocks)
    assert policy.predictions_are_rough(rules, ROWS, many - 1, enough, blocks)
    assert not policy.predictions_are_rough(rules, ROWS, many, enough, blocks)


def test_giving_up_is_considered_when_so_much_was_spent_however_far_the_front_is() -> None:
    """Of 1,000 arms with 1,000 blocks each: 7 % of what reading everything costs is 20,000 steps."""
    rules, blocks = policy.DEFAULT, 1e6
    for front, steps, ahead, considered in (
        (32, 19_000, 900, False),
        (32, 19_000, 1100, True),
        (900, 19_000, 900, False),  # few arms are left, and have read nearly everything
        (rules.fewest_steps - 1, 19_000, 1100, False),
    ):
        found = policy.finishing_may_pay(rules, ROWS, front, steps, ahead, blocks, 0)
        assert found is considered
    # What was spent besides counts as well.
    assert policy.finishing_may_pay(rules, ROWS, 32, 19_000, 900, blocks, 0, 200 * ROWS.step)
    # The bets of the next round would take more memory than there is.
    almost = ROWS.ledger_bytes * 10 // 11
    assert policy.finishing_may_pay(rules, ROWS, 32, 1000, 101, blocks, almost)
    assert not policy.finishing_may_pay(rules, ROWS, 32, 1000, 99, blocks, almost)


def test_giving_up_must_be_cheaper_by_a_margin() -> None:
    """All arms read whole cost 2,000, as much as 286 steps."""
    for needed, margin, pays in ((290.0, 1.0, True), (290.0, 1.5, False), (430.0, 1.5, True)):
        found = policy.finishing_pays(
            policy.DEFAULT, ROWS, needed, 900.0, 1000.0, 1000.0, 0, margin
        )
        assert found is pays
    # Nothing is left to be doubted where all that is unread would be read.
    assert policy.finishing_pays(policy.DEFAULT, ROWS, 50.0, 50.0, 1000.0, 1000.0, 0, 1.5)


def test_what_is_predicted_must_fit_into_memory_when_half_of_it_is_taken() -> None:
    too_many = policy.DEFAULT.most_memory * ROWS.ledger_bytes / _native.BYTES_OF_BET
    half = ROWS.ledger_bytes // 2
    for taken, ahead, pays in ((half, 0.0, False), (half + 1, 0.0, True), (half, too_many, True)):
        found = policy.finishing_pays(
            policy.DEFAULT, ROWS, too_many, 1e9, 1e9, 1e9, taken, ahead=ahead
        )
        assert found is pays


def tenth_read(rewards: Floats) -> _native.Ledger:
    """Return a ledger of arms that have read these rewards, a tenth of all that they have."""
    return ledger_of(rewards, 10 * len(rewards), guess=0.0)


LENGTH, LEVEL = 1000, math.log(20)


def test_constant_arms_need_what_the_limits_let_the_bets_win() -> None:
    """A stake is at most 0.99 over the room above what is required, here 1."""
    ledger = tenth_read(np.full((100, 1), -0.25))
    (needed,) = ledger.needed_steps(np.array([0]), LENGTH, 0.0, LEVEL)
    required = 0.25 * 100 / 900  # to make up for what was read
    growth = 0.99 * (0.25 + required) / (1 - required)
    assert needed == pytest.approx(max(LEVEL / growth - 100, 0), abs=1.0)
    total, unread = ledger.remaining_steps(TEAM, LENGTH, 0.0, LEVEL)
    assert total == pytest.approx(needed, abs=1.0)
    assert unread == 900.0


@pytest.mark.parametrize("value", [0.0, 0.5, -0.5])
def test_constant_arms_at_the_threshold_or_above_are_no_hope(value: float) -> None:
    ledger = tenth_read(np.full((100, 3), value))
    for above in (0.0, 100.0):
        needed, unread = ledger.remaining_steps(TEAM, LENGTH, LENGTH * value - above, LEVEL)
        assert needed == unread == 2700.0


@pytest.mark.parametrize("theta", [-1e308, -1.0, 0.0, 1.0, 1e308])
def test_predictions_are_numbers_whatever_was_read(theta: float) -> None:
    rng = np.random.default_rng(0)
    kinds = [np.zeros(100), np.ones(100), np.full(100, 5e-324), rng.uniform(-1, 1, 100)]
    ledger = tenth_read(np.stack(kinds, axis=1))
    needed = ledger.needed_steps(np.arange(4), LENGTH, theta, LEVEL)
    assert ((needed >= 0) & (needed <= 900)).all()
    total, unread = ledger.remaining_steps(TEAM, LENGTH, theta, LEVEL)
    assert 0 <= total <= unread


def test_many_arms_are_predicted_to_need_what_they_do() -> None:
    """All of them together, within a factor of 3, from fewer steps than most of them need."""
    rng = np.random.default_rng(1)
    steps, length, gaps = 100, 100_000, np.linspace(1e-4, 0.5, 2000)
    sums = np.where(rng.random((steps, len(gaps))) < 0.5 - gaps / 2, 1.0, -1.0)
    # With a variance of 1 - gap**2 the log wealth grows by gap**2 / 2 a step.
    true = np.clip(2 * LEVEL / gaps**2 - steps, 0, length - steps).sum()
    needed, _ = tenth_read(sums).remaining_steps(TEAM, length, 0.0, LEVEL)
    assert true / 3 < needed < 3 * true


def test_the_likely_threshold_is_drawn_towards_the_mean_as_far_as_estimates_are_noise() -> None:
    rng = np.random.default_rng(2)
    noise = tenth_read(rng.choice([-1.0, 1.0], (100, 500)))
    assert np.sort(noise.estimates)[-10] > 150
    assert abs(noise.likely_threshold(10)) < 60
    apart = tenth_read(np.clip(rng.normal(np.linspace(-0.5, 0.5, 500), 0.1, (100, 500)), -1, 1))
    expected = np.sort(apart.estimates)[-10]
    assert apart.likely_threshold(10) == pytest.approx(expected, rel=0.05)
    assert tenth_read(np.zeros((100, 20))).likely_threshold(5) == 0.0


def test_the_likely_threshold_of_long_rows_among_short_ones() -> None:
    """The best are among the few long ones, whose errors are as large as the scores of the others."""
    rng = np.random.default_rng(3)
    lengths = 1e-3 * rng.lognormal(0, 2, 2000)
    means = lengths * rng.normal(0, 0.2, len(lengths))
    rows = tenth_read(rng.normal(means, lengths, (100, len(lengths))))
    assert rows.likely_threshold(10) > 0.6 * 1000 * np.sort(means)[-10]


def curves(rng: np.random.Generator, count: int, width: int) -> Floats:
    """Return random curves, straight between points that are 20 coordinates apart."""
    length = 20
    knots = rng.standard_normal((count, width // length + 2))
    at = np.arange(width) / length
    before = at.astype(np.int64)
    part = at - before
    return np.asarray(knots[:, before] * (1 - part) + knots[:, before + 1] * part)


def spectra(seed: int, n_arms: int, queries: int) -> tuple[Array, Floats]:
    """Return loud and soft spectra stored by column, and queries less their mean."""
    rng = np.random.default_rng(seed)
    width = 50_000
    rows = rng.standard_normal((n_arms + queries, 3)) @ (20 / 3**0.5 * curves(rng, 3, width))
    rows += 40 + 15 * curves(rng, 1, width) + 6 * rng.standard_normal((len(rows), 1))
    rows += 3 * rng.standard_normal(rows.shape)
    rows = np.clip(rows, 0, 120)
    wanted = rows[n_arms:] - rows[n_arms:].mean(axis=1, keepdims=True)
    return np.asfortranarray(rows[:n_arms], dtype=np.float32), wanted


@pytest.mark.parametrize("bounds", [(0.0, 120.0), None], ids=["limits", "none"])
def test_a_search_by_column_does_not_give_up_on_spectra(
    bounds: tuple[float, float] | None,
) -> None:
    """The wealth of the first steps, bet on with wild guesses, is no measure of what is needed."""
    shares = []
    for seed in range(3):
        data, queries = spectra(seed, n_arms=300, queries=3)
        found = [sureshot.top_k(data, query, 3, bounds=bounds, rng=seed) for query in queries]
        shares += [one.work.share for one in found]
    assert np.median(shares) < 0.1


def test_evaluations_wait_for_others_where_the_first_row_costs_more() -> None:
    rules, next_round = policy.DEFAULT, 1000.0
    assert policy.evaluation_pays(rules, 0.1, 2000.0, next_round)
    assert not policy.evaluation_pays(rules, 0.1, 2000.0, next_round, again=500.0)
    first = dataclasses.replace(ROWS, first_row=3.0)
    assert first.of_rows(2, 1000) == ROWS.of_rows(2, 1000) + 3000
    # One that needs 500 steps, 3,500, is worth a row of 2,000, but not the first one, of 5,000.
    needed = np.array([10.0, 500.0])
    assert policy.how_many_to_evaluate(ROWS, needed, front=100, length=1000) == 1
    assert policy.how_many_to_evaluate(first, needed, front=100, length=1000) == 0


def test_a_step_of_few_arms_costs_no_more_than_one_of_all() -> None:
    columns = dataclasses.replace(ROWS, step=6.0, lone_step=60.0, draw=1800.0, n_arms=2000)
    assert columns.of_steps(10, 5) == 5 * (600 + 1800)
    assert columns.of_steps(1000, 5) == columns.of_steps(2000, 5) == 5 * (12_000 + 1800)


@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_without_a_gap_are_given_up_in_time(order: str) -> None:
    rng = np.random.default_rng(3)
    data = rng.standard_normal((300, 40_000), dtype=np.float32)
    stored = np.asarray(data, order=order)  # type: ignore[call-overload]
    found = sureshot.top_k(stored, rng.standard_normal(40_000), 10, bounds=(-6.0, 6.0), rng=0)
    assert found.certificate.exact
    assert found.work.share < 1.06


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("constant", [0.0, 0.1])
def test_constant_rows_are_not_read_whole(order: str, constant: float) -> None:
    data = np.full((300, 40_000), constant, dtype=np.float32, order=order)  # type: ignore[call-overload]
    data[7] = constant + 0.02
    found = sureshot.top_k(data, np.ones(40_000), 1, bounds=(0.0, 1.0), rng=0)
    assert found.indices.tolist() == [7]
    assert found.work.share < 0.2


def test_rows_that_are_constant_and_all_different_are_told_apart() -> None:
    data = np.repeat(np.linspace(0, 0.9, 300, dtype=np.float32)[:, None], 40_000, axis=1)
    found = sureshot.top_k(data, np.ones(40_000), 10, bounds=(0.0, 1.0), rng=0)
    assert found.indices.tolist() == list(range(299, 289, -1))
    assert found.work.share < 0.2


@pytest.mark.parametrize("bounds", [None, "scan"])
def test_scores_near_the_end_of_double_do_not_stop_a_search(bounds: str | None) -> None:
    rng = np.random.default_rng(4)
    data = rng.standard_normal((100, 5)) @ rng.standard_normal((5, 2000)) * 1e150
    query = rng.standard_normal(2000) * 1e150
    found = sureshot.top_k(data, query, 3, bounds=bounds, rng=0)
    expected = sureshot.top_k(data, query, 3, method="exact")
    assert found.indices.tolist() == expected.indices.tolist()


def test_the_kth_largest_is_minus_infinity_where_there_are_fewer() -> None:
    values = np.array([2.0, -1.0, 5.0, 2.0])
    found = [policy.kth_largest(values, k) for k in range(1, 7)]
    assert found == [5.0, 2.0, 2.0, -1.0, -math.inf, -math.inf]


def test_the_page_lists_every_constant_with_its_value() -> None:
    page = (Path(__file__).parents[1] / "docs" / "policy.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \| (\S+) \| [^|]+ \| [^|]+ \|$", page, re.MULTILINE)
    fields = dataclasses.fields(policy.Policy)
    assert listed == [(field.name, repr(field.default)) for field in fields]


def test_less_time_pays_where_the_first_blocks_hold_most_of_the_variance() -> None:
    rules = policy.DEFAULT
    assert policy.worth_reading(rules, np.ones(1_000)) == 1.0
    assert policy.worth_reading(rules, np.append(np.ones(485), np.full(515, 1e-9))) < 0.5
    assert policy.worth_reading(rules, np.append(np.full(515, 1e-9), np.ones(485))) == 1.0
    for unknown in ([], [0.0, 0.0], [1.0, np.inf], [np.nan, 1.0], [1e308, 1e308]):
        assert policy.worth_reading(rules, np.array(unknown)) == 1.0
