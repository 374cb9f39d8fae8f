"""Times several contestants in turn, so that what slows the machine down slows all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

# Seconds before every call: threads of the one before it wait for more work for a tenth of a second,
# busily, and would take a core from the next.
REST = 0.15
# A rival that has taken this many seconds is left out from then on, but not before so many calls.
PATIENCE = 10.0
FEWEST = 3


@dataclass
class Times:
    """The seconds of each call of one contestant, and what the calls returned."""

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


def race(
    contestants: Mapping[str, Callable[[int], Any]],
    positions: Iterable[int],
    *,
    patience: float = PATIENCE,
    rest: float = REST,
) -> dict[str, Times]:
    """Call every contestant with each position in turn; the first one is never left out."""
    times = {name: Times() for name in contestants}
    first = next(iter(contestants))
    for position in positions:
        for name, call in contestants.items():
            spent = times[name].seconds
            if name != first and len(spent) >= FEWEST and sum(spent) > patience:
                continue
            time.sleep(rest)
            started = time.perf_counter()
            result = call(position)
            spent.append(time.perf_counter() - started)
            times[name].results.append(result)
    return times
