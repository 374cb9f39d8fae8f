"""Under a budget the arms that seem best are read, and the certificate is about all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot._native import DROPPED
from sureshot.search.race.allowance import Allowance
from sureshot.search.race.shortlist import Shortlist
from sureshot.theory.narrowing import Limit
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    from sureshot._types import Array, Floats

ARMS, WIDTH, K, QUERIES = 2_000, 4_000, 5, 40


@pytest.fixture(scope="module")
def gaussian() -> tuple[Array, Floats]:
    rng = np.random.default_rng(14)
    data = rng.standard_normal((ARMS, WIDTH), dtype=np.float32)
    return data, rng.standard_normal((QUERIES, WIDTH))


@pytest.mark.parametrize(("budget", "least"), [(0.1, 0.18), (0.2, 0.55), (0.4, 0.8)])
def test_a_budget_finds_the_best_arms_of_data_without_a_gap(
    gaussian: tuple[Array, Floats], budget: float, least: float
) -> None:
    """Reading all arms alike finds 0.03, 0.10 and 0.75 of them.

    The data is small, so there are few rounds: simulated are 0.25, 0.58 and 0.88, and five standard errors of
    40 queries are about 0.1.
    """
    data, queries = gaussian
    truth = np.argsort(-(data @ queries.T), axis=0)[:K].T
    hits = 0
    for query, best in zip(queries, truth, strict=True):
        found = sureshot.top_k(data, query, K, bounds=(-7, 7), budget=budget, rng=0)
        hits += len(np.intersect1d(found.indices, best))
        assert found.certificate.early
        assert found.work.numbers_read <= budget * ARMS * WIDTH
    assert hits / (K * QUERIES) >= least


def test_arms_that_are_set_aside_stay_undecided(gaussian: tuple[Array, Floats]) -> None:
    data, queries = gaussian
    found = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), budget=0.2, rng=0)
    active = [info.active for info in found.rounds]
    assert active == sorted(active, reverse=True)
    assert active[-1] < 0.1 * ARMS
    assert all(info.arms > 0.9 * ARMS for info in found.rounds)


def test_what_costs_more_than_the_exact_product_is_not_read(
    gaussian: tuple[Array, Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    data, queries = gaussian
    read = []
    for most in (1e12, 2e5, 0.0):  # nanoseconds
        monkeypatch.setattr(
            Allowance, "in_time", lambda *_, most=most: Limit(most, lambda arms: 2 * arms)
        )
        found = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), budget=0.4, rng=0)
        read.append(found.work.numbers_read)
    assert read[0] > read[1] > read[2]
    assert found.rounds[-1].active > 0.9 * ARMS


def lost_more_than_promised(seed: int, **options: Any) -> bool:
    """Search data whose best arm owes its score to a few coordinates, which are seldom drawn early."""
    rng = np.random.default_rng([15, seed])
    data = rng.uniform(-0.1, 0.1, (60, 1024))
    data[7] = 0.0
    data[7, rng.choice(1024, 20, replace=False)] = 1.0
    found = sureshot.top_k(data, np.ones(1024), 1, bounds=(-1, 1), rng=seed, block=1, **options)
    loss = data.sum(axis=1).max() - found.scores[-1]
    return bool(loss > found.certificate.epsilon + 1e-9)


TRIALS, DELTA = 200, 0.05


@pytest.mark.parametrize("budget", [0.1, 0.3])
def test_the_certificate_counts_the_arms_set_aside(budget: float) -> None:
    wrong = sum(lost_more_than_promised(at, budget=budget, delta=DELTA) for at in range(TRIALS))
    assert_at_most(wrong, TRIALS, DELTA)


def test_planted_arms_that_are_set_aside_are_called_dropped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluate_best = Shortlist.evaluate_best

    def forget_the_others(shortlist: Shortlist) -> None:
        evaluate_best(shortlist)
        race = shortlist.race
        race.ledger.status[race.undecided()] = DROPPED

    monkeypatch.setattr(Shortlist, "evaluate_best", forget_the_others)
    wrong = sum(lost_more_than_promised(at, budget=0.1, delta=DELTA) for at in range(TRIALS))
    with pytest.raises(AssertionError):
        assert_at_most(wrong, TRIALS, DELTA)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bounds", [(-7, 7), None])
def test_what_is_read_does_not_depend_on_the_threads(
    gaussian: tuple[Array, Floats], order: Any, bounds: Any
) -> None:
    data, queries = gaussian
    data = np.asarray(data[:300], order=order)
    alone, together = (
        sureshot.top_k(data, queries[0], K, bounds=bounds, budget=0.2, rng=0, threads=threads)
        for threads in (1, 2)
    )
    assert alone.indices.tolist() == together.indices.tolist()
    assert alone.scores.tolist() == together.scores.tolist()
    assert alone.certificate == together.certificate
    assert alone.rounds == together.rounds


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "sqeuclidean", "l1", "cosine"])
def test_every_metric_has_a_shortlist(gaussian: tuple[Array, Floats], metric: Any) -> None:
    data, queries = gaussian
    data = data[:400]
    norms = sureshot.scan(data) if metric == "cosine" else None
    found = sureshot.top_k(data, queries[0], 3, metric=metric, bounds=norms, budget=0.3, rng=0)
    exact = sureshot.top_k(data, queries[0], 3, metric=metric, method="exact")
    sign = -1 if metric in ("sqeuclidean", "l1") else 1
    loss = sign * (exact.scores[-1] - found.scores[-1])
    assert 0 <= loss <= found.certificate.epsilon
    assert found.rounds[-1].active < 0.2 * len(data)


@pytest.mark.parametrize("seed", range(5))
def test_a_reward_outside_the_limits_is_refused(gaussian: tuple[Array, Floats], seed: int) -> None:
    """The race seldom meets this block; the arms that seem best are read to the end."""
    data, queries = gaussian
    data = data[:300].copy()
    data[:, 1600:1616] = 20 * np.sign(queries[0, 1600:1616])
    with pytest.raises(sureshot.BoundsError, match="coordinates 1600 to 1615"):
        sureshot.top_k(data, queries[0], K, bounds=(-10, 10), budget=0.4, rng=seed)


def test_time_is_spent_on_the_best_arms_too(gaussian: tuple[Array, Floats]) -> None:
    data, queries = gaussian
    found = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), budget_seconds=0.02, rng=0)
    truth = np.sort(data.astype(np.float64) @ queries[0])[-K]
    assert found.scores[-1] >= truth - found.certificate.epsilon


@pytest.mark.parametrize(("budget", "least"), [(0.1, 0.45), (0.2, 0.51), (0.4, 0.75)])
def test_by_column_the_columns_that_count_most_are_read_first(
    gaussian: tuple[Array, Floats], budget: float, least: float
) -> None:
    """A fifth of the columns of a Gaussian query holds two thirds of the variance of all scores.

    The data is small, so there are few rounds: 0.62, 0.68 and 0.88 are found, and five standard errors of 40 queries
    are about 0.17. Columns in random order find 0.26, 0.43 and 0.47.
    """
    data, queries = gaussian
    columns = np.asfortranarray(data)
    hits = 0
    for query in queries:
        best = np.argsort(-(data @ query))[:K]
        found = sureshot.top_k(columns, query, K, bounds=(-7, 7), budget=budget, rng=0)
        hits += len(np.intersect1d(found.indices, best))
        assert found.work.share <= budget
        assert found.rounds[-1].active < 0.1 * ARMS
    assert hits / (K * QUERIES) >= least


def test_weights_that_tell_nothing_of_the_rewards_save_no_time(
    gaussian: tuple[Array, Floats],
) -> None:
    """Where values are small in the columns in which the query is large, all columns count alike.

    Of small data no sample is read to find that out.
    """
    data, queries = gaussian
    for wide, least, most in ((6, 0.0, 0.3), (1, 0.38, 0.4)):
        scale = np.exp(np.random.default_rng(16).standard_normal(wide * WIDTH, dtype=np.float32))
        query = np.sign(np.tile(queries[0], wide)) * scale
        columns = np.asfortranarray(np.tile(data, wide))
        found = sureshot.top_k(columns, query, K, budget=0.4, rng=0)
        assert least < found.work.share <= most
        columns /= scale
        found = sureshot.top_k(columns, query, K, budget=0.4, rng=0)
        assert 0.38 < found.work.share <= 0.4


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_row_longer_than_its_norm_is_refused(gaussian: tuple[Array, Floats], order: Any) -> None:
    """All rows are twice as long as promised: the arms that seem best are read nearly to the end."""
    data, queries = gaussian
    rows = np.asarray(data[:300], order=order)
    norms = sureshot.Bounds(norms=0.5 * np.linalg.norm(data[:300], axis=1))
    with pytest.raises(sureshot.BoundsError, match="norm of at least"):
        sureshot.top_k(rows, queries[0], K, bounds=norms, budget=0.4, rng=0)


def test_a_budget_for_every_number_is_no_limit(gaussian: tuple[Array, Floats]) -> None:
    data, queries = gaussian
    free = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), rng=0)
    found = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), budget=1.0, rng=0)
    assert found.certificate == free.certificate
    assert not found.certificate.early
    assert found.work.choice == free.work.choice
    assert found.rounds == free.rounds


def test_time_enough_for_every_arm_is_no_limit(gaussian: tuple[Array, Floats]) -> None:
    data, queries = gaussian
    free = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), rng=0)
    found = sureshot.top_k(data, queries[0], K, bounds=(-7, 7), budget_seconds=600.0, rng=0)
    assert not found.certificate.early
    assert found.certificate == free.certificate
