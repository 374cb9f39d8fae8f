"""Every block sum a search has read, kept so that the past can be bet on again at a new threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints


@dataclass(slots=True)
class _Chapter:
    """The steps [start, stop) of the arms that have read them."""

    start: int
    stop: int
    column: Ints  # of each arm in the arrays below, -1 if it has not read these steps
    sums: Floats  # (steps, arms read)
    squares: Floats | None


class History:
    """Block sums by step and arm, for arms that read the same steps at different times."""

    def __init__(self, n_arms: int) -> None:
        self.n_arms = n_arms
        self._chapters: list[_Chapter] = []

    def portions(self) -> list[tuple[int, int]]:
        """Return the steps [start, stop) that were read together, in order."""
        return [(chapter.start, chapter.stop) for chapter in self._chapters]

    def add(self, start: int, stop: int, arms: Ints, sums: Floats, squares: Floats | None) -> None:
        """Keep what `arms` read at the steps [start, stop): a new chapter, or more of an old one."""
        for chapter in self._chapters:
            if chapter.start == start and chapter.stop == stop:
                first = chapter.sums.shape[1]
                chapter.sums = np.concatenate([chapter.sums, sums], axis=1)
                if squares is not None and chapter.squares is not None:
                    chapter.squares = np.concatenate([chapter.squares, squares], axis=1)
                break
        else:
            column = np.full(self.n_arms, -1, dtype=np.int64)
            chapter, first = _Chapter(start, stop, column, sums, squares), 0
            self._chapters.append(chapter)
        chapter.column[arms] = np.arange(first, first + len(arms))

    def sums(self, arms: Ints, front: int) -> Floats:
        """Return the block sums of the first `front` steps, (front, len(arms))."""
        return self._gather(arms, front, "sums")

    def squares(self, arms: Ints, front: int) -> Floats:
        """Return the sums of squares of the first `front` steps, (front, len(arms))."""
        return self._gather(arms, front, "squares")

    def _gather(self, arms: Ints, front: int, field: str) -> Floats:
        gathered = np.empty((front, len(arms)))
        for chapter in self._chapters:
            if chapter.stop <= front:
                table = getattr(chapter, field)
                gathered[chapter.start : chapter.stop] = table[:, chapter.column[arms]]
        return gathered
