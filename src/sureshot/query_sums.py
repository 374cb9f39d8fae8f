"""What is added up of a query over the blocks, before any data is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._native import QueryTerm, Team

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot.blocks import Blocks

ONE = np.ones(1)


@dataclass(frozen=True, slots=True)
class Summed:
    """The sum of some terms over each block, and the sum of the absolute values of all of them."""

    sums: Floats
    total: float


@dataclass(frozen=True, slots=True)
class QuerySums:
    """Sums of a query over blocks: one pass each, by a team, and the same for any number of threads.

    Examples
    --------
    >>> from sureshot.blocks import Blocks
    >>> sums = QuerySums(np.array([1.0, -2.0, 3.0]), Blocks(3, size=2))
    >>> sums.absolute(), sums.squares().total, sums.products(np.array(2.0)).sums
    (Summed(sums=array([3., 3.]), total=6.0), 14.0, array([-2.,  6.]))
    """

    query: Array  # float64 or float32, contiguous: a long one is not widened first
    blocks: Blocks
    team: Team = field(default_factory=lambda: Team(1))

    def absolute(self, by: Floats = ONE) -> Summed:
        """Add up the absolute values, times one factor for all coordinates or for each."""
        return self._added(QueryTerm.ABSOLUTE, by)

    def squares(self) -> Summed:
        """Add up the squares."""
        return self._added(QueryTerm.SQUARE, ONE)

    def products(self, by: Floats) -> Summed:
        """Add up the values, times one factor for all coordinates or for each."""
        return self._added(QueryTerm.PRODUCT, by)

    def _added(self, term: QueryTerm, by: Floats) -> Summed:
        blocks, sums = self.blocks, np.empty(self.blocks.count)
        total = _native.query_sums(
            term, self.query, np.atleast_1d(by), blocks.size, blocks.shift, self.team, sums
        )
        return Summed(sums, total)
