"""Times several calls in turn, so that what slows the machine down slows all of them."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Seconds to wait before a call that is timed: the threads of the matrix product before it keep
# waiting for work for a tenth of a second, and take a core from what runs next.
REST = 0.15
# One that has used up the patience is left out from then on, but not before so many calls.
FEWEST = 3

Result = TypeVar("Result")


@dataclass
class Times:
    """The seconds of each call of one side, and what the calls returned."""

    seconds: list[float] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median of the seconds."""
        return float(np.median(self.seconds))

    @property
    def quartiles(self) -> list[float]:
        """The first and the third quartile of the seconds."""
        return [float(value) for value in np.quantile(self.seconds, [0.25, 0.75])]


def timed(call: Callable[[], Result]) -> tuple[Result, float]:
    """Return what a call returns and its seconds, to a tenth of a microsecond.

    More digits mean nothing, and rows are kept.
    """
    started = time.perf_counter()
    result = call()
    return result, round(time.perf_counter() - started, 7)


def in_turn(
    sides: Mapping[str, Callable[[int], Any]],
    positions: Iterable[int],
    *,
    rest: float,
    patience: float = math.inf,
    short: float = 0.0,
) -> dict[str, Times]:
    """Call every side with each position in turn.

    Parameters
    ----------
    sides
        What is timed, by name.
    positions
        What each side is called with, one after the other.
    rest
        Seconds before every call.
    patience
        A side that has taken so many seconds is left out from then on; the first one never is.
    short
        A call shorter than this is made three times, and its median counts: a busy machine takes a
        core away for some milliseconds now and then.
    """
    times = {name: Times() for name in sides}
    first = next(iter(sides))
    for position in positions:
        for name, call in sides.items():
            spent = times[name].seconds
            if name != first and len(spent) >= FEWEST and sum(spent) > patience:
                continue
            time.sleep(rest)
            result, seconds = timed(partial(call, position))
            if seconds < short:
                again = [timed(partial(call, position))[1] for _ in range(2)]
                seconds = sorted([seconds, *again])[1]
            spent.append(seconds)
            times[name].results.append(result)
    return times
