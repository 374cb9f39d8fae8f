"""Which of the matrices of a file is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

Item = TypeVar("Item")

# Names that a message shows.
SHOWN = 8


def the_one_called(name: str | None, items: Mapping[str, Item], container: str, what: str) -> Item:
    """Return the item of that name; without a name the only one.

    Examples
    --------
    >>> the_one_called(None, {"a": 1}, "file", "a matrix"), the_one_called("b", {"b": 2}, "file", "")
    (1, 2)
    """
    if name is not None and name in items:
        return items[name]
    if name is None and len(items) == 1:
        return next(iter(items.values()))
    shown = ", ".join(map(repr, list(items)[:SHOWN])) + (", …" if len(items) > SHOWN else "")
    if not items:
        raise ValueError(f"{container} must hold {what}, got none")
    if name is None:
        raise ValueError(f"{container} holds several: say which by name=, one of {shown}")
    raise ValueError(f"{container} must hold {what} named {name!r}, got {shown}")
