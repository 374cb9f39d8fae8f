"""Few arms with expensive pulls: what is returned, what is pulled, and what is promised."""

from __future__ import annotations

import dataclasses
import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.search.leaders import leaders
from sureshot.theory.mixture import Draws
from tests.guarantee import assert_at_most
from tests.test_betting import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot import RoundInfo
    from sureshot._types import Floats


def coins(rng: np.random.Generator, means: Floats, n_rewards: int) -> Floats:
    """Two-valued lists with exactly these means, as far as the length allows."""
    table = np.zeros((len(means), n_rewards))
    for row, mean in zip(table, means, strict=True):
        row[rng.permutation(n_rewards)[: round(mean * n_rewards)]] = 1
    return table


def models(rng: np.random.Generator, n_rewards: int = 2000) -> Floats:
    """Twenty arms like real models: the best two 0.03 apart, the rest far below."""
    means = np.append(np.linspace(0.40, 0.75, 18), [0.77, 0.80])
    return coins(rng, rng.permutation(means), n_rewards)


def ask(table: Floats, k: int = 1, **more: Any) -> tuple[sureshot.TopK, Table]:
    counted = Table(table)
    arguments: dict[str, Any] = {"epsilon": 0.01, "delta": 0.05, "rng": 0}
    n_arms, n_rewards = table.shape
    arguments |= more
    return sureshot.best_arms(counted.pull, n_arms, n_rewards, k, **arguments), counted


def is_wrong(table: Floats, found: sureshot.TopK, epsilon: float) -> bool:
    truth = table.mean(axis=1)
    k = len(found.indices)
    return bool(truth[found.indices].min() < np.sort(truth)[-k] - epsilon - 1e-12)


def test_pulls_of_twenty_models() -> None:
    """The workload that this search is for: a fifth was asked for, an eighth was the aim."""
    shares, wrong = [], 0
    for seed in range(40):
        table = models(np.random.default_rng([1, seed]))
        found, counted = ask(table, rng=seed)
        assert counted.pulled.max() == 1
        assert counted.pulled.sum() == found.work.numbers_read
        shares.append(found.work.share)
        wrong += is_wrong(table, found, 0.01)
    assert np.mean(shares) < 0.12
    assert max(shares) < 0.25
    assert_at_most(wrong, 40, 0.05)


@pytest.mark.parametrize("k", [1, 4])
@pytest.mark.parametrize("epsilon", [0.0, 0.02])
@pytest.mark.parametrize("kind", ["all equal", "coins", "sorted", "constant", "two groups"])
def test_never_more_than_everything_and_nothing_twice(kind: str, epsilon: float, k: int) -> None:
    rng = np.random.default_rng(2)
    tables = {
        "all equal": np.tile(coins(rng, np.array([0.5]), 97), (7, 1)),
        "coins": coins(rng, np.full(7, 0.5), 97),
        "sorted": np.sort(rng.random((7, 97)), axis=1),
        "constant": np.full((7, 97), 0.25),
        "two groups": coins(rng, np.repeat([0.3, 0.6], [4, 3]), 97),
    }
    found, counted = ask(tables[kind], k, epsilon=epsilon)
    assert counted.pulled.max() == 1
    assert counted.pulled.sum() == found.work.numbers_read <= counted.pulled.size
    assert not is_wrong(tables[kind], found, epsilon)


def test_equal_lists_are_ranked_by_their_index() -> None:
    rng = np.random.default_rng(3)
    table = np.tile(coins(rng, np.array([0.5]), 1535), (6, 1))
    for row in table[3:]:
        row[rng.permutation(1535)] = row.copy()
    found, _ = ask(table, 2, epsilon=0.0)
    assert found.indices.tolist() == [0, 1]
    assert found.certificate.exact


def test_what_the_certificate_says_of_the_scores() -> None:
    table = models(np.random.default_rng(4), 20_000)
    found, counted = ask(table)
    assert found.certificate.scores == "estimate"
    assert found.certificate.unconditional
    assert not found.certificate.exact
    assert "estimates" in str(found.certificate)
    assert found.work.exact_scores == (counted.pulled.sum(axis=1) == 20_000).sum() == 0
    assert abs(found.scores[0] - table.mean(axis=1).max()) < 0.03
    # A quarter of what one exact score costs, for all twenty arms.
    assert found.work.share < 0.05
    exact, counted = ask(table, epsilon=0.0)
    assert exact.certificate.scores == "exact"
    assert exact.scores[0] == table.mean(axis=1).max()
    assert exact.work.exact_scores == (counted.pulled.sum(axis=1) == 20_000).sum() >= 1


def test_arms_that_err_together_are_compared_as_pairs() -> None:
    """A little better on the same hard examples: only the difference shows it cheaply."""
    rng = np.random.default_rng(5)
    easy = rng.random(20_000) < 0.6
    table = np.tile(easy.astype(float), (5, 1))
    for row, share in zip(table, (0.0, 0.002, 0.004, 0.006, 0.03), strict=True):
        row[np.flatnonzero(~easy)[: int(share * 20_000)]] = 1
    found, _ = ask(table, epsilon=0.01)
    assert found.indices.tolist() == [4]
    assert found.work.share < 0.2
    shuffled, _ = ask(np.array([rng.permutation(row) for row in table]), epsilon=0.01)
    assert shuffled.work.share > 2 * found.work.share


def test_the_same_seed_gives_the_same_course_and_progress_reports_it() -> None:
    table = models(np.random.default_rng(6), 500)
    reported: list[RoundInfo] = []
    one, _ = ask(table, 2, where=np.arange(3, 17), progress=reported.append)
    other, _ = ask(table, 2, where=np.arange(3, 17))
    assert one.rounds == other.rounds == tuple(reported)
    assert one.scores.tolist() == other.scores.tolist()
    assert np.isin(one.indices, np.arange(3, 17)).all()
    assert reported[-1].arms == 0
    assert reported[-1].numbers_read == one.work.numbers_read
    assert all(
        first.numbers_read < then.numbers_read for first, then in itertools.pairwise(reported)
    )


def test_a_budget_is_kept_and_the_answer_pulled_to_the_end_on_top() -> None:
    table = models(np.random.default_rng(7))
    reached = []
    for budget in (0.001, 0.02, 0.06):
        found, counted = ask(table, budget=budget)
        assert found.work.numbers_read == counted.pulled.sum() <= budget * table.size + 2000
        assert found.certificate.scores == "exact"
        assert found.certificate.epsilon > 0.01
        reached.append(found.certificate.epsilon)
        assert not is_wrong(table, found, found.certificate.epsilon)
    assert reached[0] > reached[1] > reached[2]
    late, _ = ask(table, budget_seconds=1e-9)
    assert late.work.numbers_read == 2000
    enough, _ = ask(table, budget=0.9)
    assert enough.certificate.epsilon == 0.01
    assert enough.work.numbers_read == ask(table)[0].work.numbers_read


@pytest.mark.parametrize("bounds", [(-1e200, 1e200), (0.0, 1e-200), (1e9, 1e9 + 1)])
def test_whatever_the_units(bounds: tuple[float, float]) -> None:
    low, high = bounds
    table = low * (1 - models(np.random.default_rng(8), 500)) + high * models(
        np.random.default_rng(8), 500
    )
    found, counted = ask(table, epsilon=0.05 * (high - low), bounds=bounds)
    assert not is_wrong(table, found, 0.05 * (high - low))
    assert counted.pulled.mean() < 0.3


def test_many_arms_are_raced() -> None:
    table = np.tile(models(np.random.default_rng(9), 300), (26, 1))
    found, _ = ask(table, epsilon=0.3)
    assert len(table) > leaders.MOST_ARMS
    assert found.certificate.scores == "exact"


TRIALS = 100  # the planted errors are caught by as many

# Boundary cases: every arm outside the best is just more than epsilon worse, so each of them is a mistake.
CASES: dict[str, tuple[Callable[[np.random.Generator], Floats], int, float]] = {
    "coins": (lambda rng: coins(rng, np.append(np.full(4, 0.49), 0.6), 200), 1, 0.1),
    "two arms": (lambda rng: coins(rng, np.array([0.5, 0.39]), 200), 1, 0.1),
    "k > 1": (lambda rng: coins(rng, np.repeat([0.6, 0.39], 3), 100), 3, 0.2),
    "sorted lists": (
        lambda rng: np.sort(coins(rng, np.append(np.full(3, 0.39), 0.5), 200), axis=1),
        1,
        0.1,
    ),
    "lists that repel": (
        lambda rng: np.array([row := coins(rng, np.array([0.55]), 200)[0], 0.98 - row, 0.98 - row]),
        1,
        0.05,
    ),
    "rare rewards": (lambda rng: coins(rng, np.array([0.06, 0.02, 0.02, 0.02]), 200), 1, 0.035),
    "exact": (lambda rng: coins(rng, np.append(np.full(4, 0.495), 0.5), 200), 1, 0.0),
}


def failures(name: str, delta: float, trials: int) -> int:
    make, k, epsilon = CASES[name]
    wrong = 0
    for seed in range(trials):
        table = make(np.random.default_rng([10, seed]))
        found, _ = ask(table, k, epsilon=epsilon, delta=delta, rng=seed, bounds=(-0.1, 1.0))
        assert is_wrong(table, found, epsilon) <= (found.certificate.exact is False)
        wrong += is_wrong(table, found, epsilon)
    return wrong


@pytest.mark.parametrize("name", CASES)
def test_how_often_the_answer_is_wrong(name: str) -> None:
    assert_at_most(failures(name, 0.2, TRIALS), TRIALS, 0.2)


@pytest.mark.parametrize(("budget", "epsilon"), [(0.05, 0.0), (0.3, 0.0), (0.2, 0.03)])
def test_the_epsilon_reached_within_a_budget(budget: float, epsilon: float) -> None:
    wrong, reached = 0, []
    for seed in range(TRIALS):
        rng = np.random.default_rng([11, seed])
        table = coins(rng, np.append(rng.uniform(0.2, 0.5, 9), [0.53, 0.56, 0.6]), 200)
        found, counted = ask(table, 2, epsilon=epsilon, delta=0.2, budget=budget, rng=seed)
        wrong += is_wrong(table, found, found.certificate.epsilon)
        reached.append(found.certificate.epsilon)
        assert counted.pulled.sum() <= budget * table.size + 2 * 200
    assert_at_most(wrong, TRIALS, 0.2)
    # A bound that is always the trivial one would be valid, too.
    assert np.median(reached) < (0.6 if budget < 0.1 else 0.2)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_the_certificate_holds_in_every_round(
    epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each search every round counts: it is wrong if any of them promised too much."""
    lost: list[float] = []
    original = leaders.LeaderSearch.end_round

    def spy(search: leaders.LeaderSearch) -> None:
        original(search)
        worst = truth[search.leaders()].min()
        promised = search.tally.rounds[-1].epsilon
        assert promised is not None
        lost.append(np.sort(truth)[-2] - worst - promised)

    monkeypatch.setattr(leaders.LeaderSearch, "end_round", spy)
    wrong = 0
    for seed in range(60):
        table = coins(np.random.default_rng([7, seed]), np.linspace(0.3, 0.7, 9), 150)
        truth = table.mean(axis=1)
        lost.clear()
        found, _ = ask(table, 2, epsilon=epsilon, delta=0.2, rng=seed)
        wrong += max(lost) > 1e-12
        first, last = found.rounds[0].epsilon, found.rounds[-1].epsilon
        assert first is not None
        assert last == found.certificate.epsilon < first
    assert_at_most(wrong, 60, 0.2)


def test_planted_levels_without_a_logarithm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaders, "levels_of", lambda _: leaders.Levels(1.3, 1.3, 1.3))
    with pytest.raises(AssertionError, match="promised"):
        assert_at_most(failures("coins", 0.2, TRIALS), TRIALS, 0.2)


def test_planted_stakes_that_see_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Draws.peak_wealth

    def planted(self: Draws, theta: Floats) -> Floats:
        fixed = self.stakes
        mean = (theta - self.known) / self.left
        self.stakes = fixed * np.where(self.y < mean, 1.5, 0.5)[:, :, None]
        peaks = honest(self, theta)
        self.stakes = fixed
        return peaks

    monkeypatch.setattr(Draws, "peak_wealth", planted)
    with pytest.raises(AssertionError, match="promised"):
        assert_at_most(failures("coins", 0.2, TRIALS), TRIALS, 0.2)


def test_the_levels_share_delta() -> None:
    """A union over the k best, the others, and the pairs of both adds up to delta."""
    for n, k, epsilon in ((20, 1, 0.01), (9, 4, 0.1), (20, 3, 0.0)):
        problem = _problem(n, k, epsilon)
        levels = leaders.levels_of(problem)
        spent = k / levels.upper + (n - k) / levels.lower + k * (n - k) / levels.pair
        assert 0.05 * (1 - 1e-9) < spent <= 0.05


def _problem(n: int, k: int, epsilon: float) -> Any:
    source = dataclasses.make_dataclass("Source", ["n_coordinates"])(1000)
    names = ["k", "epsilon", "delta", "arms", "source"]
    return dataclasses.make_dataclass("Problem", names)(k, epsilon, 0.05, np.arange(n), source)
