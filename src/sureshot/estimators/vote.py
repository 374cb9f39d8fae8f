"""Predictions from neighbours: scikit-learn's own, given the graph of the neighbours that were found."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, identity
from sklearn.base import MultiOutputMixin

from sureshot.estimators.metrics import known_metric
from sureshot.estimators.neighbours import NeighboursBase


class VotingBase(MultiOutputMixin, NeighboursBase):
    """Finds neighbours, and leaves their vote to an estimator of scikit-learn with ``metric="precomputed"``."""

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Any = "uniform",
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
        self.weights = weights

    def _fit_vote(self, voters: Any, X: Any, y: Any) -> None:
        """Keep the rows, and give their targets to the estimator that counts votes."""
        self._refuse_weights()
        y = self._keep(X, y)
        # It asks for a graph of the fitted rows, and never looks into it.
        graph = identity(self.n_samples_fit_, format="csr")
        self._voters = voters(metric="precomputed", weights=self.weights).fit(graph, y)

    def _ask(self, X: Any) -> tuple[Any, csr_matrix]:
        """Return who counts the votes, and the graph from X to the fitted rows."""
        self._refuse_weights()
        distances, indices = self.kneighbors(X)
        if not known_metric(self.metric).own_nearest:
            # Votes of equal weight need the neighbours alone, and a graph of distances has no negative ones.
            distances = np.ones_like(distances)
        # Of a copy, since predicting must not change the estimator.
        voters = copy.copy(self._voters).set_params(
            n_neighbors=indices.shape[1], weights=self.weights
        )
        return voters, self._graph(distances, indices)

    def _refuse_weights(self) -> None:
        weights = self.weights
        known = isinstance(weights, str) and weights in ("uniform", "distance")
        if not (known or weights is None or callable(weights)):
            message = f"weights must be 'uniform', 'distance', a function or None; got {weights!r}"
            raise ValueError(message)
        if weights not in ("uniform", None) and not known_metric(self.metric).own_nearest:
            message = (
                f"weights must be 'uniform' with metric={self.metric!r}, which is no distance to weigh by; "
                f"got {weights!r}"
            )
            raise ValueError(message)
