"""`KNeighborsTransformer`: rows become a sparse graph of their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sureshot.estimators.metrics import known_metric
from sureshot.estimators.neighbours import MODES, NeighboursBase

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighboursBase):
    """Rows as a graph of their neighbours, for estimators that take ``metric="precomputed"``.

    scikit-learn's ``KNeighborsTransformer`` with a certificate.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Whether the entries are distances or ones. With distances there is one neighbour more than
        `n_neighbors`, since a row is its own nearest one.
    n_neighbors, metric, epsilon, delta, bounds, n_jobs, random_state
        As in `NearestNeighbors`; but ``"negative_inner_product"`` only with ``mode="connectivity"``, since no
        graph of distances has negative ones.

    Attributes
    ----------
    certificates_, effective_metric_, n_features_in_, feature_names_in_, n_samples_fit_
        As in `NearestNeighbors`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 50))
    >>> graph = KNeighborsTransformer(n_neighbors=4).fit_transform(rows)
    >>> graph.shape, graph.nnz
    ((200, 200), 1000)
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        metric: str = "euclidean",
        epsilon: float = 0.0,
        delta: float = 0.05,
        bounds: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            n_neighbors=n_neighbors,
            metric=metric,
            epsilon=epsilon,
            delta=delta,
            bounds=bounds,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.mode = mode

    def fit(self, X: Any, y: Any = None) -> KNeighborsTransformer:  # noqa: ARG002 - scikit-learn's signature
        """Keep a reference to the rows; see `NearestNeighbors.fit`."""
        if self.mode not in MODES:
            known = ", ".join(map(repr, MODES))
            raise ValueError(f"mode must be one of {known}; got {self.mode!r}")
        if self.mode == "distance" and not known_metric(self.metric).own_nearest:
            message = (
                f"mode='distance' needs a distance, got metric={self.metric!r}, whose values can be negative; "
                "use mode='connectivity'"
            )
            raise ValueError(message)
        self._keep(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def transform(self, X: Any) -> csr_matrix:
        """Return the graph from these rows to the fitted ones.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
            The rows; among the fitted ones each is its own neighbour.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit)
            The graph.
        """
        check_is_fitted(self)
        more = int(self.mode == "distance")
        return self.kneighbors_graph(X, self._wanted(None) + more, mode=self.mode)
