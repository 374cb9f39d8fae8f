"""The promises of all methods, tested as promises on seeded repetitions.

Each test fails a correct method once in a million. The bounds of the bandits are far from tight, so
that a radius a little too small would not be noticed; the last tests show what is: a tenth of it
where bounds decide, a fortieth for median elimination, less yet for exponential-gap elimination.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.theory import elimination, radii
from tests.bandits import PROMISING, Lists, Way, antithetic, bernoulli, best_arms, loss
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    from collections.abc import Callable

TRIALS = 100
# A rate of failures of a quarter is caught in 50 trials of delta = 0.05; 100 of 0.2 take twice as long to catch 0.4.
FEW_TRIALS = 50
LITERATURE = [way for way in PROMISING if way.record.replacement]
# What decides by confidence bounds that hold at all times, and so may be asked for the exact answer.
ADAPTIVE = [way for way in PROMISING if way.method in ("successive-elimination", "lucb", "lil-ucb")]


def failures(lists: Lists, way: Way, k: int, trials: int = TRIALS, **options: Any) -> int:
    """Count the trials in which the loss exceeds what the certificate says."""
    count = 0
    for seed in range(trials):
        rewards = lists(np.random.default_rng([seed, 1]))
        found = best_arms(rewards, way, k, rng=seed, **options)
        assert found.certificate.delta in (0, options["delta"])
        count += loss(rewards.mean(axis=1), found.indices) > found.certificate.epsilon
    return count


@pytest.mark.parametrize("way", PROMISING, ids=str)
@pytest.mark.parametrize(
    ("lists", "delta"), [(antithetic(2, 2000, 0.21), 0.01), (bernoulli(8, 1500), 0.3)]
)
def test_the_best_arm(way: Way, lists: Lists, delta: float) -> None:
    # The first round of exponential-gap elimination takes a million pulls.
    trials = 20 if str(way) == "exponential-gap-with" else TRIALS
    count = failures(lists, way, 1, trials, epsilon=0.2, delta=delta)
    assert_at_most(count, trials, delta)


@pytest.mark.parametrize("way", [way for way in PROMISING if way.record.any_k], ids=str)
def test_several_arms(way: Way) -> None:
    lists = bernoulli(14, 1500)
    assert_at_most(failures(lists, way, 4, FEW_TRIALS, epsilon=0.1, delta=0.05), FEW_TRIALS, 0.05)


@pytest.mark.parametrize("way", ADAPTIVE, ids=str)
def test_the_exact_answer(way: Way) -> None:
    lists = antithetic(3, 1000, 0.1)
    assert_at_most(failures(lists, way, 1, FEW_TRIALS, epsilon=0.0, delta=0.05), FEW_TRIALS, 0.05)


@pytest.mark.parametrize("way", LITERATURE, ids=str)
@pytest.mark.parametrize("budget", [0.02, 0.4])
def test_what_a_budget_leaves(way: Way, budget: float) -> None:
    lists = antithetic(4, 1500, 0.3)
    count = failures(lists, way, 1, FEW_TRIALS, epsilon=0.01, delta=0.05, budget=budget)
    assert_at_most(count, FEW_TRIALS, 0.05)


@pytest.mark.parametrize("way", LITERATURE, ids=str)
def test_absolute_values_and_distances(way: Way) -> None:
    counts = {"abs-ip": 0, "sqeuclidean": 0}
    trials = 6 if str(way) == "exponential-gap-with" else 40
    for seed in range(trials):
        rng = np.random.default_rng([seed, 3])
        data = rng.uniform(-1, 1, (5, 1001)).astype(np.float32)
        query = rng.choice([-1.0, 0.0, 1.0], 1001)
        data[rng.integers(5)] = 0.5 * query * rng.choice([-1.0, 1.0])
        for metric in counts:
            options: dict[str, Any] = {"metric": metric, "bounds": (-1, 1), "rng": seed}
            found = sureshot.top_k(data, query, 1, epsilon=260, delta=0.2, **options, **way.options)
            truth = sureshot.top_k(data, query, 1, metric=metric, method="exact")
            counts[metric] += abs(found.scores[0] - truth.scores[0]) > 260
    for count in counts.values():
        assert_at_most(count, trials, 0.2)


def shrink(monkeypatch: pytest.MonkeyPatch, factor: float) -> None:
    """Divide every radius, and the width that every schedule is made for."""

    def divided(honest: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **more: honest(*arguments, **more) / factor

    for name in ("deviation", "successive_elimination", "lucb", "lil"):
        monkeypatch.setattr(radii, name, divided(getattr(radii, name)))

    def fewer(radius: float, width: float, log_level: float, n_rewards: int | None = None) -> float:
        return radii.pulls_for(radius, width / factor, log_level, n_rewards)

    monkeypatch.setattr(elimination, "pulls_for", fewer)


@pytest.mark.parametrize("way", LITERATURE, ids=str)
def test_planted_small_radii_are_caught(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(
        monkeypatch, {"median-elimination": 40.0, "exponential-gap": 200.0}.get(way.method, 10.0)
    )
    count = failures(antithetic(2, 2000, 0.21), way, 1, epsilon=0.2, delta=0.01)
    with pytest.raises(AssertionError, match=r"promised 0\.01"):
        assert_at_most(count, TRIALS, 0.01)


@pytest.mark.parametrize("way", LITERATURE, ids=str)
def test_planted_small_radii_of_a_budget_are_caught(
    way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    shrink(monkeypatch, 30.0)
    count = failures(antithetic(4, 1500, 0.3), way, 1, epsilon=0.0, delta=0.01, budget=0.004)
    with pytest.raises(AssertionError, match=r"promised 0\.01"):
        assert_at_most(count, TRIALS, 0.01)
