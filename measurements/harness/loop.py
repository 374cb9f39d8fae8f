"""Times several sides in short loops, one after the other and then again.

The threads of a matrix product wait for more work for some 25 ms, on the cores that the next call needs: in turn, query
by query, every call would run beside them. And the memory of a shared machine is twice as fast at one moment as some
seconds later: in one long loop each, every side would meet another machine.
"""

from __future__ import annotations

import math
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from sureshot.experiments import clock
from sureshot.experiments.clock import Times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# Seconds before each loop: several times what threads were seen to wait.
REST = clock.REST
# How often each side has its turn.
TURNS = 3


def in_turns(
    sides: Mapping[str, Callable[[int], Any]],
    positions: Sequence[int],
    warm_up: int,
    patience: float = math.inf,
) -> dict[str, Times]:
    """Call each side with a part of the positions after the other, and return the times.

    Before each part there is a rest and a call with the position `warm_up` that is not timed. Once the calls of a side
    have taken `patience` seconds, and at least `clock.FEWEST` were made, its others are left out.
    """
    times = {name: Times() for name in sides}
    for turn in range(TURNS):
        part = positions[turn * len(positions) // TURNS : (turn + 1) * len(positions) // TURNS]
        for name, call in sides.items():
            if part and not _has_enough(times[name], patience):
                _add(times[name], call, part, warm_up, patience)
    return times


def _add(
    found: Times, call: Callable[[int], Any], part: Sequence[int], warm_up: int, patience: float
) -> None:
    """Time the calls of one turn."""
    time.sleep(REST)
    call(warm_up)
    for position in part:
        if _has_enough(found, patience):
            break
        result, seconds = clock.timed(partial(call, position))
        found.seconds.append(seconds)
        found.results.append(result)


def _has_enough(found: Times, patience: float) -> bool:
    return len(found.seconds) >= clock.FEWEST and sum(found.seconds) > patience
