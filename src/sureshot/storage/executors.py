"""Partitions that any ``concurrent.futures.Executor`` reads: in processes, or on machines of Ray or MPI."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.storage.partitioned import Partitioned, Place, as_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor

    from sureshot._types import Array
    from sureshot.storage.partitioned import Call

# A set of calls, in nanoseconds.
ROUND = 5e6


class ExecutorMatrix(Partitioned):
    """Partitions one below the other, each opened by a function where it is read.

    A function such as ``functools.partial(numpy.load, path, mmap_mode="r")`` is sent to the executor, not the
    numbers.
    """

    def __init__(
        self,
        openers: Sequence[Callable[[], Array]],
        rows: Sequence[int],
        width: int,
        dtype: np.dtype[Any],
        executor: Executor,
    ) -> None:
        ends = np.cumsum([0, *rows]).tolist()
        self.openers = tuple(openers)
        self.executor = executor
        self.shape = (ends[-1], width)
        self.dtype = dtype
        self.round = ROUND
        self.places = [Place(first, last, 0, width) for first, last in pairwise(ends)]

    def run(self, calls: Sequence[Call]) -> list[Any]:
        """Run the calls by the executor."""
        futures = [
            self.executor.submit(
                _call,
                self.openers[call.partition],
                self.places[call.partition],
                self.dtype,
                call.function,
                call.arguments,
            )
            for call in calls
        ]
        return [future.result() for future in futures]


def _call(
    opener: Callable[[], Array], place: Place, dtype: np.dtype[Any], function: Any, arguments: Any
) -> Any:
    return function(as_values(opener(), place, dtype), *arguments)


def described(opener: Callable[[], Array]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of a partition, found where it is read."""
    values = opener()
    return values.shape, values.dtype
