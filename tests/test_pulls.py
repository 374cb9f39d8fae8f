"""Pulls that are called one by one, in parallel or as coroutines: the same search in every way."""

from __future__ import annotations

import asyncio
import functools
import multiprocessing
import os
import pickle
import signal
import threading
import time
from concurrent.futures import CancelledError, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.sources.loop import Loop
from sureshot.sources.rewards import Rewards
from tests import pulling
from tests.guarantee import assert_at_most
from tests.pulling import METHODS, N_ARMS, N_REWARDS, WAYS, AsyncService, Service, same, search

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array, Floats, Ints

every_way = pytest.mark.parametrize("way", WAYS)
every_parallel_way = pytest.mark.parametrize("way", ["threads", "coroutine"])
every_method = pytest.mark.parametrize("method", METHODS)


@every_way
@every_method
def test_every_way_is_the_same_search_and_pulls_nothing_twice(way: str, method: str) -> None:
    service = Service()
    found = search(way, service, method=method, epsilon=METHODS[method])
    assert same(found, search("plain", Service(), method=method, epsilon=METHODS[method]))
    assert set(service.returned.values()) == {1}
    assert found.work.pulls_paid == found.work.numbers_read == len(service.returned)
    if method != "exact":
        assert found.work.numbers_read < N_ARMS * N_REWARDS


@every_parallel_way
@pytest.mark.parametrize("seed", range(4))
def test_rewards_may_arrive_in_any_order(way: str, seed: int) -> None:
    service = Service(latency=0.0005)
    found = search(way, service, rng=seed, concurrency=12)
    began = [(int(arms[0]), int(js[0])) for arms, js in service.calls]
    assert list(service.returned) != began  # a Counter keeps the order of the first returns
    assert same(found, search("plain", Service(), rng=seed))


class AsTheyCome:
    """The mistake: of the calls in flight for an arm, the first to return is bet on first.

    Here a reward of 0 returns at once and a 1 takes its time, as an answer that breaks off does.
    """

    def __init__(self, table: Floats, in_flight: int, seed: int) -> None:
        order = np.random.default_rng(seed).permutation(table.shape[1])
        self.left = [list(row[order]) for row in table]
        self.in_flight = in_flight

    def table(self, arms: Ints, coordinates: Ints) -> Floats:
        return np.array([[self.next(self.left[arm]) for _ in coordinates] for arm in arms])

    def next(self, left: list[float]) -> float:
        flying = left[: self.in_flight]
        return left.pop(flying.index(min(flying)))


def failures(trials: int, in_flight: int) -> int:
    """Count the wrong answers of an exact search for the best of 20 arms at delta = 0.05."""
    wrong = 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        ones = rng.permutation([150] + 19 * [138])[:, None]
        table = rng.permuted((np.arange(300) < ones).astype(float), axis=1)
        with pytest.MonkeyPatch.context() as patch:
            if in_flight > 1:
                arriving = AsTheyCome(table, in_flight, seed)
                patch.setattr(Rewards, "table", lambda _, arms, js, a=arriving: a.table(arms, js))
            found = sureshot.best_arms(
                functools.partial(_lookup, table), 20, 300, epsilon=0.0, delta=0.05, rng=seed
            )
        wrong += ones[found.indices[0], 0] != 150
    return wrong


def test_bets_in_drawn_order_keep_the_promise() -> None:
    assert_at_most(failures(100, in_flight=1), 100, 0.05)


def test_planted_bets_in_the_order_of_arrival_are_caught() -> None:
    with pytest.raises(AssertionError, match=r"promised 0\.05"):
        assert_at_most(failures(100, in_flight=32), 100, 0.05)


def test_a_process_pool() -> None:
    lookup = functools.partial(_lookup, pulling.rewards())
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        found = search("plain", Service(), pull=lookup, executor=executor, pulls_per_call=50)
    assert same(found, search("plain", Service()))


def _lookup(table: Array, arms: Ints, coordinates: Ints) -> Array:
    return np.asarray(table[np.ix_(arms, coordinates)])


@every_way
@pytest.mark.parametrize("most", [None, 1, 7, 1000])
def test_the_shapes_of_a_call(way: str, most: int | None) -> None:
    service = Service()
    more = {} if most is None and way != "one by one" else {"pulls_per_call": most or 1}
    found = search(way, service, **more)
    for arms, coordinates in service.calls:
        assert arms.dtype == coordinates.dtype == np.int64
        assert arms.ndim == coordinates.ndim == 1
    sizes = {(len(arms), len(coordinates)) for arms, coordinates in service.calls}
    if way == "plain" and most is None:
        assert (N_ARMS, 8) in sizes  # the first round, in one call
    else:
        assert {arms for arms, _ in sizes} == {1}
        assert max(coordinates for _, coordinates in sizes) <= (most or 1)
    assert same(found, search("plain", Service()))


@pytest.mark.parametrize(
    "kind", ["function", "object", "partial", "method of an object that is awaited"]
)
def test_every_kind_of_coroutine_function(kind: str) -> None:
    service = AsyncService()
    pulls: dict[str, Any] = {
        "function": service.ask,
        "object": service,
        "partial": functools.partial(service.ask),
        "method of an object that is awaited": service.__call__,
    }
    assert same(search("plain", Service()), search("plain", service, pull=pulls[kind]))


@every_parallel_way
@pytest.mark.parametrize("most", [1, 3])
def test_no_more_calls_are_in_flight_than_asked(way: str, most: int) -> None:
    service = Service(latency=0.001)
    search(way, service, concurrency=most, epsilon=0.2)
    assert service.most_in_flight == most


def test_sixteen_calls_are_in_flight_unless_told_otherwise() -> None:
    service = Service(latency=0.001)
    search("coroutine", service)
    assert service.most_in_flight == 16


def test_a_loop_that_runs_already_does_not_mind() -> None:
    async def notebook() -> sureshot.TopK:
        return search("coroutine", Service())

    assert same(asyncio.run(notebook()), search("plain", Service()))
    assert not [thread for thread in threading.enumerate() if "sureshot" in thread.name]


@every_parallel_way
def test_selection_progress_and_budget(way: str) -> None:
    more: dict[str, Any] = {"where": [0, 2, 3, 6], "budget": 0.4, "epsilon": 0.0}
    rounds: list[sureshot.RoundInfo] = []
    service = Service(latency=0.0002)
    found = search(way, service, progress=rounds.append, **more)
    assert same(found, search("plain", Service(), **more))
    assert {arm for arm, _ in service.returned} <= {0, 2, 3, 6}
    assert tuple(rounds) == found.rounds


class Flaky:
    """Fails the first calls for some arm and coordinate."""

    def __init__(self, times: int, arm: int = 3) -> None:
        self.left: dict[tuple[int, int], int] = {}
        self.times, self.arm = times, arm

    def __call__(self, call: int, arm: int, coordinate: int) -> None:
        left = self.left.setdefault((arm, coordinate), self.times if arm == self.arm else 0)
        if left:
            self.left[arm, coordinate] -= 1
            raise TimeoutError(f"no answer from {arm}")


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_pull_that_fails_is_tried_again(way: str) -> None:
    service = Service()
    service.fail = Flaky(2)
    found = search(way, service, retries=2)
    assert same(found, search("plain", Service()))
    assert set(service.returned.values()) == {1}
    of_arm = [key for key in service.returned if key[0] == 3]
    assert len(service.calls) == len(service.returned) + 2 * len(of_arm)


@pytest.mark.parametrize("retries", [0, 1])
@pytest.mark.parametrize("way", WAYS[1:])
def test_a_pull_that_fails_too_often_ends_the_search(way: str, retries: int) -> None:
    service = Service()
    service.fail = Flaky(2)
    with pytest.raises(sureshot.PullError) as raised:
        search(way, service, retries=retries)
    error = raised.value
    assert error.arm == 3
    assert (error.arms, error.coordinates) == ((3,), (error.coordinate,))
    assert isinstance(error.__cause__, TimeoutError)
    times = "" if retries == 0 else " 2 times"
    assert str(error) == (
        f"pull failed{times} for arm 3 at coordinate {error.coordinate}: "
        "TimeoutError: no answer from 3"
    )
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.arm, copy.coordinates) == (str(error), 3, error.coordinates)
    assert not [thread for thread in threading.enumerate() if "sureshot" in thread.name]


def test_a_failed_call_for_many_names_the_first_ones() -> None:
    service = Service()
    service.fail = Flaky(1, arm=0)
    with pytest.raises(sureshot.PullError, match=r"arms 0, 1, 2, … \(7 in all\) at coordinates"):
        search("plain", service)


@every_way
@pytest.mark.parametrize("value", [np.nan, 1.5, -np.inf])
def test_a_reward_outside_is_refused_by_arm_and_coordinate(way: str, value: float) -> None:
    service = Service()
    service.table[4, 11] = value
    with pytest.raises(
        sureshot.BoundsError, match=rf"arm 4 has reward {value:g} at coordinate 11, outside"
    ):
        search(way, service, method="exact")


@every_way
@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda arms, js: 0.5, ValueError, r"pull must return an array of shape \(\d, \d+\)"),
        (lambda arms, js: [["a"] * len(js)] * len(arms), TypeError, "real numbers, got .*<U1"),
    ],
)
def test_what_is_no_table_of_rewards_is_refused(
    way: str, answer: Callable[..., Any], error: type[Exception], message: str
) -> None:
    service = Service()
    service.answer = answer  # type: ignore[method-assign]
    with pytest.raises(error, match=message):
        search(way, service, retries=3)
    assert len(service.calls) <= 16  # not tried again


def test_a_function_that_returns_coroutines_is_told_so() -> None:
    service = Service()

    def pull(arms: Ints, coordinates: Ints) -> Any:
        return service.ask(arms, coordinates)

    with pytest.raises(TypeError, match=r"got an awaitable: .* \(async def\)"):
        search("plain", service, pull=pull)


@every_parallel_way
def test_an_exit_inside_a_call_is_not_tried_again(way: str) -> None:
    service = Service()

    def leave(call: int, arm: int, coordinate: int) -> None:
        if call == 5:
            raise SystemExit(7)

    service.fail = leave
    with pytest.raises(SystemExit, match="7"):
        search(way, service, retries=3, concurrency=1)
    assert len(service.calls) == 5


def test_a_call_that_cancels_itself_has_failed() -> None:
    service = Service()

    def cancelled(call: int, arm: int, coordinate: int) -> None:
        raise asyncio.CancelledError

    service.fail = cancelled
    with pytest.raises(sureshot.PullError, match="CancelledError: the call was cancelled"):
        search("coroutine", service)


def test_a_call_that_is_cancelled_before_its_first_line_ends_too() -> None:
    blocked, go_on = threading.Event(), threading.Event()

    async def block(arms: Ints, coordinates: Ints) -> int:
        blocked.set()
        go_on.wait()
        return 1

    with Loop() as loop:
        first = loop.submit(block, np.arange(1), np.arange(1))
        blocked.wait()  # so that the call below and its end both wait for the loop
        second = loop.submit(Service().ask, np.arange(1), np.arange(1))
        loop.cancel()
        go_on.set()
        assert first.result() == 1
        assert isinstance(second.exception(), CancelledError)


@every_parallel_way
def test_an_interruption_ends_the_calls_in_flight(way: str) -> None:
    service = Service(latency=0.001)
    slow = threading.Event()

    def interrupt(call: int, arm: int, coordinate: int) -> None:
        if call == 40:
            slow.set()
            service.latency = 600 if way == "coroutine" else 0.001
            os.kill(os.getpid(), signal.SIGINT)

    service.fail = interrupt
    with pytest.raises(KeyboardInterrupt):
        search(way, service)
    assert slow.is_set()
    while service.in_flight:  # a thread cannot be stopped, but ends
        time.sleep(0.001)
    assert len(service.calls) < 40 + 16
    assert not [thread for thread in threading.enumerate() if "sureshot" in thread.name]


def test_a_coroutine_may_use_threads_of_its_loop() -> None:
    service = Service()

    async def ask(arms: Ints, coordinates: Ints) -> Array:
        return await asyncio.to_thread(service.pull, arms, coordinates)

    assert same(search("plain", Service()), search("plain", service, pull=ask))


def test_an_executor_that_is_shut_down() -> None:
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(RuntimeError, match="after shutdown"):
        search("plain", Service(), executor=executor)


def test_a_coordinate_that_is_asked_for_twice_is_pulled_once() -> None:
    service = Service()
    for per_call in (None, 2):
        pulls = Rewards(service.pull, 0.0, 1.0, per_call=per_call)
        arms, coordinates = np.array([5, 2]), np.array([9, 4, 9, 9, 30])
        table = pulls.table(arms, coordinates)
        np.testing.assert_array_equal(table, service.table[np.ix_(arms, coordinates)])
        assert pulls.paid == 6
