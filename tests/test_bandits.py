"""One contract for every method, through `best_arms` and `top_k`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot.search.bandits import pulls
from sureshot.search.methods import METHODS
from tests.bandits import PROMISING, WAYS, Table, Way, bernoulli, best_arms, loss
from tests.conftest import CERTAIN, oracle

if TYPE_CHECKING:
    from sureshot import TopK
    from sureshot._types import Floats

REWARDS = bernoulli(13, 2003)(np.random.default_rng(3))
REWARDS[5] = np.random.default_rng(4).random(2003) < 0.99
ANY_K = [way for way in WAYS if way.record.any_k]
OWN_ENDS = [way for way in WAYS if way.record.budget == "optional"]
LITERATURE = [way for way in WAYS if way.record.replacement]
WITHOUT = [way for way in WAYS if not way.replacement]


def course(result: TopK) -> dict[str, Any]:
    shown = result.to_dict()
    del shown["work"]["seconds"]
    return shown


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_an_easy_best_arm_is_found_and_reported(way: Way) -> None:
    reported: list[sureshot.RoundInfo] = []
    found = best_arms(REWARDS, way, progress=reported.append)
    assert found.indices.tolist() == [int(np.argmax(REWARDS.mean(axis=1)))]
    assert abs(found.scores[0] - REWARDS[5].mean()) < 0.1
    assert len(found.rounds) == found.work.rounds >= 1
    assert reported == list(found.rounds)
    assert [info.round for info in reported] == list(range(1, len(reported) + 1))
    assert np.all(np.diff([0, *(info.numbers_read for info in reported)]) >= 0)
    certificate = found.certificate
    if way.record.budget == "required":
        assert certificate.delta == 1
        assert certificate.epsilon == pytest.approx(1)
        assert "This is a guess; nothing is promised" in str(certificate)
        assert not certificate.unconditional
    elif not certificate.exact:
        assert (certificate.delta, certificate.epsilon) == (0.1, 0.2)
    if way.record.replacement and not certificate.exact:
        assert f"drawn {'with' if way.replacement else 'without'} replacement" in str(certificate)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_the_seed_decides(way: Way) -> None:
    first = best_arms(REWARDS, way, rng=7)
    assert course(best_arms(REWARDS, way, rng=7)) == course(first)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_work_is_what_was_pulled(way: Way) -> None:
    table = Table(REWARDS)
    found = best_arms(REWARDS, way, pull=table)
    assert found.work.pulls_paid == table.pulled.sum()
    assert found.work.share == found.work.numbers_read / REWARDS.size
    if not way.replacement:
        assert found.work.numbers_read == table.pulled.sum()
        assert table.pulled.max() == 1
    else:
        # A coordinate that is drawn twice at once is asked for once.
        assert found.work.numbers_read > table.pulled.sum()


@pytest.mark.parametrize("way", WITHOUT, ids=str)
@pytest.mark.parametrize("epsilon", [0.0, 0.01])
def test_no_reward_is_pulled_twice_without_replacement(way: Way, epsilon: float) -> None:
    tied = np.repeat(REWARDS[:4], 2, axis=0)
    table = Table(tied)
    found = best_arms(tied, way, pull=table, epsilon=epsilon, delta=CERTAIN)
    assert table.pulled.max() == 1
    if way.record.budget != "required":
        assert loss(tied.mean(axis=1), found.indices) <= epsilon


@pytest.mark.parametrize("way", ANY_K, ids=str)
@pytest.mark.parametrize("k", [2, 5, 13])
def test_several_arms(way: Way, k: int) -> None:
    means = np.linspace(0, 0.9, 13)
    means[-k:] += 0.1
    lists = np.random.default_rng(0).random((13, 400)) < means[:, None]
    found = best_arms(lists.astype(float), way, k, epsilon=0.3)
    assert found.indices.shape == (k,)
    assert len(set(found.indices.tolist())) == k
    assert loss(lists.mean(axis=1), found.indices) <= 0.3
    assert np.all(np.diff(found.scores) <= 0)
    assert np.abs(found.scores - lists.mean(axis=1)[found.indices]).max() < 0.4


@pytest.mark.parametrize("method", [name for name in METHODS if not METHODS[name].any_k])
def test_several_arms_are_refused_where_the_paper_has_one(method: str) -> None:
    others = [name for name in METHODS if METHODS[name].any_k]
    for search in (best_arms, lambda *_, **more: top_k(5, method, "C", k=2, **more)):
        with pytest.raises(ValueError, match=rf"{method}.* best arm only, got k=2") as error:
            search(REWARDS, Way(method, True), 2)
        assert re.findall(r"'([a-z-]+)'", str(error.value)) == [method, *others]


@pytest.mark.parametrize("way", OWN_ENDS, ids=str)
@pytest.mark.parametrize("budget", [0.001, 0.01, 0.1, 0.5])
def test_a_budget_is_kept_and_the_certificate_says_what_it_was_good_for(
    way: Way, budget: float
) -> None:
    table = Table(REWARDS)
    options: dict[str, Any] = {"epsilon": 0.0, "delta": CERTAIN, "budget": budget}
    found = best_arms(REWARDS, way, pull=table, **options)
    # The answer of betting is evaluated on top of its budget.
    on_top = REWARDS.shape[1] if way.method == "betting" else 0
    assert table.pulled.sum() == found.work.pulls_paid <= found.work.numbers_read
    assert found.work.numbers_read <= budget * REWARDS.size + on_top
    assert 0 <= loss(REWARDS.mean(axis=1), found.indices) <= found.certificate.epsilon <= 1.01


@pytest.mark.parametrize("way", OWN_ENDS, ids=str)
def test_a_larger_budget_promises_more(way: Way) -> None:
    reached = [
        best_arms(REWARDS, way, epsilon=0.0, delta=0.3, budget=budget).certificate.epsilon
        for budget in (0.002, 0.05, 0.8)
    ]
    assert reached[0] >= reached[1] >= reached[2]
    assert reached[0] > reached[2]


@pytest.mark.parametrize("way", OWN_ENDS, ids=str)
def test_the_clock_ends_a_search_soon_after_its_first_pulls(way: Way) -> None:
    found = best_arms(REWARDS, way, epsilon=0.0, delta=CERTAIN, budget_seconds=1e-9)
    assert loss(REWARDS.mean(axis=1), found.indices) <= found.certificate.epsilon <= 1.01


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].budget == "required"])
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("budget", [0.01, 0.3, 1.0])
def test_a_fixed_budget_is_spent(method: str, replacement: bool, budget: float) -> None:
    found = best_arms(REWARDS, Way(method, replacement), budget=budget)
    assert found.work.share <= budget
    if replacement or budget < 0.1:
        assert found.work.share > 0.7 * budget


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].budget == "required"])
def test_a_fixed_budget_must_be_given_and_suffice(method: str) -> None:
    way = Way(method, True)
    with pytest.raises(ValueError, match=r"fixed budget: expected budget=.*got None"):
        best_arms(REWARDS, way, budget=None)
    with pytest.raises(ValueError, match=r"expected budget, got budget_seconds=1"):
        best_arms(REWARDS, way, budget_seconds=1)
    with pytest.raises(ValueError, match=r"at least \d+ pulls for 13 arms, got budget=0\.0005"):
        best_arms(REWARDS, way, budget=0.0005)


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].budget == "none"])
def test_a_budget_is_refused_where_nothing_could_be_said_of_it(method: str) -> None:
    with pytest.raises(ValueError, match="a budget works with 'betting', "):
        best_arms(REWARDS, Way(method, False), budget=0.5)


@pytest.mark.parametrize("method", [name for name in METHODS if not METHODS[name].replacement])
def test_replacement_is_refused_where_there_is_none(method: str) -> None:
    with pytest.raises(ValueError, match=r"never reads a number twice: replacement=True"):
        best_arms(REWARDS, Way(method, True))
    with pytest.raises(TypeError, match=r"replacement must be None, True or False, got 1"):
        best_arms(REWARDS, Way(method, False), replacement=1)


@pytest.mark.parametrize("method", METHODS)
def test_the_default_is_as_published(method: str) -> None:
    as_published = Way(method, METHODS[method].replacement)
    default = best_arms(REWARDS, as_published, replacement=None)
    assert course(default) == course(best_arms(REWARDS, as_published))


@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("value", [np.nan, np.inf, -0.001, 1.001])
def test_rewards_outside_their_bounds_are_refused(way: Way, value: float) -> None:
    broken = REWARDS.copy()
    broken[:, ::3] = value
    with pytest.raises(sureshot.BoundsError, match=r"outside bounds=\(0, 1\)"):
        best_arms(broken, way)


@pytest.mark.parametrize("way", WAYS, ids=str)
def test_one_arm_and_where(way: Way) -> None:
    alone = best_arms(REWARDS, way, where=[4])
    assert alone.indices.tolist() == [4]
    assert abs(alone.scores[0] - REWARDS[4].mean()) < 0.15
    assert best_arms(REWARDS, way, where=[2, 5, 11]).indices.tolist() == [5]


@pytest.mark.parametrize("way", PROMISING, ids=str)
@pytest.mark.parametrize("delta", [5e-324, 1e-200, 1 - 2**-53])
def test_every_legal_delta(way: Way, delta: float) -> None:
    found = best_arms(REWARDS[:4, :60], way, delta=delta, epsilon=0.4)
    assert found.certificate.delta in (0, delta)
    if delta < 0.1:
        assert loss(REWARDS[:4, :60].mean(axis=1), found.indices) <= 0.4


@pytest.mark.parametrize("way", LITERATURE, ids=str)
def test_equal_arms_end_the_search(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulls, "MOST_PASSES", 3)
    equal = np.repeat(REWARDS[5:6, :97], 6, axis=0)
    found = best_arms(equal, way, epsilon=0.0, delta=0.01)
    assert np.abs(found.scores[0] - equal[0].mean()) < 0.1
    if way.record.budget != "required":
        assert found.indices.tolist() == [0]
        assert found.certificate.exact
        assert found.work.share <= (6 if way.replacement else 1)


# Through arrays.

SIZES = ((1, 1), (7, 97), (41, 1535))


def array(n_arms: int, size: int, order: Literal["C", "F"]) -> tuple[Floats, Floats]:
    rng = np.random.default_rng([n_arms, size])
    data = rng.uniform(-1, 1, (n_arms, size)).astype(np.float32)
    query = rng.choice([-2.0, 0.0, 0.5, 1.0], size)
    query[0] = 1.0
    data[n_arms // 2] = np.sign(query) * np.abs(data[n_arms // 2])
    return np.array(data, order=order), query


def top_k(size: int, method: str, order: Literal["C", "F"], k: int = 1, **more: Any) -> TopK:
    data, query = array(SIZES[-1][0], SIZES[-1][1] if size == 5 else size, order)
    arguments: dict[str, Any] = {"bounds": (-1, 1), "rng": 0, "delta": 0.1, "epsilon": 500.0}
    arguments |= {"method": method} | more
    return sureshot.top_k(data, query, k, **arguments)


@pytest.mark.parametrize("way", LITERATURE, ids=str)
@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean", "l1"])
@pytest.mark.parametrize(("n_arms", "size"), SIZES)
def test_arrays(way: Way, metric: str, n_arms: int, size: int) -> None:
    k = 1 if not way.record.any_k or n_arms == 1 else 3
    epsilon = 0.5 * size if metric != "cosine" else 1.0
    budget = {"budget": 1.0} if way.record.budget == "required" else {}
    results = []
    for order in ("C", "F"):
        data, query = array(n_arms, size, order)
        results.append(
            sureshot.top_k(
                data,
                query,
                k,
                metric=metric,
                epsilon=epsilon,
                delta=CERTAIN,
                bounds=(-1, 1),
                rng=1,
                **(way.options | budget),
            )
        )
    assert course(results[0]) == course(results[1])
    found = results[0]
    truth, allowance = oracle(data, query, metric)
    assert (np.abs(found.scores - truth[found.indices]) <= allowance[found.indices]).all()
    assert found.certificate.scores == "exact"
    if way.record.budget != "required":
        better = truth if metric not in ("sqeuclidean", "l1") else -truth
        assert loss(better, found.indices) <= found.certificate.epsilon <= epsilon
    if not way.replacement:
        assert found.work.numbers_read <= data.size + k * size


@pytest.mark.parametrize("way", LITERATURE, ids=str)
def test_threads_and_batches_change_nothing(way: Way) -> None:
    data, query = array(41, 1535, "C")
    queries = np.stack([query, -query])
    options: dict[str, Any] = {"bounds": (-1, 1), "epsilon": 800.0, "rng": 2} | way.options
    together = sureshot.top_k(data, queries, 1, threads=2, **options)
    for position, own in enumerate(queries):
        alone = sureshot.top_k(data, own, 1, threads=1, **options)
        shown = course(together.queries[position])
        for info in shown["rounds"]:
            info["query"] = 0
        assert shown == course(alone)


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].replacement])
def test_arrays_are_refused_without_limits(method: str) -> None:
    budget: dict[str, Any] = {"budget": 0.5} if METHODS[method].budget == "required" else {}
    for bounds in (None, "unit"):
        with pytest.raises(ValueError, match=rf"{method}.* needs bounds=\(low, high\)"):
            top_k(5, method, "C", bounds=bounds, **budget)
    with pytest.raises(ValueError, match=rf"{method}.* single coordinates, got block=4"):
        top_k(5, method, "C", block=4, **budget)
    assert len(top_k(5, method, "C", bounds="scan", **budget).indices) == 1


@pytest.mark.parametrize("way", LITERATURE, ids=str)
@pytest.mark.parametrize("metric", ["ip", "l1"])
@pytest.mark.parametrize("value", [np.nan, np.inf, 4.0])
def test_values_outside_their_bounds_are_refused(way: Way, metric: str, value: float) -> None:
    data, _ = array(7, 1535, "F")
    data[:, ::2] = value
    options: dict[str, Any] = {"bounds": (-1, 1), "epsilon": 800.0, "rng": 2} | way.options
    with pytest.raises(sureshot.BoundsError, match=r"data row \d+ has"):
        sureshot.top_k(data, np.ones(1535), 1, metric=metric, **options)
