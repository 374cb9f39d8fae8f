"""Several queries in one call: the same answers as one by one."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pytest

import sureshot
from sureshot.queries import _divide
from sureshot.result import share_time
from sureshot.search import product
from sureshot.search.exact import AT_ONCE
from sureshot.search.problem import Tally, timed
from sureshot.search.race import betting, finishing
from sureshot.search.race.race import Race
from sureshot.sources import costs
from tests.conftest import CERTAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot import RoundInfo, TopK
    from sureshot._types import Array
    from tests.racing import Course

BOUNDS: tuple[Any, ...] = ("scan", None)


def with_and_without_a_gap(rng: np.random.Generator) -> tuple[Array, Array]:
    """Return rows with a few patterns, and queries of which some find them and some find nothing."""
    patterns = rng.standard_normal((6, 4096))
    data = rng.standard_normal((400, 6)) @ patterns + 0.3 * rng.standard_normal((400, 4096))
    queries = rng.standard_normal((7, 6)) @ patterns
    # Orthogonal to all patterns, so that only noise is left.
    basis = np.linalg.qr(patterns.T)[0]
    noise = rng.standard_normal((4, 4096))
    queries[[1, 2, 5, 6]] = noise - noise @ basis @ basis.T
    return data.astype(np.float32), queries


def nothing_is_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let races be cheaper than a pass over everything that all queries share."""
    monkeypatch.setattr(product, "cost_together", lambda *_: np.inf)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("method", ["betting", "exact"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_batch_answers_as_its_queries_do_alone(
    order: Literal["C", "F"], method: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Of so few queries none is left to a matrix product, but where that is the method.
    if method == "exact":
        monkeypatch.setattr(costs, "PRODUCT_QUERY", 0.0)
    else:
        nothing_is_read_together(monkeypatch)
    data, queries = with_and_without_a_gap(np.random.default_rng(0))
    data = np.asarray(data, order=order)
    bounds = sureshot.scan(data)
    together = sureshot.top_k(
        data, queries, 5, bounds=bounds, method=method, rng=1, threads=threads
    )
    for query, found in zip(queries, together.queries, strict=True):
        alone = sureshot.top_k(data, query, 5, bounds=bounds, method=method, rng=1, threads=threads)
        np.testing.assert_array_equal(found.indices, alone.indices)
        np.testing.assert_array_equal(found.scores, alone.scores)
        if method == "exact":  # by a matrix product, which a query alone is not worth
            assert found.certificate.exact
            assert alone.certificate.exact
            continue
        assert found.certificate == alone.certificate
        if order == "F" and alone.work.choice.endswith("a race would cost more"):
            continue  # what several races left is read in one pass, and what one has left is screened
        assert found.work.numbers_read == alone.work.numbers_read
        assert found.work.exact_scores == alone.work.exact_scores
        assert [info.active for info in found.rounds] == [info.active for info in alone.rounds]
    read_whole = sum(one.work.exact_scores > 300 for one in together.queries)
    assert method == "exact" or 2 <= read_whole < 7


@pytest.mark.parametrize("n_arms", [50, 3000])  # evaluated in double, and multiplied
def test_results_keep_neither_the_data_nor_the_threads(n_arms: int) -> None:
    data = np.random.default_rng(1).standard_normal((n_arms, 400))
    freed = weakref.ref(data)
    found = sureshot.top_k(data, data[:40], 3, method="exact")
    del data
    gc.collect()
    assert freed() is None
    assert len(found.queries) == len(found.rounds) == 40
    np.testing.assert_array_equal(found.queries[7].indices, found.indices[7])


def test_more_queries_than_are_searched_at_once(
    races: list[Course], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_is_read_together(monkeypatch)
    rng = np.random.default_rng(2)
    data = rng.standard_normal((50, 300))
    queries = rng.standard_normal((2 * AT_ONCE + 3, 300))
    before = len(races)
    found = sureshot.top_k(data, queries, 3, bounds=sureshot.scan(data), delta=CERTAIN, rng=0)
    assert len(races) == before + len(queries)
    expected = np.argsort(-(queries @ data.T), axis=1)[:, :3]
    np.testing.assert_array_equal(found.indices, expected)


def test_a_race_that_is_over_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    alive: weakref.WeakSet[Race] = weakref.WeakSet()
    side_by_side = []

    class Counted(Race):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            alive.add(self)
            side_by_side.append(len(alive))

    monkeypatch.setattr(betting, "Race", Counted)
    nothing_is_read_together(monkeypatch)
    data, queries = with_and_without_a_gap(np.random.default_rng(12))
    queries = np.tile(queries[[0, 3, 4]], (4, 1))
    sureshot.top_k(data, queries, 5, bounds=sureshot.scan(data), rng=1, threads=1)
    assert side_by_side == [1] * len(queries)


def without_a_gap(order: Literal["C", "F"]) -> tuple[Array, Array]:
    """Return rows and queries that have nothing in common."""
    rng = np.random.default_rng(8)
    data = np.asarray(rng.standard_normal((4000, 2048), dtype=np.float32), order=order)
    return data, rng.standard_normal((24, 2048))


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_batch_that_gains_nothing_by_sampling_is_multiplied(threads: int) -> None:
    data, queries = without_a_gap("C")
    found = sureshot.top_k(data, queries, 5, bounds=sureshot.scan(data), rng=1, threads=threads)
    exactly = sureshot.top_k(data, queries, 5, method="exact")
    np.testing.assert_array_equal(found.indices, exactly.indices)
    np.testing.assert_array_equal(found.scores, exactly.scores)
    more = [
        one.work.numbers_read - expected.work.numbers_read
        for one, expected in zip(found.queries, exactly.queries, strict=True)
    ]
    assert 0 < more[0] < data.size / 20  # A few arms have told.
    assert not any(more[1:])
    for one in found.queries:
        assert one.certificate.exact
        assert one.work.exact_scores < 50


@pytest.mark.parametrize("order", ["C", "F"])
def test_races_that_gain_nothing_are_the_last(
    order: Literal["C", "F"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "one_pass_seems_to_cost_less", lambda *_: False)
    data, queries = without_a_gap(order)
    found = sureshot.top_k(data, queries, 5, bounds=sureshot.scan(data), rng=1)
    exactly = sureshot.top_k(data, queries, 5, method="exact")
    np.testing.assert_array_equal(found.indices, exactly.indices)
    np.testing.assert_array_equal(found.scores, exactly.scores)
    more = [
        one.work.numbers_read - expected.work.numbers_read
        for one, expected in zip(found.queries, exactly.queries, strict=True)
    ]
    assert all(more[:2])  # raced before
    assert not any(more[2:])


@pytest.mark.usefixtures("costs_decide")
def test_a_batch_whose_first_rounds_cost_more_than_a_product_is_not_raced(
    races: list[Course],
) -> None:
    rng = np.random.default_rng(11)
    patterns = rng.standard_normal((3, 20_000), dtype=np.float32)
    data = rng.standard_normal((3000, 3), dtype=np.float32) @ patterns
    queries = rng.standard_normal((20, 3)) @ patterns
    bounds, before = sureshot.scan(data), len(races)
    sureshot.top_k(data, queries[0], 5, bounds=bounds, rng=1)
    alone = len(races)
    assert alone > before
    found = sureshot.top_k(data, queries, 5, bounds=bounds, rng=1)
    assert len(races) == alone
    assert all(one.certificate.exact for one in found.queries)


@pytest.mark.usefixtures("costs_decide")
def test_a_batch_that_gains_by_sampling_is_raced() -> None:
    # Shorter rows are multiplied as quickly as they are raced.
    rng = np.random.default_rng(9)
    patterns = rng.integers(-5, 6, (3, 200_000), dtype=np.int8)
    data = rng.integers(-8, 9, (1000, 3), dtype=np.int8) @ patterns
    queries = rng.standard_normal((20, 3)) @ patterns
    found = sureshot.top_k(data, queries, 5, bounds=sureshot.scan(data), rng=1)
    for one in found.queries:
        assert one.work.share < 0.5
        assert not one.certificate.exact


@pytest.mark.usefixtures("costs_decide")
def test_a_batch_in_which_most_rows_are_never_read_is_raced() -> None:
    # A little of all of them would cost more than a product. They share their memory: so many would take too much.
    rng = np.random.default_rng(12)
    n_arms, width, apart = 8000, 30_000, 64
    times = np.arange(width + apart * n_arms)
    waves = np.exp(1j * np.outer(rng.uniform(0.1, 3, 2), times))
    loudness = np.repeat(rng.lognormal(0, 1.5, 40), len(times) // 40 + 1)[: len(times)]
    values = (loudness * waves.real.sum(axis=0)).astype(np.float32)
    data = np.lib.stride_tricks.sliding_window_view(values, width)[: apart * n_arms : apart]
    queries = (rng.standard_normal((16, 2)) @ waves[:, :width]).real.astype(np.float32)
    bounds = sureshot.scan(data)
    found = sureshot.top_k(data, queries, 5, bounds=bounds, rng=1)
    exactly = sureshot.top_k(data, queries, 5, method="exact")
    np.testing.assert_array_equal(found.indices, exactly.indices)
    np.testing.assert_array_equal(found.scores, exactly.scores)
    for one in found.queries:
        assert one.work.share < 0.1
        assert not one.certificate.exact


def test_a_budget_is_not_multiplied() -> None:
    rng = np.random.default_rng(10)
    data = rng.standard_normal((2000, 2048), dtype=np.float32)
    queries = rng.standard_normal((20, 2048))
    found = sureshot.top_k(data, queries, 5, bounds="scan", budget=0.2, rng=1)
    assert all(one.certificate.early for one in found.queries)


def test_a_query_of_zeros_among_others() -> None:
    data, queries = with_and_without_a_gap(np.random.default_rng(3))
    queries[3] = 0
    found = sureshot.top_k(data, queries, 2, bounds=(-30, 30), rng=0)
    assert found.indices[3].tolist() == [0, 1]
    assert found.scores[3].tolist() == [0, 0]


def test_progress_is_told_in_the_callers_thread_in_order() -> None:
    data, queries = with_and_without_a_gap(np.random.default_rng(4))
    told: list[tuple[int, int]] = []

    def listen(info: RoundInfo) -> None:
        assert threading.current_thread() is threading.main_thread()
        told.append((info.query, info.round))

    sureshot.top_k(data, queries, 5, bounds="scan", progress=listen, rng=0)
    assert {query for query, _ in told} == set(range(7))
    for query in range(7):
        rounds = [number for which, number in told if which == query]
        assert rounds == list(range(1, len(rounds) + 1))


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("method", ["betting", "exact", "bounded-me"])
@pytest.mark.parametrize("metric", ["ip", "cosine"])
def test_the_seconds_of_the_queries_add_up(threads: int, method: str, metric: str) -> None:
    data, queries = with_and_without_a_gap(np.random.default_rng(6))
    began = time.perf_counter()
    found = sureshot.top_k(
        data,
        np.tile(queries, (3, 1)),
        3,
        metric=metric,
        bounds="scan",
        method=method,
        epsilon=0.01 if metric == "cosine" else 1e3,
        threads=threads,
        rng=0,
    )
    passed = time.perf_counter() - began
    seconds = [one.work.seconds for one in found.queries]
    assert all(one > 0 for one in seconds)
    assert sum(seconds) == pytest.approx(found.work.seconds)
    assert found.work.seconds <= passed


def test_time_is_divided_among_those_it_is_spent_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 16.0])
    monkeypatch.setattr(time, "perf_counter", lambda: next(clock))
    first, second = Tally(0, seconds=1.0), Tally(1, seconds=3.0)
    with timed(first, second):
        pass
    assert (first.seconds, second.seconds) == (4.0, 6.0)
    _divide(5.0, [first, second])
    assert (first.seconds, second.seconds) == (2.0, 3.0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bounds", BOUNDS)
def test_no_time_is_counted_twice(
    threads: int, bounds: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, queries = with_and_without_a_gap(np.random.default_rng(7))
    accounted = []

    def listen(results: Sequence[TopK], seconds: float) -> list[TopK]:
        accounted.append(sum(one.work.seconds for one in results) / seconds)
        return share_time(results, seconds)

    monkeypatch.setattr("sureshot.queries.share_time", listen)
    sureshot.top_k(data, np.tile(queries, (3, 1)), 3, bounds=bounds, threads=threads, rng=0)
    assert 0 < accounted[0] <= 1


def test_an_error_in_one_query_is_raised() -> None:
    data, queries = with_and_without_a_gap(np.random.default_rng(5))
    with pytest.raises(sureshot.BoundsError, match="outside"):
        sureshot.top_k(data, queries, 5, bounds=(-0.5, 0.5), rng=0)
