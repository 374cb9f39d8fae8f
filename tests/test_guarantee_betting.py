"""The theorem of betting elimination, tested on hostile lists, and its errors, planted.

Each case draws 5,000 seeded orders and asks how often the wealth ever reaches 1/level although the
score is the threshold. A correct bet fails one of these tests by luck once in a million.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.search.race import ladder
from sureshot.theory import wealth
from tests.guarantee import assert_at_most
from tests.populations import (
    DELTAS,
    RANGE,
    TRIALS,
    Walk,
    draw_orders,
    guesses,
    norm_bets,
    range_bets,
    two_valued,
    walk,
)

if TYPE_CHECKING:
    from sureshot._types import Floats


def assert_valid(peaks: Floats, k: int = 1) -> None:
    """Fail if the peaks reach log(k / delta) more often than the promise for any delta."""
    for delta in DELTAS:
        assert_at_most(int((peaks >= math.log(k / delta)).sum()), len(peaks), delta)


def assert_caught(peaks: Floats) -> None:
    with pytest.raises(AssertionError, match="promised"):
        assert_valid(peaks)


def population(name: str, seed: int = 0) -> Walk:
    rng = np.random.default_rng([seed, len(name)])
    return walk(rng, *RANGE[name](rng))


@pytest.mark.parametrize("guess", ["at the score", "above it"])
@pytest.mark.parametrize("name", list(RANGE))
def test_range_bets(name: str, guess: str) -> None:
    path = population(name)
    assert_valid(wealth.peak_log_wealth(range_bets(path, guesses(path)[guess]), path.theta))


def test_the_promise_is_nearly_used_up() -> None:
    """The tests above can see: a fair coin reaches 1/delta almost as often as it may."""
    path = population("fair coin")
    peaks = wealth.peak_log_wealth(range_bets(path, guesses(path)["above it"]), path.theta)
    assert (peaks >= math.log(1 / 0.1)).mean() > 0.05


@pytest.mark.parametrize("guess", ["at the score", "above it"])
@pytest.mark.parametrize("limit", [0.05, 0.3])
def test_limits_per_arm(limit: float, guess: str) -> None:
    rng = np.random.default_rng(1)
    path = walk(rng, limit * rng.choice([-1.0, 1.0], 300), np.ones(300), limit=limit)
    assert_valid(wealth.peak_log_wealth(range_bets(path, guesses(path)[guess]), path.theta))


@pytest.mark.parametrize("guess", ["at the score", "above it"])
def test_distances_need_only_their_sign(guess: str) -> None:
    rng = np.random.default_rng(2)
    path = walk(rng, -rng.pareto(1.5, 300), np.ones(300), limit=0.0)
    assert_valid(wealth.peak_log_wealth(range_bets(path, guesses(path)[guess]), path.theta))


KINDS_OF_ROWS = ("dense", "one block holds all", "aligned", "heavy tails", "along the query")


def inner_products(rng: np.random.Generator, kind: str) -> Walk:
    query = rng.standard_normal((300, 4))
    row = rng.standard_normal((300, 4))
    if kind == "one block holds all":
        row[1:] *= 1e-3
    elif kind == "aligned":
        row = query * rng.choice([-1.0, 1.0], (300, 1))
    elif kind == "heavy tails":
        row = rng.standard_t(1.5, (300, 4))
    elif kind == "along the query":
        row = query * rng.uniform(0.8, 1.2, (300, 1))
    return walk(
        rng, (query * row).sum(axis=1), (query**2).sum(axis=1), squares=(row**2).sum(axis=1)
    )


@pytest.mark.parametrize("guess", ["at the score", "above it"])
@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
@pytest.mark.parametrize("loose", [1.0, 3.0])
def test_norm_bets(kind: str, guess: str, loose: float) -> None:
    path = inner_products(np.random.default_rng([3, len(kind)]), kind)
    path = dataclasses.replace(path, norm=loose * path.norm)
    assert_valid(wealth.peak_log_wealth(norm_bets(path, guesses(path)[guess]), path.theta))


@pytest.mark.parametrize("kind", KINDS_OF_ROWS)
def test_any_rho_from_the_past_is_valid(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """However bad: here it jumps from step to step and from arm to arm, over four decades."""
    path = inner_products(np.random.default_rng([11, len(kind)]), kind)
    factors = np.exp(np.random.default_rng(12).uniform(-4.6, 4.6, path.y.shape))
    monkeypatch.setattr(
        wealth, "chosen_rho", lambda _1, _2, _3, unseen, *_: factors * np.sqrt(unseen)
    )
    assert_valid(wealth.peak_log_wealth(norm_bets(path, guesses(path)["above it"]), path.theta))


@pytest.mark.parametrize("kind", ["dense", "aligned", "along the query"])
def test_planted_no_price_for_the_mass_that_is_unseen(kind: str) -> None:
    """The drift term dropped: the mean of what is bet on is then below that of y."""
    path = inner_products(np.random.default_rng([13, len(kind)]), kind)
    honest = norm_bets(path, guesses(path)["above it"])
    unseen = np.maximum(path.norm**2 - wealth.before(path.squares), 0) / path.left
    # cap = rho / 2 + m / 2 rho, and rho is not below the root of m.
    rho = honest.cap + np.sqrt(np.maximum(honest.cap**2 - unseen, 0))
    planted = dataclasses.replace(honest, payoff=honest.payoff - unseen / (2 * rho))
    assert_caught(wealth.peak_log_wealth(planted, path.theta))


def test_planted_a_rho_that_looks_ahead() -> None:
    """The mass of the step itself decides how much it counts."""
    path = inner_products(np.random.default_rng(14), "heavy tails")
    honest = norm_bets(path, guesses(path)["above it"])
    u = path.squares / path.weight
    unseen = np.maximum(path.norm**2 - wealth.before(path.squares), 0) / path.left
    rho = np.where(u > unseen, 1.0, 30.0) * np.sqrt(np.maximum(unseen, 1e-300))
    planted = dataclasses.replace(
        honest,
        payoff=path.y - (u - unseen) / (2 * rho),
        cap=rho / 2 + unseen / (2 * rho),
    )
    assert_caught(wealth.peak_log_wealth(planted, path.theta))


def independent_arms(rng: np.random.Generator, count: int) -> list[Walk]:
    """Arms whose lists are shuffled on their own, at the boundary, drawn in one common order."""
    orders = draw_orders(rng, np.ones(300))
    coin = two_valued(0.5, 1, -1, 300)
    return [walk(rng, rng.permutation(coin), np.ones(300), orders=orders) for _ in range(count)]


def test_ten_boundary_arms_share_delta() -> None:
    arms = independent_arms(np.random.default_rng(4), 10)
    every = [wealth.peak_log_wealth(range_bets(a, guesses(a)["above it"]), a.theta) for a in arms]
    assert_valid(np.maximum.reduce(every), k=10)
    # Planted: level delta instead of delta / k.
    assert_caught(np.maximum.reduce(every))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_absolute_values_need_both_signs_beaten(sign: float) -> None:
    rng = np.random.default_rng(5)
    path = walk(rng, sign * two_valued(0.6, 1, -1, 300), np.ones(300))
    negated = dataclasses.replace(path, y=-path.y, known=-path.known, score=-path.score)
    largest = np.full(TRIALS, abs(path.score) - 1e-9)
    guess = np.full((len(path.y), 1), abs(path.score) + 2 * path.scale)
    peaks = [wealth.peak_log_wealth(range_bets(one, guess), largest) for one in (path, negated)]
    assert_valid(np.minimum.reduce(peaks))


def front_guesses(front: Walk, shift: int) -> Floats:
    """Guess from another arm: its estimate when the front passed each step, or `shift` later."""
    steps = np.arange(1, len(front.y) + 1)[:, None]
    estimate = front.known + front.left * wealth.before(front.y) / np.maximum(steps - 1, 1)
    later = np.minimum(np.arange(len(estimate)) + shift, len(estimate) - 1)
    return np.asarray(estimate[later])


def test_a_resumed_arm_uses_the_guesses_of_the_front() -> None:
    """The other arm wins where this one loses: its later estimates tell this one's future."""
    rng = np.random.default_rng(6)
    sums = two_valued(0.5, 1, -1, 300)
    orders = draw_orders(rng, np.ones(300))
    late = walk(rng, sums, np.ones(300), orders=orders)
    front = walk(rng, -sums, np.ones(300), orders=orders)
    recorded = late.score + 2 * late.scale + front_guesses(front, 0)
    assert_valid(wealth.peak_log_wealth(range_bets(late, recorded), late.theta))
    # Planted: what the guess had become some rounds later.
    lookahead = late.score + 2 * late.scale + 3 * front_guesses(front, 20)
    assert_caught(wealth.peak_log_wealth(range_bets(late, lookahead), late.theta))


def test_every_threshold_up_to_the_score_is_covered_at_once() -> None:
    """The peak never decreases in theta, so a threshold chosen from the data is no danger."""
    path = population("fair coin")
    bets = range_bets(path, guesses(path)["above it"])
    thetas = path.score - path.scale * np.linspace(0, 3, 13)
    peaks = [wealth.peak_log_wealth(bets, np.full(TRIALS, theta)) for theta in thetas]
    assert (np.diff(peaks, axis=0) <= 1e-9).all()
    assert_valid(np.maximum.reduce(peaks))


def test_planted_a_stake_that_depends_on_the_tested_threshold() -> None:
    path = population("fair coin")
    # The bet of each theta is made for that theta (and against it, where that wins more), and the
    # best of them is taken.
    best = np.zeros(TRIALS)
    for shift in np.linspace(0, 6, 13):
        guess = np.full((len(path.y), 1), path.score + shift * path.scale)
        best = np.maximum(best, wealth.peak_log_wealth(range_bets(path, guess), path.theta))
    assert_caught(best)


def test_planted_a_choice_of_bet_that_depends_on_the_outcome() -> None:
    path = inner_products(np.random.default_rng(7), "dense")
    guess = guesses(path)["above it"]
    by_norm = norm_bets(path, guess)
    growth = [
        np.diff(wealth.log_wealth(bets, path.theta), axis=0, prepend=0.0)
        for bets in (by_norm, dataclasses.replace(by_norm, stake=by_norm.stake / 4))
    ]
    chosen = np.cumsum(np.maximum.reduce(growth), axis=0).max(axis=0)
    assert_caught(chosen)


@pytest.mark.parametrize("ahead", ["this step", "whole round"])
def test_planted_stakes_that_look_ahead(ahead: str) -> None:
    path = population("fair coin")
    honest = range_bets(path, guesses(path)["above it"])
    steps = np.arange(len(path.y))
    if ahead == "this step":
        seen = np.minimum(steps + 1, len(steps) - 1)
    else:
        ends = np.unique(np.minimum(np.ceil(8 * 1.2 ** np.arange(40)), len(steps) - 1)).astype(int)
        seen = ends[np.minimum(np.searchsorted(ends, steps), len(ends) - 1)]
    planted = dataclasses.replace(honest, stake=honest.stake[seen])
    assert_caught(wealth.peak_log_wealth(planted, path.theta))


@pytest.mark.parametrize("name", ["rare high rewards", "one huge reward"])
def test_planted_no_cap_on_the_stake(name: str) -> None:
    path = population(name)
    bets = range_bets(path, guesses(path)["above it"])
    mean = path.theta / bets.left - bets.offset
    factors = np.maximum(1 + 5 * bets.stake * (mean - bets.payoff), 1e-300)
    assert_caught(np.cumsum(np.log(factors), axis=0).max(axis=0))


def late_large_value() -> tuple[Walk, Walk]:
    """Two arms with one large reward each among small ones, in one order."""
    rng = np.random.default_rng(8)
    orders = draw_orders(rng, np.ones(300))
    sums = two_valued(0.0, 1, -0.003, 300) + rng.uniform(-0.01, 0.01, 300)
    other = np.roll(sums, 150)
    return (
        walk(rng, sums, np.ones(300), orders=orders),
        walk(rng, other, np.ones(300), orders=orders),
    )


@pytest.mark.parametrize("delta", DELTAS)
def test_without_bounds_a_late_large_value_is_covered_or_excused(delta: float) -> None:
    """The ladder of limits: wrong, and yet nothing above the final limit, at most delta."""
    path, other = late_large_value()
    steps = len(path.y)
    own, others = (np.maximum.accumulate(np.abs(one.y), axis=0) for one in (path, other))
    others[150:] = others[150]  # the other arm is known by then and read no more
    first = ladder.SAFETY * np.maximum(own[3], others[3])
    guess = guesses(path)["above it"].repeat(TRIALS, axis=1)
    guess[:4] = -np.inf
    n_rungs = 1 + math.ceil(math.log(1.1 / first.min()) / math.log(ladder.STEP))
    with np.errstate(invalid="ignore", divide="ignore"):
        # A rung below a reward met may go bankrupt, but then it is not the current one.
        peaks = np.array(
            [
                np.maximum.accumulate(
                    np.nan_to_num(
                        wealth.log_wealth(
                            dataclasses.replace(
                                range_bets(path, guess), cap=(first * ladder.STEP**rung)[None, :]
                            ),
                            path.theta,
                        ),
                        nan=-np.inf,
                    ),
                    axis=0,
                )
                for rung in range(n_rungs)
            ]
        )
    level = -np.log(delta * np.array([ladder.share_of_delta(rung) for rung in range(n_rungs)]))
    trials = np.arange(TRIALS)
    read = np.full(TRIALS, 3)  # the last step read of the arm: a dropped one is not read
    dropped = np.zeros(TRIALS, dtype=bool)
    for step in range(4, steps):
        read[~dropped] = step
        met = np.maximum(own[read, trials], others[step])
        climbs = np.ceil(np.log(met / first) / math.log(ladder.STEP) - 1e-9)
        rung = np.maximum(0, climbs).astype(int)
        # Climbing makes the search try the arm again, on all that it has read of it.
        dropped = peaks[rung, read, trials] >= level[rung]
    final = first * ladder.STEP**rung
    excused = max(np.abs(path.y).max(), np.abs(other.y).max()) > final
    assert 0 < excused.sum() < TRIALS
    assert_at_most(int((dropped & ~excused).sum()), TRIALS, delta)


def test_planted_a_running_maximum_as_the_limit() -> None:
    path, other = late_large_value()
    largest_yet = np.maximum.accumulate(np.maximum(np.abs(path.y), np.abs(other.y)), axis=0)
    limit = np.vstack([largest_yet[3:4].repeat(4, axis=0), largest_yet[3:-1]])
    guess = guesses(path)["above it"]
    bets = dataclasses.replace(range_bets(path, guess), cap=1.01 * limit)
    mean = path.theta / bets.left - bets.offset
    size = np.minimum(bets.stake, wealth.C / np.maximum(bets.cap - mean, 1e-12))
    factors = np.maximum(1 + size * (mean - bets.payoff), 1e-300)
    assert_caught(np.cumsum(np.log(factors), axis=0).max(axis=0))
