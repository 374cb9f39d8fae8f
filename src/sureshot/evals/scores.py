"""Rewards of the scores that evaluations give: letters, numbers, or one of several numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from sureshot.evals.arms import chosen

# What inspect_ai's scorers say, and what its own metrics make of it.
LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}


def reward_of(value: Any, key: str | None = None) -> float:
    """Return the number that a score stands for.

    Parameters
    ----------
    value
        ``"C"``, ``"I"``, ``"P"`` or ``"N"`` (correct, incorrect, partial, no answer), yes or no, true or
        false, a number, a number as text, or a mapping with one of these for each key.
    key
        Which one of a mapping.

    Examples
    --------
    >>> reward_of("C"), reward_of("P"), reward_of(True), reward_of("0.25")
    (1.0, 0.5, 1.0, 0.25)
    >>> reward_of({"relevance": 0.7, "style": 0.2}, key="style")
    0.2
    """
    if isinstance(value, Mapping):
        return reward_of(value[chosen("key", list(value), key)])
    if key is not None:
        message = f"key {key!r} needs scores that are mappings, got {value!r}: leave it out"
        raise ValueError(message)
    if isinstance(value, Real):
        return _finite(float(value), value)
    if not isinstance(value, str):
        raise TypeError(f"a score must be a letter, a number or a mapping of them, got {value!r}")
    if value in LETTERS:
        return LETTERS[value]
    if value.lower() in WORDS:
        return WORDS[value.lower()]
    try:
        number = float(value)
    except ValueError:
        message = (
            f"a score must be C, I, P or N, yes or no, or a number, got {value!r}: for other scores pass "
            "reward=, a function that makes a number of them"
        )
        raise ValueError(message) from None
    return _finite(number, value)


def _finite(number: float, value: Any) -> float:
    if not math.isfinite(number):
        raise ValueError(f"a score must be a finite number, got {value!r}")
    return number
