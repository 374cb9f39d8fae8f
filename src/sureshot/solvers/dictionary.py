"""Checks a dictionary and a signal."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

PLACES = ("columns", "rows")


def atoms_of(dictionary: Any, atoms: Any) -> NDArray[Any]:
    """Return a view of the dictionary with an atom in each row; its values are checked by the searches."""
    one_of(atoms, PLACES, "atoms")
    if not isinstance(dictionary, np.ndarray):
        message = f"dictionary must be a numpy array or memory map, got {type(dictionary).__name__}"
        raise TypeError(message)
    if dictionary.ndim != 2:
        raise ValueError(f"dictionary must have 2 dimensions, got shape {dictionary.shape}")
    if dictionary.size == 0:
        raise ValueError(f"dictionary must not be empty, got shape {dictionary.shape}")
    return dictionary if atoms == "rows" else dictionary.T


def vector(values: Any, name: str, width: int) -> NDArray[np.float64]:
    """Return a vector of finite float64, a copy, of the length of the atoms."""
    given = np.array(values, dtype=np.float64)
    if given.shape != (width,):
        message = f"{name} must have shape ({width},), like the atoms, got {given.shape}"
        raise ValueError(message)
    if not np.isfinite(given).all():
        at = int(np.argmin(np.isfinite(given)))
        raise ValueError(f"{name} must be finite, got {given[at]} at position {at}")
    return given


def one_of(value: Any, known: Collection[str], name: str) -> str:
    """Return the value if it is one of the known strings."""
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
    return value


def count(value: Any, name: str) -> int:
    """Return an integer that is at least 1."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if number < 1:
        raise ValueError(f"{name} must be at least 1, got {number}")
    return number


def nonnegative(value: Any, name: str) -> float:
    """Return a finite number that is at least 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{name} must be finite and at least 0, got {number:g}")
    return number


def positive(value: Any, name: str) -> float:
    """Return a finite number above 0."""
    number = nonnegative(value, name)
    if number == 0:
        raise ValueError(f"{name} must be above 0, got 0")
    return number
