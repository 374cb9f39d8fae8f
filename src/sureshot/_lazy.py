"""A sequence whose items are made when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

Item = TypeVar("Item")


class LazySequence(Sequence[Item]):
    """So many items, each made by a function of its position.

    Results of a large batch are one array; a Python object for each query takes longer to make than the
    answer, and is seldom wanted.

    Examples
    --------
    >>> squares = LazySequence(4, lambda at: at * at)
    >>> squares[-1], squares[:2], list(squares), squares == (0, 1, 4, 9)
    (9, (0, 1), [0, 1, 4, 9], True)
    """

    def __init__(self, count: int, make: Callable[[int], Item]) -> None:
        self._count, self._make = count, make

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Item: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, at: int | slice) -> Item | tuple[Item, ...]:
        places = range(self._count)[at]
        if isinstance(places, range):
            return tuple(self._make(place) for place in places)
        return self._make(places)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | LazySequence):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))

    def __reduce__(self) -> tuple[type[tuple[Any, ...]], tuple[tuple[Item, ...]]]:
        return tuple, (tuple(self),)
