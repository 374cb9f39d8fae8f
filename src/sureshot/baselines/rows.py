"""The data of a baseline, and the exact scores of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.baselines import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot._types import Array, Floats, Ints

# Numbers that a step over the whole data handles at a time: 64 MB of float32, a small part of any
# data that is worth cutting, and long enough for the products to run at full speed.
NUMBERS_AT_ONCE = 1 << 24


class Rows:
    """Rows of a data matrix, which is never copied.

    Exact scores come from the same native code that ranks the answers of `sureshot.top_k`: it sums in
    float64 and reads at the speed of memory. So no baseline loses time against it there.
    """

    def __init__(self, data: Array, threads: int | None = None) -> None:
        self.data, self.threads = _core.fit_request(data, threads)
        self.count, self.width = self.data.shape

    def checked(self, query: Array, k: int) -> tuple[Floats, int]:
        """Return the query in float64 and k, or say what is wrong with them."""
        return _core.query_request(query, k, (self.count, self.width))

    def norms(self) -> Floats:
        """Return the Euclidean norm of each row: one pass, which refuses what is not finite."""
        return _core.row_norms(self.data, self.threads)

    def best(
        self, query: Floats, rows: Ints, k: int, *, squares: bool = False
    ) -> tuple[Ints, Floats]:
        """Return the k best of some distinct rows and their exact scores, best first."""
        rows = np.sort(rows)
        scores = _core.exact_scores(self.data, query, rows, self.threads)
        best = _core.largest(np.abs(scores) if squares else scores, min(k, len(rows)))
        return rows[best], scores[best]

    def pieces(self, at_once: int = 1) -> Iterator[slice]:
        """Yield all rows in pieces that are small enough, also for so many results of each row."""
        step = max(1, NUMBERS_AT_ONCE // max(self.width, at_once))
        for start in range(0, self.count, step):
            yield slice(start, min(start + step, self.count))
