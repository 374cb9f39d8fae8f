"""What a search raises when it meets data that breaks a promise."""

from __future__ import annotations


class BoundsError(ValueError):
    """A reward was met outside the limits that were promised, or was not a number.

    The search stops, because every guarantee rests on those limits.
    """
