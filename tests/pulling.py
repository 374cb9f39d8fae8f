"""Tables of rewards behind every kind of `pull`: called here, by an executor, or as a coroutine."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sureshot import TopK
    from sureshot._types import Floats, Ints

N_ARMS, N_REWARDS = 7, 300
# Close enough for several rounds, far enough apart not to need everything.
MEANS = np.linspace(0.35, 0.9, N_ARMS)
METHODS = {"betting": 0.02, "bounded-me": 0.6, "exact": 0.0}  # with an epsilon at which it samples
SEED = 3


def rewards(seed: int = 0) -> Floats:
    """Return a table of rewards 0 and 1."""
    drawn = np.random.default_rng(seed).random((N_ARMS, N_REWARDS))
    return (drawn < MEANS[:, None]).astype(float)


class Service:
    """A `pull` that writes down how it was called, takes its time, and fails when told to."""

    def __init__(self, table: Floats | None = None, latency: float = 0.0) -> None:
        self.table = rewards() if table is None else table
        self.latency = latency  # the mean, in seconds
        self.calls: list[tuple[Ints, Ints]] = []
        self.returned: Counter[tuple[int, int]] = Counter()
        self.in_flight = self.most_in_flight = 0
        self.fail: Callable[[int, int, int], object] = lambda call, arm, coordinate: None
        self._random = np.random.default_rng(1)
        self._lock = threading.Lock()

    def begin(self, arms: Ints, coordinates: Ints) -> float:
        """Write a call down and return how long it takes."""
        with self._lock:
            self.calls.append((arms, coordinates))
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            number, seconds = len(self.calls), self._random.exponential(self.latency)
        try:
            self.fail(number, int(arms[0]), int(coordinates[0]))
        except BaseException:
            self.end()
            raise
        return seconds

    def end(self) -> None:
        with self._lock:
            self.in_flight -= 1

    def answer(self, arms: Ints, coordinates: Ints) -> Floats:
        """Write down what is paid for, and return it."""
        with self._lock:
            self.returned.update((arm, j) for arm in arms.tolist() for j in coordinates.tolist())
        return np.asarray(self.table[np.ix_(arms, coordinates)])

    def pull(self, arms: Ints, coordinates: Ints) -> Floats:
        seconds = self.begin(arms, coordinates)
        try:
            if seconds:
                time.sleep(seconds)
            return self.answer(arms, coordinates)
        finally:
            self.end()

    async def ask(self, arms: Ints, coordinates: Ints) -> Floats:
        seconds = self.begin(arms, coordinates)
        try:
            await asyncio.sleep(seconds)
            return self.answer(arms, coordinates)
        finally:
            self.end()


class AsyncService(Service):
    """The same as an object that is awaited when called."""

    async def __call__(self, arms: Ints, coordinates: Ints) -> Floats:
        return await self.ask(arms, coordinates)


@contextmanager
def way(name: str, service: Service) -> Iterator[dict[str, Any]]:
    """Give the arguments that have `best_arms` call the service in that way."""
    if name == "threads":
        with ThreadPoolExecutor(5) as executor:
            yield {"pull": service.pull, "executor": executor}
    elif name == "coroutine":
        yield {"pull": service.ask}
    elif name == "plain":
        yield {"pull": service.pull}
    else:
        yield {"pull": service.pull, "pulls_per_call": 1}


WAYS = ("plain", "one by one", "threads", "coroutine")


def search(name: str, service: Service, **more: Any) -> TopK:
    """Search for the best two arms, calling the service in that way."""
    arguments: dict[str, Any] = {"k": 2, "epsilon": METHODS["betting"], "delta": 0.05, "rng": SEED}
    with way(name, service) as how:
        return sureshot.best_arms(n_arms=N_ARMS, n_rewards=N_REWARDS, **(how | arguments | more))


def same(first: TopK, second: TopK) -> bool:
    """Return whether two searches were the same to the last round."""
    return (
        first.scores.tolist() == second.scores.tolist()
        and first.indices.tolist() == second.indices.tolist()
        and first.certificate == second.certificate
        and first.rounds == second.rounds
        and first.work.numbers_read == second.work.numbers_read
    )
