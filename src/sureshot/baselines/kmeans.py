"""k-means MIPS: the rows of the clusters whose centroids look most like the query."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sureshot.baselines._core import drawn_seed, largest, whole_number, whole_number_within
from sureshot.baselines.base import Found, Method, needed
from sureshot.baselines.rows import NUMBERS_AT_ONCE
from sureshot.baselines.sphere import Sphere

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints
    from sureshot.baselines.rows import Rows

# Rows from which the first centroids are chosen, where memory allows and at most a quarter of all.
SAMPLE = 1024


class KMeansMIPS(Method):
    """Candidates are the rows of the `probes` clusters whose centroids have the largest cosines.

    The rows are lifted to a sphere and clustered there by spherical k-means: each row joins the
    centroid it has the largest inner product with, each centroid moves to the mean of its rows, brought
    back to the sphere. The first centroids come from scikit-learn's k-means++; its k-means itself
    would need two copies of the data, and in batches it leaves nearly all rows of noise to a few
    short centroids. (The authors cluster in one level too, or in two.) `fit` costs O(n N clusters) for each
    pass.

    No guarantee.

    Parameters
    ----------
    clusters
        How many; the square root of the number of rows if None. `fit` sets the attribute `clusters`.
    passes
        How often the centroids move at most; fewer if no row changes its cluster any more.
    rng
        Seed or Generator of the clustering.
    threads
        Threads that compute exact scores; all there are if None.

    References
    ----------
    A. Auvolat, S. Chandar, P. Vincent, H. Larochelle, Y. Bengio, *Clustering is Efficient for Approximate
    Maximum Inner Product Search*, 2015, arXiv:1507.05910.

    Examples
    --------
    >>> data = np.random.default_rng(0).normal(size=(100, 20))
    >>> method = KMeansMIPS(rng=0).fit(data)
    >>> method.query(data[7], k=1, probes=2).indices
    array([7])
    >>> method.query(data[7], k=1, probes=method.clusters).candidates
    100
    """

    name: ClassVar[str] = "kmeans"

    def __init__(
        self,
        *,
        clusters: int | None = None,
        passes: int = 10,
        rng: int | np.random.Generator | None = None,
        threads: int | None = None,
    ) -> None:
        super().__init__(threads=threads)
        self._wanted = None if clusters is None else whole_number(clusters, "clusters", 1)
        self.passes = whole_number(passes, "passes", 1)
        self._seed = drawn_seed(rng)

    def _prepare(self, rows: Rows) -> None:
        """Cluster the rows."""
        self.clusters = self._wanted or math.isqrt(rows.count)
        if self.clusters > rows.count:
            message = (
                f"clusters must be at most the number of rows, {rows.count}, got {self.clusters}"
            )
            raise ValueError(message)
        self._sphere = Sphere(rows)
        labels = self._cluster()
        # The rows of each cluster side by side, and where they begin.
        self._members: Ints = np.argsort(labels, kind="stable")
        counts = np.bincount(labels, minlength=self.clusters)
        self._edges: Ints = np.concatenate(([0], np.cumsum(counts)))

    def query(self, query: Array, k: int, *, probes: int = 1) -> Found:
        """Return the best of the candidates.

        Parameters
        ----------
        query, k
            One query, and how many rows are wanted.
        probes
            Clusters to look into, at most `clusters`: then every row is a candidate.
        """
        question, k = self.rows.checked(query, k)
        probes = whole_number_within(probes, "probes", 1, self.clusters, "clusters of the fit")
        products = (self._centroids @ self._sphere.unit(question)).astype(np.float64)
        edges = self._edges
        candidates = np.concatenate(
            [self._members[edges[one] : edges[one + 1]] for one in largest(products, probes)]
        )
        read = self.clusters * self.rows.width + len(candidates)
        return self._best(question, candidates, k, read)

    def _cluster(self) -> Ints:
        """Move the centroids to the means of their rows until no row changes its cluster."""
        rows, sphere = self._sphere.rows, self._sphere
        self._centroids, heights = self._first_centroids()
        labels = self._nearest(heights)
        for _ in range(self.passes):
            sums = np.zeros_like(self._centroids)
            for piece in rows.pieces(at_once=self.clusters):
                members = np.arange(self.clusters)[:, None] == labels[piece]
                sums += members.astype(sums.dtype) @ rows.data[piece]
            tops = np.bincount(labels, weights=sphere.heights, minlength=self.clusters)
            norms = np.hypot(np.linalg.norm(sums, axis=1), tops)
            moves = norms > 0  # a cluster without rows keeps its centroid
            self._centroids[moves] = sums[moves] / norms[moves, None]
            heights[moves] = tops[moves] / norms[moves]
            before, labels = labels, self._nearest(heights)
            if (labels == before).all():
                break
        return labels

    def _nearest(self, heights: Floats) -> Ints:
        """Return the centroid with which each lifted row has the largest inner product."""
        labels = np.empty(self._sphere.rows.count, np.int64)
        for piece, products in self._sphere.products(self._centroids, heights):
            labels[piece] = np.argmax(products, axis=0)
        return labels

    def _first_centroids(self) -> tuple[Array, Floats]:
        """Return lifted rows far from each other, at length 1, chosen by k-means++ from a sample."""
        rows, sphere = self._sphere.rows, self._sphere
        cluster = needed("sklearn.cluster", "scikit-learn", "KMeansMIPS", "'sureshot[baselines]'")
        rng = np.random.default_rng(self._seed)
        affordable = min(4 * NUMBERS_AT_ONCE // (rows.width + 1), rows.count // 4)
        size = max(self.clusters, min(SAMPLE, affordable))
        sample = np.sort(rng.permutation(rows.count)[:size])
        # In float64: scikit-learn turns float32 into it in small pieces, which takes far longer.
        lifted = np.empty((len(sample), rows.width + 1))
        lifted[:, :-1] = rows.data[sample]
        lifted[:, -1] = sphere.heights[sample]
        if sphere.radius > 0:
            lifted /= sphere.radius
        first, _ = cluster.kmeans_plusplus(lifted, self.clusters, random_state=self._seed % 2**32)
        return first[:, :-1].astype(rows.data.dtype), first[:, -1].copy()
