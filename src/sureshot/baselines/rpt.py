"""RPT-MIPS: the leaves of random projection trees in which the query ends."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines._core import drawn_seed, share_or_count, whole_number, whole_number_within
from sureshot.baselines.base import Found, Method
from sureshot.baselines.sphere import Sphere
from sureshot.baselines.tree import grow

if TYPE_CHECKING:
    from sureshot._types import Array
    from sureshot.baselines.rows import Rows

# A split leaves at most this fraction of a node's rows on one side.
LARGEST_SIDE = 0.75


class RPTMIPS(Method):
    """Candidates are the rows in L leaves, one of each of L random projection trees.

    The rows are lifted to a sphere. A node is split along a random direction, at a fraction of its
    rows drawn uniformly from 1/4 to 3/4, until it has at most `leaf` rows. All nodes of one level of
    one tree share their direction, the space-saving variant of the authors: the directions on the way
    of a query are still independent of each other and of the rows they split, which is all that the
    analysis of a query uses. `fit` projects all rows on all directions as one matrix product in
    pieces, O(L N n log n).

    With a probability that depends on the data and the query by a potential that is not known beforehand, the
    best row is among the candidates, and more often with more trees.

    Parameters
    ----------
    L
        Trees, the largest `L` that can be asked for.
    rng
        Seed or Generator of directions and splits.
    threads
        Threads that compute exact scores; all there are if None.

    References
    ----------
    O. Keivani, K. Sinha, P. Ram, *Improved Maximum Inner Product Search with Better Theoretical
    Guarantees*, IJCNN 2017, and *… Using Randomized Partition Trees*, Machine Learning 107, 2018.

    Examples
    --------
    >>> data = np.random.default_rng(0).normal(size=(100, 20))
    >>> method = RPTMIPS(rng=0).fit(data)
    >>> method.query(data[7], k=1, L=5, leaf=10).indices
    array([7])
    """

    name: ClassVar[str] = "rpt"

    def __init__(
        self,
        *,
        L: int = 10,
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        self.trees = whole_number(L, "L", 1)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Grow the trees."""
        rng = np.random.default_rng(self._seed)
        self._sphere = Sphere(rows)
        # Below two rows nothing is split, and above a level takes a quarter away at least.
        levels = math.ceil(math.log(rows.count) / -math.log(LARGEST_SIDE)) + 2
        self._trees, self._directions = [], []
        for _ in range(self.trees):
            directions = rng.standard_normal((levels, rows.width), dtype=rows.data.dtype.type)
            heights = rng.standard_normal(levels)
            tree = grow(
                self._sphere.projections(directions, heights),
                1,
                lambda nodes: rng.uniform(1 - LARGEST_SIDE, LARGEST_SIDE, nodes),
            )
            self._trees.append(tree)
            self._directions.append(directions[: len(tree.levels)].copy())

    def query(
        self,
        query: Array,
        k: int,
        *,
        L: int | None = None,
        leaf: float = 0.05,
    ) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        L
            Trees to ask; all of them if None.
        leaf
            The descent ends at a node of at most so many rows: a share of the rows (a float) or their
            number (an integer). 1.0: every row is a candidate.
        """
        rows = self.rows
        question, k = rows.checked(query, k)
        trees = self.trees
        if L is not None:
            trees = whole_number_within(L, "L", 1, self.trees, "L of the fit")
        leaf = share_or_count(leaf, "leaf", rows.count)
        unit, radius = self._sphere.unit(question), self._sphere.radius
        is_candidate = np.zeros(rows.count, dtype=np.bool_)
        read = 0
        for tree, directions in zip(self._trees[:trees], self._directions, strict=False):

            def projection(level: int, directions: Array = directions) -> float:
                return float(directions[level] @ unit) * radius

            found, taken = tree.descend(projection, len(tree.levels), leaf)
            is_candidate[found] = True
            read += taken * rows.width + len(found)
        return self._best(question, np.flatnonzero(is_candidate), k, read)
