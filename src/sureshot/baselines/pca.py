"""PCA-MIPS: the rows on the query's side of the middle, along one principal component after another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines._core import drawn_seed, whole_number, whole_number_within
from sureshot.baselines.base import Found, Method, needed
from sureshot.baselines.sphere import Sphere
from sureshot.baselines.tree import grow

if TYPE_CHECKING:
    from sureshot._types import Array, Floats
    from sureshot.baselines.rows import Rows


class PCAMIPS(Method):
    """Candidates are the rows of one leaf of a tree with median splits along principal components.

    The rows are lifted to a sphere, and level l of the tree splits each node at the median of its
    projections on the l-th principal component. A query, lifted and brought to the length of the rows (the
    answer does not depend on its length, so neither should the leaf), goes down to one node at
    `depth`, which holds n / 2^depth rows: one at last. There is no backtracking and no
    second leaf. If the lifted rows vary in fewer dimensions than the tree has levels, the components
    are used in turn.

    The components come from scikit-learn's randomised SVD of the data, which reads the data a dozen times and
    copies nothing, and are then made those of the centred and lifted rows: within the span of the singular vectors, the
    mean and the new coordinate, in which a small SVD is exact. `fit` costs O(n N depth) so, where
    the paper counts O(n N²) for all components.

    No guarantee.

    Parameters
    ----------
    depth
        The largest depth that can be asked for.
    rng
        Seed or Generator of the randomised SVD.
    threads
        Threads that compute exact scores; all there are if None.

    References
    ----------
    Y. Bachrach et al., *Speeding Up the Xbox Recommender System Using a Euclidean Transformation for
    Inner-Product Spaces*, RecSys 2014.

    Examples
    --------
    >>> data = np.random.default_rng(0).normal(size=(100, 20))
    >>> method = PCAMIPS(rng=0).fit(data)
    >>> [method.query(data[7], k=1, depth=depth).candidates for depth in (0, 1, 2)]
    [100, 50, 25]
    """

    name: ClassVar[str] = "pca"

    def __init__(
        self,
        *,
        depth: int = 20,
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        self.depth = whole_number(depth, "depth", 0)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Find the principal components and grow the tree."""
        self._sphere = Sphere(rows)
        levels = min(self.depth, rows.count - 1)  # no path is longer than that
        self._directions, projections = self._components(levels)
        in_turn = projections[np.arange(levels) % max(1, len(projections))]
        self._tree = grow(in_turn, 1, lambda _: 0.5)

    def query(self, query: Array, k: int, *, depth: int = 3) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        depth
            Splits on the way down; 0: every row is a candidate. The paper goes from 0 to 20.
        """
        question, k = self.rows.checked(query, k)
        depth = whole_number_within(depth, "depth", 0, self.depth, "depth of the fit")
        unit = self._sphere.unit(question)

        def projection(level: int) -> float:
            return (
                float(self._directions[level % len(self._directions)] @ unit) * self._sphere.radius
            )

        candidates, taken = self._tree.descend(projection, depth)
        read = taken * self.rows.width + len(candidates)
        return self._best(question, candidates, k, read)

    def _components(self, wanted: int) -> tuple[Array, Floats]:
        """Return at most so many principal components, without their last coordinate, which meets a 0.

        And the projections of all lifted rows on them.
        """
        rows, data = self._sphere.rows, self._sphere.rows.data
        if wanted == 0:
            return np.empty((0, rows.width), data.dtype), np.empty((0, rows.count))
        extmath = needed(
            "sklearn.utils.extmath", "scikit-learn", "PCAMIPS", "'sureshot[baselines]'"
        )
        # Two more than wanted: one may be spent on the mean, and one on the new coordinate.
        count = min(wanted + 2, *data.shape)
        # scikit-learn takes seeds of 32 bits.
        vectors = extmath.randomized_svd(data, count, random_state=self._seed % 2**32)[2]
        mean = np.ones(rows.count, data.dtype) @ data / rows.count
        basis = np.zeros((rows.width + 1, count + 2))
        basis[:-1, :count] = vectors.T
        basis[-1, count] = 1
        basis[:-1, count + 1] = mean
        basis = np.linalg.qr(basis)[0].T
        projections = self._sphere.projections(basis[:, :-1].astype(data.dtype), basis[:, -1])
        centred = projections - projections.mean(axis=1, keepdims=True)
        turn, sizes, _ = np.linalg.svd(centred, full_matrices=False)
        # What is left of the components beyond the rank is rounding: no side of it means anything.
        rounding = sizes[0] * max(data.shape) * np.finfo(data.dtype).eps
        varies = sizes[:wanted] > rounding
        varies[0] = True
        turn = turn.T[:wanted][varies]
        return (turn @ basis[:, :-1]).astype(data.dtype), turn @ projections
