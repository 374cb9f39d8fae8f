"""Partitions that the workers of a cluster keep in memory: functions are called there without tasks.

A task of a scheduler costs several milliseconds, a call to a worker one. A call has no state either: one that fails
has changed nothing.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from sureshot.storage.extras import library

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class KeptPartitions:
    """The partitions of a dask array, of which `client` has the futures."""

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:
        self.client = client
        self.futures = tuple(futures)

    @classmethod
    def of(cls, array: Any, client: Any) -> KeptPartitions | None:
        """Return those of an array, or None if workers are not known to keep all of them."""
        if not (hasattr(client, "who_has") and hasattr(client, "run")):
            return None
        futures_of = library("distributed", "dask", "a client").futures_of
        own = {future.key: future for future in futures_of(array) if future.client is client}
        keys = [key for row in array.__dask_keys__() for key in row]
        return cls(client, [own[key] for key in keys]) if own.keys() >= set(keys) else None

    def owners(self) -> dict[Any, str]:
        """Return a worker that has each partition, by the key of its future.

        The scheduler knows who is gone: to call a worker that is may take half a minute.
        """
        found = self.client.who_has(self.futures)
        return {key: workers[0] for key, workers in found.items() if workers}

    def run(
        self, function: Callable[..., Any], calls: Sequence[tuple[int, tuple[Any, ...]]]
    ) -> dict[int, Any]:
        """Call ``function(values, *arguments)`` for each partition and arguments, where the values are.

        Returns what was returned by the place in `calls`. Calls that failed are left out: the worker is gone, or
        has the partition no longer.
        """
        owners = self.owners()
        of_worker: dict[str, list[tuple[int, Any, tuple[Any, ...]]]] = {}
        for place, (partition, arguments) in enumerate(calls):
            key = self.futures[partition].key
            if key in owners:
                of_worker.setdefault(owners[key], []).append((place, key, arguments))

        async def everywhere() -> list[dict[str, Any]]:
            waiting = [
                self.client.run(_run, function, its, workers=[worker], on_error="return")
                for worker, its in of_worker.items()
            ]
            answers: list[dict[str, Any]] = await asyncio.gather(*waiting)
            return answers

        found: dict[int, Any] = {}
        for answer in self.client.sync(everywhere):
            for results in answer.values():
                if not isinstance(results, BaseException):
                    found.update(results)
        return found


async def _run(
    function: Callable[..., Any],
    calls: Sequence[tuple[int, Any, tuple[Any, ...]]],
    dask_worker: Any = None,
) -> dict[int, Any]:
    """Call the function for each partition that this worker has, in as many threads as it has for tasks."""
    data = dask_worker.data
    # Taken here, as for a task: the worker may move its data to a disk meanwhile.
    ready = [(place, data[key], arguments) for place, key, arguments in calls if key in data]
    threads = max(1, dask_worker.state.nthreads)
    loop = asyncio.get_running_loop()
    waiting = [
        loop.run_in_executor(None, _call_each, function, ready[first::threads])
        for first in range(min(threads, len(ready)))
    ]
    return {place: result for some in await asyncio.gather(*waiting) for place, result in some}


def _call_each(
    function: Callable[..., Any], ready: Sequence[tuple[int, Any, tuple[Any, ...]]]
) -> list[tuple[int, Any]]:
    return [(place, function(values, *arguments)) for place, values, arguments in ready]
