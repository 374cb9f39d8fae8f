"""Checks single numbers: integers and real numbers within limits, shares or counts of rows."""

from __future__ import annotations

import math
import operator
from numbers import Integral, Real
from typing import Any

import numpy as np


def whole_number(value: Any, name: str, least: int) -> int:
    """Return an integer that is at least so much."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError  # noqa: TRY301 - the same message as for any other non-integer
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def whole_number_within(value: Any, name: str, least: int, most: int, why: str) -> int:
    """Return an integer between two limits; `why` says where the upper one comes from.

    Examples
    --------
    >>> whole_number_within(30, "a", 0, 20, "most_bits of the fit")
    Traceback (most recent call last):
    ValueError: a must be an integer from 0 to 20 (most_bits of the fit), got 30
    """
    number = whole_number(value, name, least)
    if number > most:
        raise ValueError(f"{name} must be an integer from {least} to {most} ({why}), got {number}")
    return number


def share_or_count(value: Any, name: str, total: int) -> int:
    """Return how many of `total` rows are meant by a share (a float) or a count (an integer).

    Examples
    --------
    >>> share_or_count(0.25, "B", 10), share_or_count(3, "B", 10), share_or_count(1.0, "B", 10)
    (3, 3, 10)
    """
    message = (
        f"{name} must be a share of the rows, a float above 0 and at most 1, or their number, an "
        f"integer from 1 to {total}; got {value!r}"
    )
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(message)
    if isinstance(value, Integral):
        count = int(value)
        if not 1 <= count <= total:
            raise ValueError(message)
        return count
    share = float(value)
    if not 0 < share <= 1:
        raise ValueError(message)
    # Rounded up, but 0.7 of 10 rows are 7, although 0.7 * 10 may be more in binary.
    return math.ceil(share * total * (1 - 1e-12))


def finite_number(value: Any, name: str) -> float:
    """Return a number that is neither infinite nor NaN."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    return number


def loss_and_risk(epsilon: Any, delta: Any) -> tuple[float, float]:
    """Return the allowed loss, and the allowed probability of a larger one."""
    epsilon = finite_number(epsilon, "epsilon")
    if epsilon < 0:
        raise ValueError(f"epsilon must be at least 0, got {epsilon:g}")
    delta = finite_number(delta, "delta")
    if not 0 < delta < 1:
        raise ValueError(f"delta must lie strictly between 0 and 1, got {delta:g}")
    return epsilon, delta
