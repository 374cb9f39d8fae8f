"""`KNeighborsRegressor`: the mean of the nearest rows."""

from __future__ import annotations

from typing import Any

from sklearn import neighbors
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from sureshot.estimators.vote import VotingBase


class KNeighborsRegressor(RegressorMixin, VotingBase):
    """Values by the mean of the nearest rows; scikit-learn's ``KNeighborsRegressor`` with certificates.

    The neighbours are found by `sureshot.top_k`; their mean is taken by scikit-learn.

    Parameters
    ----------
    n_neighbors : int, default=5
        Over how many rows the mean is taken.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        As in scikit-learn.
    metric, epsilon, delta, bounds, n_jobs, random_state
        As in `NearestNeighbors`.

    Attributes
    ----------
    certificates_, effective_metric_, n_features_in_, feature_names_in_, n_samples_fit_
        As in `NearestNeighbors`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 50))
    >>> regressor = KNeighborsRegressor(n_neighbors=1).fit(rows, rows[:, 0])
    >>> np.allclose(regressor.predict(rows[:3]), rows[:3, 0])
    True
    """

    def fit(self, X: Any, y: Any) -> KNeighborsRegressor:
        """Keep a reference to the rows, and their values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; see `NearestNeighbors.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their values.

        Returns
        -------
        KNeighborsRegressor
            The estimator itself.
        """
        self._fit_vote(neighbors.KNeighborsRegressor, X, y)
        return self

    def predict(self, X: Any) -> Any:
        """Return the value of each row of X; None: of each fitted row by the mean of the others."""
        check_is_fitted(self)
        voters, graph = self._ask(X)
        return voters.predict(graph)
