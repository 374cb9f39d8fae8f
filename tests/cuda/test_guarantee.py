"""The guarantee of searches on a device, on hostile rows, and its errors, planted.

Two kinds of tests. One computes the conditional mean of a factor exactly, over all blocks that may be drawn next:
no luck is involved. The other draws 4,000 seeded orders and asks how often a row is dropped although its score
is the threshold; a correct bet fails one of these by luck once in a million.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.cuda import bets, rounding
from sureshot.cuda.order import order_of
from sureshot.cuda.plan import plan_of
from sureshot.cuda.reference import Question, search
from tests.cuda.populations import ROWS, tied_rows
from tests.cuda.walks import (
    DELTAS,
    STEPS,
    Betting,
    Walk,
    bets_on,
    boundary,
    orders,
    population,
    walk,
)
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    from sureshot._types import Floats
    from sureshot.cuda.bets import Float32s

SOME_STEPS = np.array([4, 5, 9, 15, 16, 17, 31, 47, 60, 63])


def betting(name: str, loose: float = 1.0) -> list[Betting]:
    """Return the bets on a hostile row in some orders."""
    query, drawn = orders()
    row = ROWS[name](np.random.default_rng([1, len(name)]), query)
    return [
        bet for o in drawn[:12] for bet in bets_on(boundary(row, query, o, loose), o, SOME_STEPS)
    ]


def broken(found: list[Betting]) -> set[str]:
    """Return which parts of Lemma 25 do not hold."""
    rounded = 1 + 202 * rounding.U
    parts = {
        "certain drop": any(bet.certain for bet in found),
        "mean above one": max(bet.mean for bet in found) > 1 + 1e-12,
        "factor too small": min(bet.unrounded.min() for bet in found) < 0.00999,
        "rounded up": any(
            (bet.factor > np.minimum(rounded * bet.unrounded, rounding.MOST_FACTOR)).any()
            for bet in found
        ),
    }
    return {part for part, is_broken in parts.items() if is_broken}


@pytest.mark.parametrize("loose", [1.0, 2.0])
@pytest.mark.parametrize("name", list(ROWS))
def test_every_factor_has_a_mean_of_at_most_one(name: str, loose: float) -> None:
    assert broken(betting(name, loose)) == set()


def test_many_bets_are_placed() -> None:
    """The test above can see: many steps have a bet, and its mean is not far from one."""
    means = [bet.mean for bet in betting("fair coin") if bet.placed]
    assert len(means) > 30
    assert max(means) > 0.999


def any_row(rng: np.random.Generator) -> tuple[Float32s, Float32s]:
    """Return a row and a query of few or many blocks, of equal or most unequal weights, small or large."""
    n_blocks = int(rng.integers(6, 200))
    query = rng.standard_normal((n_blocks, 16))
    query *= np.exp(rng.uniform(0, 8) * rng.standard_normal((n_blocks, 1)))
    along = [
        rng.choice([-1.0, 1.0], (n_blocks, 1)),
        1 + 10.0 ** rng.uniform(-7, -1) * rng.standard_normal((n_blocks, 1)),
        rng.choice([-0.05, 2.0], (n_blocks, 1), p=[0.95, 0.05]),
        np.exp(rng.uniform(0, 5) * rng.standard_normal((n_blocks, 1))) * rng.standard_normal(16),
    ]
    row = query * along[rng.integers(4)]
    row *= 10.0 ** rng.uniform(-10, 8) / np.linalg.norm(row)
    query *= 10.0 ** rng.uniform(-8, 8)
    return row.astype(np.float32).reshape(-1), query.astype(np.float32).reshape(-1)


def test_random_rows() -> None:
    rng = np.random.default_rng(15)
    found = []
    for seed in range(250):
        row, query = any_row(rng)
        order = order_of(query, 16, 4, seed, 1024)
        steps = np.unique(rng.integers(4, max(5, len(order)), 3))
        if len(order) > 5:
            found += bets_on(boundary(row, query, order, rng.choice([1, 1.5, 10])), order, steps)
    assert sum(bet.placed for bet in found) > 100
    assert broken(found) == set()


def broken_by_any() -> set[str]:
    return set.union(*(broken(betting(name)) for name in ROWS))


def test_planted_no_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "guard_share", lambda *_: 0.0)
    monkeypatch.setattr(rounding, "THRESHOLD_SHARE", 0.0)
    assert broken_by_any()


def test_planted_norms_that_are_not_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off after four or five digits: the guard is not for that."""
    monkeypatch.setattr(rounding, "square_share", lambda *_: -3e-5)
    assert "mean above one" in broken_by_any()


def least_factor(seed: int) -> float:
    """Return the smallest factor of bets whose threshold is just below a certain drop, for any payoff.

    Such a threshold is far above what Lemma 25 asks for, but the wealth must stay positive there, too.
    """
    rng = np.random.default_rng(seed)
    count, left = 4000, 0.01
    m = np.exp(rng.uniform(-3, 3, count))
    root = np.sqrt(m)
    theta = root / left * (1 - rng.integers(0, 100, count) * rounding.U)
    mean = root * (1 - 10.0 ** rng.uniform(-6, 0.5, count))
    second = mean**2 + m * 10.0 ** rng.uniform(-9, 0, count)
    # The payoff is largest where y is about rho, and u not more than its square.
    y = (root * rng.uniform(0.9, 3, count)).astype(np.float32)
    u = m * rng.uniform(0, 1.2, count)
    return smallest_factor(20, left, theta, m, mean, second, u, y)


def smallest_factor(
    steps_before: int,
    left: float,
    theta: Floats,
    m: Floats,
    mean: Floats,
    second: Floats,
    u: Floats,
    y: Float32s,
) -> float:
    """Return the smallest factor, made without rounding of the computed numbers, of bets with this past."""
    before = steps_before
    numbers = (before, 1 / before, 1 / (before - 1), left, left)
    steps = bets.Steps(*(np.full(1, x, np.float32) for x in numbers))
    zero = np.zeros(len(m))
    sums = (zero, before * mean, before * second, zero, before * u)
    past = bets.Sums(*(part.astype(np.float32)[:, None] for part in sums))
    with np.errstate(all="ignore"):
        found = bets.factors(
            y[:, None],
            (y * y)[:, None],
            past,
            steps,
            theta.astype(np.float32),
            (m / left).astype(np.float32),
        )
    placed = found.size > 0
    assert placed.sum() > 1000
    gap = found.needed.astype(np.float64) - found.payoff
    return float((1 + found.size.astype(np.float64) * gap)[placed].min())


def least_factor_at_the_cap(seed: int) -> float:
    """Return the smallest factor of bets whose room is so small that it is rounded away, for payoffs at their cap.

    After many steps that hardly differ, a mean just below what is needed makes a large stake; the mass seen so far
    is large, so that rho is the root of what is left, and a payoff near it is the largest one.
    """
    rng = np.random.default_rng(seed)
    count, left = 20_000, 0.01
    m = np.exp(rng.uniform(-3, 3, count))
    root = np.sqrt(m)
    needed = root * (1 - 10.0 ** rng.uniform(-5, -3, count))
    mean = needed - root * 10.0 ** rng.uniform(-5, -3, count)
    y = (root * (1 + 2e-4 * rng.standard_normal(count))).astype(np.float32)
    u = m * rng.uniform(1, 20, count)
    return smallest_factor(500, left, needed / left, m, mean, mean**2 * (1 - 1e-7), u, y)


def test_no_factor_at_the_cap_is_too_small() -> None:
    least = min(map(least_factor_at_the_cap, range(3)))
    assert 0.00999 < least < 0.02


def test_planted_a_room_that_is_not_widened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bets, "_ROOM", np.float32(0))
    assert min(map(least_factor_at_the_cap, range(3))) < 0.0095


def test_no_factor_is_too_small() -> None:
    least = min(map(least_factor, range(5)))
    assert 0.00999 < least < 0.1


def test_planted_a_stake_beyond_its_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bets, "_C", np.float32(1.2))
    assert min(map(least_factor, range(5))) < 0


def assert_valid(path: Walk, k: int = 1) -> None:
    for delta in DELTAS:
        won = path.won(rounding.level(k, delta, STEPS))
        assert_at_most(int(won.sum()), len(won), delta)


def assert_caught(path: Walk) -> None:
    with pytest.raises(AssertionError, match="promised"):
        assert_valid(path)


@pytest.mark.parametrize("name", list(ROWS))
def test_a_row_at_the_threshold_is_kept(name: str) -> None:
    assert_valid(population(name))


def test_the_promise_is_used() -> None:
    """The tests above can see: a coin is dropped not much less often than it may be."""
    won = population("fair coin").won(rounding.level(1, 0.3, STEPS))
    assert won.mean() > 0.1


def test_a_threshold_that_rises_within_a_product() -> None:
    """Low before the second round, and the row's own score from there on."""
    for name in ("fair coin", "rare wins", "heavy tails"):
        path = population(name)
        low = path.theta - np.float32(0.3) * abs(path.theta) - np.float32(1)
        theta = np.array([low, *[path.theta] * 3], dtype=np.float32)
        for delta in DELTAS:
            won = path.won(rounding.level(1, delta, STEPS), theta)
            assert_at_most(int(won.sum()), len(won), delta)


def test_planted_a_stake_that_includes_its_own_step(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = bets.factors

    def planted(y, u, past, steps, *rest):  # type: ignore[no-untyped-def]
        ahead = dataclasses.replace(
            past, y=past.y + y, y_squared=past.y_squared + y * y, u=past.u + u
        )
        return honest(y, u, ahead, steps, *rest)

    monkeypatch.setattr(bets, "factors", planted)
    assert "mean above one" in broken(betting("heavy tails"))
    assert_caught(population("heavy tails"))


def test_planted_a_threshold_found_with_later_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threshold of a step is the row's score if that wins, and low if it loses: known only afterwards."""
    honest = bets.factors

    def planted(*arguments):  # type: ignore[no-untyped-def]
        found = honest(*arguments)
        return dataclasses.replace(found, factor=np.maximum(found.factor, np.float32(1)))

    monkeypatch.setattr(bets, "factors", planted)
    assert_caught(population("fair coin"))


def test_planted_a_norm_that_is_too_small() -> None:
    """The bound does not hold: what is left of the norm seems to be less than it is."""
    path = population("rare wins", loose=0.6)
    assert_caught(path)


def test_planted_no_price_for_unseen_mass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The payoff without m: its mean is below that of y."""
    honest = bets.factors

    def planted(y, u, past, steps, theta, limit):  # type: ignore[no-untyped-def]
        m = np.fmax(limit[:, None] - past.squares, 0) * steps.inverse_left
        return honest(y, u + m, past, steps, theta, limit)

    monkeypatch.setattr(bets, "factors", planted)
    assert_caught(population("fair coin"))


def test_ten_rows_share_delta() -> None:
    rng = np.random.default_rng(4)
    coins = [walk(ROWS["fair coin"](rng, orders()[0])) for _ in range(10)]
    for delta in DELTAS:
        won = np.logical_or.reduce([c.won(rounding.level(10, delta, STEPS)) for c in coins])
        assert_at_most(int(won.sum()), len(won), delta)
    # Planted: level delta instead of delta / 10.
    planted = np.logical_or.reduce([c.won(rounding.level(1, 0.3, STEPS)) for c in coins])
    with pytest.raises(AssertionError, match="promised"):
        assert_at_most(int(planted.sum()), len(planted), 0.3)


def failures(searches: int, delta: float) -> int:
    """Return how many whole searches of nearly tied rows miss one of the best."""
    rows, query = tied_rows(np.random.default_rng(7), 200, k=20)
    squares = (rows.astype(np.float64) ** 2).sum(axis=1)
    scores = rows.astype(np.float64) @ query.astype(np.float64)
    best = set(np.argsort(-scores)[:20].tolist())
    # Small limits, so that every stage is gone through.
    plan = dataclasses.replace(plan_of(200, len(query), 20, 4), first_rows=44, slots=4, direct=4)
    missed = 0
    for seed in range(searches):
        question = Question(rows, query, 20, squares, seed, delta=delta)
        found = search(question, plan)
        missed += set(found.indices.tolist()) != best
    return missed


def test_whole_searches_keep_the_promise() -> None:
    assert_at_most(failures(250, 0.2), 250, 0.2)


def test_planted_a_low_level_in_whole_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "level", lambda *_: 1.5)
    with pytest.raises(AssertionError, match="promised"):
        assert_at_most(failures(60, 0.2), 60, 0.2)
