"""BoundedME's promise, tested as a promise on seeded repetitions.

The bound has much slack, so these tests would not notice a radius that is a little too small; the
last-but-one test shows that they do notice one divided by 10.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.search import bounded_me
from sureshot.search.problem import Problem, Tally
from sureshot.sources.base import Totals
from sureshot.sources.function import FunctionSource
from sureshot.sources.rewards import Rewards
from sureshot.theory import schedule
from sureshot.theory.intervals import Intervals
from tests.guarantee import assert_at_most
from tests.racing import given

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints

Lists = Callable[[np.random.Generator], "Floats"]
TRIALS = 200


def suboptimality(true_scores: Floats, chosen: Ints) -> float:
    k = len(chosen)
    best = np.sort(true_scores)[::-1][k - 1]
    return float(best - true_scores[chosen].min())


def antithetic(n_rewards: int, gap: float, copies: int = 1) -> Lists:
    """Pairs of arms: one wins exactly where the other loses, with means `gap` apart."""

    def lists(rng: np.random.Generator) -> Floats:
        ones = round(n_rewards * (1 + gap) / 2)
        rows = []
        for _ in range(copies):
            winner = np.zeros(n_rewards)
            winner[rng.permutation(n_rewards)[:ones]] = 1
            rows += [1 - winner, winner]
        return np.array(rows)

    return lists


def two_valued(n_arms: int, n_rewards: int) -> Lists:
    """Bernoulli lists with means all over [0, 1]."""
    return lambda rng: (rng.random((n_arms, n_rewards)) < rng.random((n_arms, 1))).astype(float)


def beta(n_arms: int, n_rewards: int) -> Lists:
    def lists(rng: np.random.Generator) -> Floats:
        first, second = rng.uniform(0.2, 3, (2, n_arms, 1))
        return rng.beta(first, second, size=(n_arms, n_rewards))

    return lists


def pull_from(table: Floats, arms: Ints, coordinates: Ints) -> Floats:
    return np.asarray(table[np.ix_(arms, coordinates)])


def failures(lists: Lists, k: int, epsilon: float, delta: float, trials: int) -> int:
    count = 0
    for seed in range(trials):
        table = lists(np.random.default_rng([seed, 1]))
        found = sureshot.best_arms(
            functools.partial(pull_from, table),
            table.shape[0],
            table.shape[1],
            k,
            epsilon=epsilon,
            delta=delta,
            method="bounded-me",
            rng=seed,
        )
        assert found.work.share < 1
        count += suboptimality(table.mean(axis=1), found.indices) > epsilon
    return count


@pytest.mark.parametrize(
    ("lists", "k", "epsilon", "delta"),
    [
        (antithetic(2000, 0.21), 1, 0.2, 0.01),
        (antithetic(2000, 0.21), 1, 0.2, 0.3),
        (antithetic(2000, 0.21, copies=4), 3, 0.2, 0.01),
        (two_valued(30, 1500), 5, 0.2, 0.01),
        (two_valued(30, 1500), 5, 0.4, 0.1),
        (beta(30, 1500), 5, 0.2, 0.01),
    ],
)
def test_mean_rewards(lists: Lists, k: int, epsilon: float, delta: float) -> None:
    assert_at_most(failures(lists, k, epsilon, delta, TRIALS), TRIALS, delta)


@pytest.mark.parametrize("metric", ["ip", "sqeuclidean", "l1", "cosine"])
@pytest.mark.parametrize(("delta", "k"), [(0.05, 1), (0.3, 4)])
def test_inner_products_and_distances_with_true_bounds(metric: str, delta: float, k: int) -> None:
    trials, count = 150, 0
    for seed in range(trials):
        rng = np.random.default_rng([seed, 2])
        data = rng.random((25, 3000)).astype(np.float32)
        data[3] = np.round(data[3])
        query = rng.choice([-1.0, 0.0, 1.0], 3000)
        width = 2 * (1 if metric == "ip" else 2)
        epsilon = (0.2 * width / 50) if metric == "cosine" else 0.1 * 3000 * width / 2
        options: dict[str, Any] = {
            "metric": metric,
            "epsilon": epsilon,
            "delta": delta,
            "bounds": sureshot.Bounds(
                low=0, high=1, norms=np.linalg.norm(data, axis=1), norms_exact=True
            ),
        }
        truth = sureshot.top_k(data, query, k, metric=metric, method="exact")
        found = sureshot.top_k(data, query, k, method="bounded-me", rng=seed, **options)
        loss = abs(found.scores[-1] - truth.scores[-1])
        count += loss > epsilon
    assert_at_most(count, trials, delta)


def test_a_radius_divided_by_ten_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = schedule.sample_size

    def tenth(n_arms: int, k: int, epsilon: float, delta: float, width: float, ways: int) -> float:
        return honest(n_arms, k, epsilon, delta, width / 10, ways)

    monkeypatch.setattr(schedule, "sample_size", tenth)
    count = failures(antithetic(2000, 0.21), 1, 0.2, 0.01, TRIALS)
    with pytest.raises(AssertionError, match=r"promised 0\.01"):
        assert_at_most(count, TRIALS, 0.01)


class InOrder(np.random.Generator):
    """Draws coordinates in the order in which they are."""

    def permutation(self, x: int, axis: int = 0) -> Ints:  # type: ignore[override]
        return np.arange(x)


class OnesFirst(FunctionSource):
    """Lists of ones and zeros of which only the number of ones is kept; ones come first."""

    def __init__(self, ones: Ints, n_rewards: int) -> None:
        super().__init__(Rewards(self.ones_first, 0.0, 1.0), len(ones), n_rewards)
        self.ones = ones

    def ones_first(self, arms: Ints, coordinates: Ints) -> Array:
        return (coordinates < self.ones[arms, None]).astype(float)

    def totals(self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats) -> Totals:
        start, stop = blocks[0], blocks[-1] + 1
        assert stop - start == len(blocks)
        sums = np.clip(self.ones[arms], start, stop).astype(float) - start
        return Totals(sums, np.zeros(len(arms)), np.ones(len(arms)))

    def exact_scores(self, arms: Ints, blocks: Ints | None = None) -> Floats:
        return self.ones[arms].astype(float)


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.2, 0.4, 0.6])
@pytest.mark.parametrize("delta", [0.01, 0.3])
def test_the_adversarial_experiment_of_the_paper(epsilon: float, delta: float) -> None:
    """10^4 arms, lists of 10^5, ones returned before zeros.

    That order is deterministic, so no theorem covers it: this compares the loss with epsilon, as
    the paper's first figure does, and tests no probability.
    """
    n_arms, n_rewards, k = 10_000, 100_000, 5
    for seed in range(5):
        rng = np.random.default_rng(seed)
        ones = rng.binomial(n_rewards, rng.random(n_arms))
        problem = Problem(
            source=OnesFirst(ones, n_rewards),
            arms=np.arange(n_arms),
            factors=np.full(n_arms, 1 / n_rewards),
            k=k,
            epsilon=epsilon,
            delta=delta,
            known=given(
                Intervals(
                    np.full(n_rewards, 0.5), np.full(n_rewards, 0.5), np.ones(n_arms), n_rewards / 2
                )
            ),
        )
        tally = Tally()
        found = bounded_me.search(problem, InOrder(np.random.PCG64(0)), tally)
        assert tally.numbers_read < n_arms * n_rewards
        assert suboptimality(ones / n_rewards, found.positions) < epsilon


def test_a_schedule_that_reads_nearly_everything_is_the_exact_product() -> None:
    rng = np.random.default_rng(16)
    data, query = rng.random((40, 500)), rng.random(500)
    rows = {}
    for epsilon in (5.0, 30.0, 200.0):
        rows[epsilon] = sureshot.top_k(
            data, query, 3, bounds=(0, 1), method="bounded-me", epsilon=epsilon, rng=0
        )
    assert [found.algorithm for found in rows.values()] == ["exact", "exact", "bounded-me"]
    assert rows[30.0].certificate.exact
    width = 2 * 0.5 * query.max()
    rounds = schedule.bounded_me(40, 500, 3, 30.0 / 500, 0.05, width)
    assert rounds[0].pulls < 500  # not everything: so much that it does not pay
