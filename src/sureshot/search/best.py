"""The k best of the arms that were evaluated so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search.problem import largest

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints


class Best:
    """The k best of the arms that were evaluated so far, by position."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.positions: Ints = np.empty(0, dtype=np.int64)
        self.scores: Floats = np.empty(0)

    def add(self, positions: Ints, scores: Floats) -> None:
        """Take in some arms with larger positions than all before, in ascending order."""
        if len(self.positions):
            positions = np.concatenate([self.positions, positions])
            scores = np.concatenate([self.scores, scores])
        kept = np.sort(largest(scores, self.k)) if len(scores) > self.k else slice(None)
        self.positions, self.scores = positions[kept], scores[kept]

    @property
    def threshold(self) -> float | None:
        """The k-th best score, if there are so many."""
        return float(self.scores.min()) if len(self.scores) == self.k else None
