"""The native order in the words of the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sureshot import _native

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints


class DrawnOrder:
    """Blocks drawn one after the other, in proportion to their weight."""

    def __init__(self, weight: Floats, seed: int) -> None:
        self._order = _native.Order(weight, seed)
        self.length = self._order.length
        self.weights = self._order.weights  # as they are drawn: rounded up

    @property
    def blocks(self) -> Ints:
        """The blocks drawn so far."""
        return self._order.blocks

    @property
    def left(self) -> Floats:
        """The weight not yet drawn before each of those steps."""
        return self._order.left[:-1]

    def draw(self, front: int) -> None:
        """Draw on until `front` blocks are drawn in all."""
        self._order.draw(front)

    def left_after(self, front: int) -> float:
        """Return the weight that is not among the first `front` blocks drawn."""
        return float(self._order.left[front])

    def undrawn(self, front: int) -> Ints:
        """Return the blocks that are not among the first `front` drawn."""
        return self._order.undrawn(front)
