"""Checks strings that must be known, and names things in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def one_of(value: Any, known: Collection[str], name: str) -> str:
    """Return the value if it is one of the known strings."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {kind(value)}")
    if value not in known:
        raise ValueError(f"{name} must be one of {listed(known)}; got {value!r}")
    return value


def kind(value: object) -> str:
    """Return the name of a value's type."""
    return type(value).__name__


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a message.

    Examples
    --------
    >>> listed(["ip", "l1"])
    "'ip', 'l1'"
    """
    return ", ".join(map(repr, names))
