"""The k best of the arms that were evaluated so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints


class Best:
    """The k best of the arms that were evaluated so far, by position, best first."""

    def __init__(self, k: int) -> None:
        self.k = k
        self.positions: Ints = np.empty(0, dtype=np.int64)
        self.scores: Floats = np.empty(0)

    def add(self, positions: Ints, scores: Floats) -> None:
        """Take in some arms, each of them once."""
        if len(self.positions):
            positions = np.concatenate([self.positions, positions])
            scores = np.concatenate([self.scores, scores])
        self.positions, self.scores = _native.best(scores, positions, min(self.k, len(scores)))

    @property
    def threshold(self) -> float | None:
        """The k-th best score, if there are so many."""
        return float(self.scores[-1]) if len(self.scores) == self.k else None
