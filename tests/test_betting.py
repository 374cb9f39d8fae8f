"""Whole races of betting: what they return, what they read, and what they promise.

Few arms with expensive pulls are not raced; here they are. `test_leaders.py` has what becomes of them else.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot._native import ACTIVE, DROPPED, Team
from sureshot.blocks import Blocks
from sureshot.query_sums import QuerySums
from sureshot.search.leaders import leaders
from sureshot.search.problem import Problem, Tally
from sureshot.search.race import ladder, policy
from sureshot.search.race.race import Race
from sureshot.sources.dense import DenseSource
from sureshot.theory.intervals import to_be_estimated
from tests.guarantee import assert_at_most
from tests.racing import given

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints


@pytest.fixture(autouse=True)
def _race_few_arms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaders, "MOST_ARMS", 0)


class Table:
    """Rewards in a table, with a count of how often each was pulled."""

    def __init__(self, rewards: Floats) -> None:
        self.rewards = rewards
        self.pulled = np.zeros(rewards.shape, dtype=np.int64)

    def pull(self, arms: Ints, coordinates: Ints) -> Floats:
        self.pulled[np.ix_(arms, coordinates)] += 1
        return np.asarray(self.rewards[np.ix_(arms, coordinates)])


def low_rank(rng: np.random.Generator, n: int, width: int) -> tuple[Array, Floats]:
    patterns = rng.standard_normal((5, width))
    data = rng.standard_normal((n, 5)) @ patterns + 0.3 * rng.standard_normal((n, width))
    return data.astype(np.float32), rng.standard_normal(5) @ patterns


def near_the_query(rng: np.random.Generator, n: int, width: int) -> tuple[Array, Floats]:
    """Return rows of which four are the best by every metric, and far ahead of the others."""
    query, data = rng.uniform(-1, 1, width), rng.uniform(-1, 1, (n, width))
    best, near = [5, 90, 17, 200], np.array([[0.9], [0.8], [0.7], [0.6]])
    data[best] = near * query + (1 - near) * data[best]
    return data.astype(np.float32), query


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
def test_no_reward_is_pulled_twice_and_every_pull_is_counted(k: int, epsilon: float) -> None:
    rng = np.random.default_rng(0)
    table = Table((rng.random((40, 3000)) < rng.uniform(0.1, 0.9, (40, 1))).astype(float))
    found = sureshot.best_arms(table.pull, 40, 3000, k, epsilon=epsilon, delta=0.05, rng=1)
    assert table.pulled.max() == 1
    assert table.pulled.sum() == found.work.numbers_read < 0.5 * table.pulled.size
    truth = np.sort(table.rewards.mean(axis=1))[::-1]
    assert found.scores[-1] >= truth[k - 1] - epsilon
    assert (table.pulled.sum(axis=1) == 3000).sum() >= found.work.exact_scores


@pytest.mark.parametrize("order", ["C", "F"])
def test_coordinates_of_weight_zero_are_never_read(order: Literal["C", "F"]) -> None:
    rng = np.random.default_rng(1)
    data, query = low_rank(rng, 200, 4096)
    query[64:] *= rng.random(4032) < 0.25
    query[1024:2048] = 0
    data[:, 1024:2048] = np.nan
    if order == "F":
        data[:, query == 0] = np.nan
    found = sureshot.top_k(np.asarray(data, order=order), query, 5, bounds=(-30, 30), rng=2)
    exact = np.nan_to_num(data, nan=0.0).astype(np.float64) @ query
    assert set(found.indices) == set(np.argsort(-exact)[:5])
    assert found.work.share < 0.7


def test_data_without_a_gap_is_read_little_more_than_once() -> None:
    rng = np.random.default_rng(2)
    data = rng.standard_normal((300, 4096)).astype(np.float32)
    every: tuple[Any, ...] = ((-10, 10), "unit", None)
    for bounds in every:
        scaled = data / np.float32(1.001) / np.linalg.norm(data, axis=1, keepdims=True)
        found = sureshot.top_k(scaled, rng.standard_normal(4096), 5, bounds=bounds, rng=3)
        # Rows are read whole when sampling is given up, which must be soon.
        assert found.work.exact_scores > 250
        assert found.work.share <= 1.25


def test_duplicates_of_the_best_row_and_equal_rows() -> None:
    rng = np.random.default_rng(3)
    data, query = low_rank(rng, 300, 4096)
    best = int(np.argmax(data @ query))
    data[[7, 11, 250]] = data[best]
    twins = sorted({7, 11, 250, best})
    found = sureshot.top_k(data, query, 3, bounds="scan", rng=0)
    assert found.indices.tolist() == twins[:3]
    assert len(set(found.scores.tolist())) == 1
    equal = np.repeat(data[:1], 200, axis=0)
    found = sureshot.top_k(equal, query, 4, bounds=(-30, 30), rng=0)
    assert found.indices.tolist() == [0, 1, 2, 3]
    assert found.work.share <= 1.25


def test_a_constant_row_is_no_trouble() -> None:
    rng = np.random.default_rng(4)
    data, query = low_rank(rng, 100, 4096)
    data[5] = 0
    data[6] = 2.5
    every: tuple[Any, ...] = ((-30.0, 30.0), "scan", None)
    for bounds in every:
        for metric in ("ip", "abs-ip", "l1"):
            found = sureshot.top_k(data, query, 3, metric=metric, bounds=bounds, rng=1)
            truth = sureshot.top_k(data, query, 3, metric=metric, method="exact")
            assert found.indices.tolist() == truth.indices.tolist()


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean", "l1", "cosine"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("block", [None, 1, 16, 100])
def test_every_metric_finds_the_exact_answer_reading_a_part(
    metric: str, order: Literal["C", "F"], block: int | None
) -> None:
    data, query = near_the_query(np.random.default_rng(5), 300, 8192)
    data = np.asarray(data, order=order)
    truth = sureshot.top_k(data, query, 4, metric=metric, method="exact")
    bounds = sureshot.scan(data)
    found = sureshot.top_k(
        data, query, 4, metric=metric, bounds=bounds, block=block, rng=6, delta=1e-6
    )
    assert found.indices.tolist() == truth.indices.tolist()
    np.testing.assert_allclose(found.scores, truth.scores, rtol=1e-12)
    # Of a block of 100 four are read before the first bet, and a third of the row soon after.
    assert found.work.share < (0.5 if block == 100 else 0.2)


def gaps(rng: np.random.Generator, n: int, n_rewards: int) -> Floats:
    """Two-valued lists whose best means lie close together."""
    means = np.append(rng.uniform(0.2, 0.5, n - 3), [0.53, 0.56, 0.6])
    table = np.zeros((n, n_rewards))
    for row, mean in zip(table, rng.permutation(means), strict=True):
        row[rng.permutation(n_rewards)[: round(mean * n_rewards)]] = 1
    return table


@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.3), (0.03, 0.3)])
def test_how_often_a_whole_search_is_wrong(epsilon: float, delta: float) -> None:
    trials, wrong = 300, 0
    for seed in range(trials):
        table = gaps(np.random.default_rng([7, seed]), 12, 400)
        found = sureshot.best_arms(
            Table(table).pull, 12, 400, 2, epsilon=epsilon, delta=delta, rng=seed
        )
        wrong += found.scores[-1] < np.sort(table.mean(axis=1))[-2] - epsilon - 1e-12
    assert_at_most(wrong, trials, delta)


@pytest.mark.parametrize("budget", [0.05, 0.3])
def test_the_epsilon_reached_within_a_budget(budget: float) -> None:
    trials, delta, wrong, reached = 1000, 0.2, 0, []
    for seed in range(trials):
        table = gaps(np.random.default_rng([8, seed]), 12, 200)
        found = sureshot.best_arms(
            Table(table).pull, 12, 200, 2, epsilon=0.0, delta=delta, budget=budget, rng=seed
        )
        loss = np.sort(table.mean(axis=1))[-2] - found.scores[-1]
        wrong += loss > found.certificate.epsilon + 1e-12
        reached.append(found.certificate.epsilon)
        evaluated = found.work.exact_scores * 200
        assert found.work.numbers_read <= budget * 12 * 200 + evaluated
    assert_at_most(wrong, trials, delta)
    # A bound that is always the trivial one would be valid, too.
    assert np.median(reached) < (0.6 if budget < 0.2 else 0.4)


def test_more_budget_reaches_a_smaller_epsilon() -> None:
    data, query = low_rank(np.random.default_rng(9), 400, 16384)
    bounds = sureshot.scan(data)
    reached = [
        sureshot.top_k(data, query, 5, bounds=bounds, budget=budget, rng=0).certificate.epsilon
        for budget in (0.004, 0.01, 0.03)
    ]
    assert reached[0] > reached[1] > reached[2]
    assert reached[1] < 0.5 * float((data @ query).max())


def test_a_time_limit_stops_the_search_and_the_answer_has_a_bound() -> None:
    rng = np.random.default_rng(10)
    data = rng.standard_normal((2000, 8192)).astype(np.float32)
    query = rng.standard_normal(8192)
    found = sureshot.top_k(data, query, 5, bounds=(-10, 10), budget_seconds=1e-6, rng=0)
    assert found.work.exact_scores == 5
    assert found.certificate.epsilon > 0
    truth = np.sort(data.astype(np.float64) @ query)[-5]
    assert found.scores[-1] >= truth - found.certificate.epsilon


def test_the_shares_of_the_ladder_add_up_to_one() -> None:
    assert math.isclose(math.fsum(ladder.share_of_delta(rung) for rung in range(60)), 1.0)


def test_without_bounds_the_certificate_names_the_limit() -> None:
    data, query = low_rank(np.random.default_rng(11), 300, 8192)
    found = sureshot.top_k(data, query, 5, rng=0)
    limit = named_limit(found)
    # A later, larger value makes the limit climb, and dropped arms are tried again.
    spiked = data.copy()
    spiked[:, 4096:4496] = np.sign(query[4096:4496]) * 1.2 * limit
    again = sureshot.top_k(spiked, query, 5, rng=0)
    truth = sureshot.top_k(spiked, query, 5, method="exact")
    assert again.indices.tolist() == truth.indices.tolist()
    assert named_limit(again) > limit


def named_limit(result: sureshot.TopK) -> float:
    limit = result.certificate.limit
    assert limit is not None
    assert f"exceeds {limit:.6g} (an estimate" in result.certificate.assumption
    return limit


def test_no_arm_skips_a_drawn_block() -> None:
    """Without bounds, arms dropped while catching up may come back: they must not jump ahead."""
    came_back = 0
    for seed in range(40):
        rng = np.random.default_rng([12, seed])
        data = rng.standard_normal((60, 2048)) * rng.lognormal(0, 1, (60, 1))
        data[rng.integers(0, 60, 200), rng.integers(0, 2048, 200)] *= 30
        query = rng.standard_normal(2048)
        intervals = to_be_estimated(QuerySums(query, Blocks(2048)), 60)
        source = DenseSource(np.asfortranarray(data), query, "ip", Blocks(2048), Team(1))
        problem = Problem(source, np.arange(60), np.ones(60), 3, 0.0, 0.3, given(intervals))
        race = Race(problem, rng, Tally(), policy.DEFAULT)
        while not race.over():
            race.read_on()
            race.suspend_and_drop()
            race.evaluate_candidates()
            race.evaluate(race.arms_to_finish())
            steps, blocks = race.ledger.steps, race.order.blocks
            assert (steps[race.ledger.arms_with(ACTIVE)] == race.front).all()
            for arm in range(60):
                drawn = blocks[: steps[arm]]
                read = race.ledger.high[arm] + race.ledger.low[arm]
                assert math.isclose(read, math.fsum(data[arm, drawn] * query[drawn]), rel_tol=1e-14)
        came_back += race.ladder.rung
    assert came_back > 10


def test_a_budget_is_kept_on_data_without_a_gap() -> None:
    rng = np.random.default_rng(13)
    data = rng.uniform(-1, 1, (400, 4000))
    for width in (4000, 500):
        found = sureshot.top_k(
            data[:, :width], rng.standard_normal(width), 3, bounds=(-1, 1), budget=0.1, rng=0
        )
        assert found.work.numbers_read <= 0.1 * 400 * width + 3 * width


@pytest.mark.parametrize("missing", [0, 1])
def test_whole_rows_count_against_the_budget(missing: int) -> None:
    """An evaluation reads what was sampled once more, and that must be affordable, too."""
    data, query = low_rank(np.random.default_rng(17), 100, 4096)
    blocks = Blocks(4096, 16)
    source = DenseSource(data, query, "ip", blocks, Team(1))
    sampled = 100 * 4 * 16  # by the first round
    problem = Problem(
        source,
        np.arange(100),
        np.ones(100),
        3,
        0.0,
        0.1,
        given(to_be_estimated(QuerySums(query, blocks), 100)),
        budget=sampled + 3 * 4096 - missing,
    )
    impatient = policy.Policy(patience=0.0)  # evaluates as soon as it can
    race = Race(problem, np.random.default_rng(0), Tally(), impatient)
    race.read_on()
    assert race.tally.numbers_read == sampled
    race.suspend_and_drop()
    race.evaluate_candidates()
    assert race.tally.exact_scores == (3 if missing == 0 else 0)


def test_stakes_wait_for_the_limit_also_under_a_budget() -> None:
    rng = np.random.default_rng(14)
    data, query = low_rank(rng, 100, 4096)
    blocks = Blocks(4096, 16)
    intervals = to_be_estimated(QuerySums(query, blocks), 100)
    source = DenseSource(data, query, "ip", blocks, Team(1))
    problem = Problem(
        source, np.arange(100), np.ones(100), 3, 0.0, 0.1, given(intervals), budget=50_000
    )
    race = Race(problem, rng, Tally(), policy.DEFAULT)
    winners = []
    for _ in range(3):
        race.read_on()
        race.suspend_and_drop()
        # At a score that no arm seems to have, any stake at all wins something.
        theta = float(race.ledger.estimates.max() + race.ledger.errors.max())
        status = race.ledger.status.copy()
        winners.append(race.ledger.judge(Team(1), np.arange(100), theta, 1e-3, DROPPED))
        race.ledger.status[:] = status
    assert winners[0] == 0
    assert winners[1] > 50


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e8])
def test_ties_survive_whatever_the_units(scale: float) -> None:
    """The guard against rounding follows the size of the scores: a tie is never dropped for it."""
    rng = np.random.default_rng(15)
    data = rng.standard_normal((60, 2048)) * scale
    data[40] = data[3]
    query = data[3] + 0.5 * scale * rng.standard_normal(2048)
    for seed in range(20):
        for metric in ("sqeuclidean", "ip"):
            found = sureshot.top_k(data, query, 1, metric=metric, rng=seed)
            assert found.indices.tolist() == [3]


def test_a_search_without_a_budget_delivers_what_was_asked() -> None:
    """When all blocks are drawn and arms are still active, the suspended ones must have their turn."""
    drawn_to_the_end = 0
    for seed in range(30):
        rng = np.random.default_rng([16, seed])
        data = rng.standard_normal((200, 1100)) * rng.lognormal(0, 1, (200, 1))
        data[1::2] = data[::2] + 0.02 * rng.standard_normal((100, 1100))
        query = rng.standard_normal(1100)
        # Pulls of a function, which are never given up: reading on costs no more than finishing.
        table = Table(data * query)
        found = sureshot.best_arms(
            table.pull,
            200,
            1100,
            3,
            epsilon=0.0,
            delta=0.3,
            bounds=(float(table.rewards.min()), float(table.rewards.max())),
            rng=seed,
        )
        truth = table.rewards.mean(axis=1)
        assert set(found.indices) == set(np.argsort(-truth)[:3])
        assert found.certificate.epsilon == 0
        drawn_to_the_end += found.rounds[-1].pulls == 1100
    assert drawn_to_the_end > 5
