"""`NearestNeighbors`: the nearest rows, without labels."""

from __future__ import annotations

from typing import Any

from sureshot.estimators.neighbours import NeighboursBase


class NearestNeighbors(NeighboursBase):
    """The nearest rows of a matrix; scikit-learn's ``NearestNeighbors`` with a certificate.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbours `kneighbors` returns by default.
    metric : str, default="euclidean"
        ``"euclidean"`` or ``"l2"``; ``"sqeuclidean"``; ``"manhattan"``, ``"l1"`` or ``"cityblock"``;
        ``"cosine"``, which is 1 minus the cosine; or ``"negative_inner_product"``, the inner product times
        -1, so that the largest one comes first as the smallest "distance".
    epsilon : float, default=0.0
        Allowed loss in distances: how much farther than the true k-th neighbour the k-th returned one
        may be. 0 asks for the exact neighbours. Euclidean distances are searched by their squares, where epsilon²
        promises epsilon; that is strict where distances are large, and ``"sqeuclidean"`` takes an epsilon in squares.
    delta : float, default=0.05
        Allowed probability of missing that, for each row of X.
    bounds : (low, high), "unit", "scan", sureshot.Bounds or None, default=None
        What is known of the fitted rows, as in `sureshot.top_k`; ``"scan"`` reads them once in `fit`. Distances
        need none. Cosines need the norms: with ``"scan"`` they are found once, else in every call.
    n_jobs : int, default=None
        Threads. None: all, as in scikit-learn's brute force; -1 likewise.
    random_state : int, RandomState or None, default=None
        Seeds the random orders in which coordinates are read.

    Attributes
    ----------
    certificates_ : tuple of sureshot.Certificate
        What the last call promised, one for each row of its X, with epsilon in distances.
    effective_metric_ : str
        The metric, by its first name above.
    effective_metric_params_ : dict
        Empty.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has any.
    n_samples_fit_ : int
        Number of fitted rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(1_000, 50))
    >>> neighbours = NearestNeighbors(n_neighbors=3, metric="cosine").fit(rows)
    >>> distances, indices = neighbours.kneighbors(2 * rows[:1])
    >>> int(indices[0, 0]), round(float(distances[0, 0]), 6)
    (0, 0.0)
    """

    def fit(self, X: Any, y: Any = None) -> NearestNeighbors:  # noqa: ARG002 - scikit-learn's signature
        """Keep a reference to the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows to search: an array or a memory map, which is not copied if its type is one that
            `sureshot.top_k` reads.
        y : Ignored
            For pipelines.

        Returns
        -------
        NearestNeighbors
            The estimator itself.
        """
        self._keep(X)
        return self
