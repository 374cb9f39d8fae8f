"""What a guarantee rests on, as data. Certificates make sentences of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from sureshot.result import unless_beyond


@dataclass(frozen=True, slots=True)
class Condition:
    """What must be true for a guarantee to hold.

    Attributes
    ----------
    kind
        ``"fact"``: it is true of every problem of its kind. ``"assumption"``: the user says so, or a
        scan has found it. ``"estimate"``: a limit that is estimated while the search reads.
    words
        The fact or the assumption, as a clause that can follow "because" or "if"; of an estimate
        nothing, since its limit says it all.
    unconditional
        Whether a theorem that rests on it may be called unconditional: so for facts, and for
        assumptions about the data that reading the data can check.
    limit
        Of an estimate: the largest normalised block sum allowed; 0 while nothing but zeros was met.

    Examples
    --------
    >>> assumption("no row has a norm above 1").sentence
    'as long as no row has a norm above 1'
    """

    kind: Literal["fact", "assumption", "estimate"]
    words: str
    unconditional: bool
    limit: float | None = None

    @property
    def sentence(self) -> str:
        """The condition in words, on its own."""
        if self.kind == "assumption":
            return f"as long as {self.words}"
        return self.words if self.limit is None else unless_beyond(self.limit)

    def after(self, theorem: str) -> str:
        """Return the name of a theorem and this condition of it, in words.

        Examples
        --------
        >>> fact("a distance has no negative terms").after("unconditional")
        'unconditional: a distance has no negative terms'
        """
        return f"{theorem}{':' if self.kind == 'fact' else ''} {self.sentence}"


def fact(words: str) -> Condition:
    """Return a condition that is true of every problem of its kind."""
    return Condition("fact", words, unconditional=True)


@lru_cache(maxsize=64)
def assumption(words: str, *, checkable: bool = True) -> Condition:
    """Return a condition about the data, or, if it is not `checkable`, about what the user did."""
    return Condition("assumption", words, unconditional=checkable)


def estimate(limit: float = 0.0) -> Condition:
    """Return the condition of a search without bounds: no unread block sum exceeds this limit."""
    return Condition("estimate", "", unconditional=False, limit=limit)
