"""What a search raises: data outside its bounds, pulls that fail, journals that cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Array


class BoundsError(ValueError):
    """A reward is outside the bounds, or not a number, or the data is not what was scanned.

    The search stops, because the guarantee assumes these bounds.
    """


class PullError(RuntimeError):
    """A call of `pull` failed in all its attempts; what it raised is the ``__cause__``.

    Attributes
    ----------
    arms, coordinates
        What the call asked for.
    arm, coordinate
        The first of each: the only one if a call asks for one reward.
    rewards
        Where `pull` itself raises this error: what the call has paid for all the same, as it would have
        returned it, with NaN for rewards that it has not. They are stored in the journal. None: nothing.
    """

    def __init__(
        self,
        message: str,
        arms: Sequence[int] = (),
        coordinates: Sequence[int] = (),
        rewards: Array | None = None,
    ) -> None:
        super().__init__(message)
        self.arms = tuple(arms)
        self.coordinates = tuple(coordinates)
        self.rewards = rewards

    @property
    def arm(self) -> int:
        """The first arm that the call asked for."""
        return self.arms[0]

    @property
    def coordinate(self) -> int:
        """The first coordinate that the call asked for."""
        return self.coordinates[0]


class JournalError(ValueError):
    """A journal belongs to another problem, is not a journal, is locked, or is not writable."""


class StorageError(OSError):
    """A file cannot be read, is cut off, or has changed while it was searched."""
