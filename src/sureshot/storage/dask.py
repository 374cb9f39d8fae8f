"""Arrays of dask: their chunks are partitions, and the functions are tasks without state."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.errors import StorageError
from sureshot.storage.extras import library
from sureshot.storage.kept import KeptPartitions
from sureshot.storage.partitioned import Partitioned, Place, as_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.storage.partitioned import Call

MODULE = "dask"

# A set of tasks, in nanoseconds: by the threads of this process, and by a scheduler, which takes some time for
# each task besides. The same of calls to workers that keep the partitions.
ROUND_OF_THREADS = 3e6
ROUND_OF_SCHEDULER = 8e6
TASK_OF_SCHEDULER = 0.8e6
ROUND_OF_CALLS = 2e6
CALL_OF_WORKER = 0.7e6

# How often a task is tried again, each time a worker dies with it.
RETRIES = 3


class DaskMatrix(Partitioned):
    """A dask array of two dimensions. `client` runs the tasks, or else dask's scheduler of the moment."""

    def __init__(self, array: Any, client: Any = None) -> None:
        if not isinstance(array, library("dask.array", "dask", "a dask array").Array):
            raise TypeError(f"data must be an array of dask, got {type(array).__name__}")
        if client is not None and not (hasattr(client, "compute") and hasattr(client, "gather")):
            raise TypeError(f"client must be one of dask.distributed, got {type(client).__name__}")
        if array.ndim != 2 or any(np.isnan(size) for size in array.shape):
            raise ValueError(
                f"data must have 2 dimensions (arms, coordinates) of known sizes, got shape {array.shape}"
            )
        self.client = _client() if client is None else client
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = np.dtype(array.dtype)
        self._array = array
        self._kept = KeptPartitions.of(array, self.client)
        rows, columns = (np.cumsum([0, *sizes]).tolist() for sizes in array.chunks)
        self.places = [
            Place(*ours, *theirs) for ours in pairwise(rows) for theirs in pairwise(columns)
        ]
        self.round = ROUND_OF_THREADS
        if self._kept is not None:
            self.round = ROUND_OF_CALLS + CALL_OF_WORKER * len(set(self._kept.owners().values()))
        elif self.client is not None:
            self.round = ROUND_OF_SCHEDULER + TASK_OF_SCHEDULER * len(self.places)

    def __repr__(self) -> str:
        return f"DaskMatrix({self.dtype}, {self.shape}, {len(self.places)} partitions)"

    def run(self, calls: Sequence[Call]) -> list[Any]:
        """Run the calls where their partitions are: as tasks, unless a worker keeps the partition."""
        found: dict[int, Any] = {}
        if self._kept is not None:
            what = [(call.partition, self._what(call)) for call in calls]
            found = self._kept.run(_call, what)
        missing = [at for at in range(len(calls)) if at not in found]
        results = self._compute([calls[at] for at in missing]) if missing else []
        found.update(zip(missing, results, strict=True))
        return [found[at] for at in range(len(calls))]

    def _compute(self, calls: Sequence[Call]) -> list[Any]:
        """Run each call as a task, for which a partition that is lost is computed again."""
        dask = library("dask", "dask", "a dask array")
        tasks = [
            dask.delayed(_call, pure=False)(self._parts[call.partition], *self._what(call))
            for call in calls
        ]
        if self.client is None:
            return list(dask.compute(*tasks))
        try:
            found: list[Any] = self.client.gather(self.client.compute(tasks, retries=RETRIES))
        except Exception as error:
            lost = type(error).__module__.startswith("distributed")
            if lost or type(error).__name__ in ("CancelledError", "FutureCancelledError"):
                message = f"a partition was lost and cannot be computed again: {error}"
                raise StorageError(message) from error
            raise
        return found

    @cached_property
    def _parts(self) -> list[Any]:
        """The partitions, each as something that a task makes first."""
        parts: list[Any] = self._array.to_delayed().ravel().tolist()
        return parts

    def _what(self, call: Call) -> tuple[Any, ...]:
        return self.places[call.partition], self.dtype, call.function, call.arguments


def _call(values: Any, place: Place, dtype: np.dtype[Any], function: Any, arguments: Any) -> Any:
    return function(as_values(values, place, dtype), *arguments)


def _client() -> Any:
    """Return the client of the moment, if there is one."""
    import sys  # noqa: PLC0415 - a client exists only where this is loaded

    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.get_client()
    except ValueError:
        return None
