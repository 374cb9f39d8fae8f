"""What a search raises when it meets data that breaks a promise, or pulls that fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class BoundsError(ValueError):
    """A reward was met outside the limits that were promised, or was not a number.

    The search stops, because every guarantee rests on those limits.
    """


class PullError(RuntimeError):
    """A call of `pull` failed as often as it may be tried; what it raised is the ``__cause__``.

    Attributes
    ----------
    arms, coordinates
        What the call asked for.
    arm, coordinate
        The first of each: all there is to know if a call asks for one reward.
    """

    def __init__(
        self, message: str, arms: Sequence[int] = (), coordinates: Sequence[int] = ()
    ) -> None:
        super().__init__(message)
        self.arms = tuple(arms)
        self.coordinates = tuple(coordinates)

    @property
    def arm(self) -> int:
        """The first arm that the call asked for."""
        return self.arms[0]

    @property
    def coordinate(self) -> int:
        """The first coordinate that the call asked for."""
        return self.coordinates[0]


class JournalError(ValueError):
    """A journal cannot be used: of another problem, not a journal, in use, or not to be written."""
