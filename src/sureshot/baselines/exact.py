"""The plain product."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines.base import Found, Method

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.baselines.rows import Rows


class ExactMIPS(Method):
    """The exact score of every row; what the others are measured against.

    Parameters
    ----------
    threads
        Threads that compute exact scores; all there are if None.

    Examples
    --------
    >>> data = np.array([[1.0, 0.0], [0.0, 3.0], [2.0, 2.0]])
    >>> ExactMIPS().fit(data).query(np.array([1.0, 1.0]), k=2)
    Found(indices=array([2, 1]), scores=array([4., 3.]), candidates=3, numbers_read=6)
    """

    name: ClassVar[str] = "exact"

    def _prepare(self, rows: Rows) -> None:
        """Keep the data; nothing is prepared."""

    def query(self, query: Array, k: int) -> Found:
        """Return the k rows with the largest inner products."""
        question, k = self.rows.checked(query, k)
        return self._best(question, np.arange(self.rows.count), k, read=0)
