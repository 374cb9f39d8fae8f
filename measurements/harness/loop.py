"""Times one side in a loop of its own: what another library leaves behind must not slow it down.

The threads of a matrix product wait for more work for some 25 ms, on the cores that the next call needs. In turn,
query by query, every call would run beside them.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from sureshot.experiments import clock
from sureshot.experiments.clock import Times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Seconds before the loop: more than ten times what threads were seen to wait.
REST = 2 * clock.REST


def times(
    call: Callable[[int], Any], positions: Iterable[int], warm_up: int, patience: float = math.inf
) -> Times:
    """Rest, call once with the position `warm_up`, then call with each position and return the times.

    Once the calls have taken `patience` seconds, and at least `clock.FEWEST` were made, the rest are left out.
    """
    time.sleep(REST)
    call(warm_up)
    found = Times()
    for position in positions:
        if len(found.seconds) >= clock.FEWEST and sum(found.seconds) > patience:
            break
        result, seconds = clock.timed(partial(call, position))
        found.seconds.append(seconds)
        found.results.append(result)
    return found
