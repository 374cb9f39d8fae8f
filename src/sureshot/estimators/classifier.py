"""`KNeighborsClassifier`: the vote of the nearest rows."""

from __future__ import annotations

from typing import Any

from sklearn import neighbors
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from sureshot.estimators.vote import VotingBase


class KNeighborsClassifier(ClassifierMixin, VotingBase):
    """Classes by the vote of the nearest rows; scikit-learn's ``KNeighborsClassifier`` with certificates.

    The neighbours are found by `sureshot.top_k`; their votes are counted by scikit-learn.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        As in scikit-learn.
    metric, epsilon, delta, bounds, n_jobs, random_state
        As in `NearestNeighbors`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,), or a list of them
        The classes, of each output if there are several.
    outputs_2d_ : bool
        Whether y was a matrix.
    certificates_, effective_metric_, n_features_in_, feature_names_in_, n_samples_fit_
        As in `NearestNeighbors`.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.random.default_rng(0).normal(size=(200, 50))
    >>> classifier = KNeighborsClassifier(n_neighbors=3).fit(rows, rows[:, 0] > 0)
    >>> classifier.predict(rows[:3] * 0.9).tolist() == (rows[:3, 0] > 0).tolist()
    True
    """

    def fit(self, X: Any, y: Any) -> KNeighborsClassifier:
        """Keep a reference to the rows, and their classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows; see `NearestNeighbors.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their classes.

        Returns
        -------
        KNeighborsClassifier
            The estimator itself.
        """
        self._fit_vote(neighbors.KNeighborsClassifier, X, y)
        self.classes_ = self._voters.classes_
        self.outputs_2d_ = self._voters.outputs_2d_
        return self

    def predict(self, X: Any) -> Any:
        """Return the class of each row of X; None: of each fitted row by the vote of the others."""
        check_is_fitted(self)
        voters, graph = self._ask(X)
        return voters.predict(graph)

    def predict_proba(self, X: Any) -> Any:
        """Return the share of the votes that each class has for each row of X."""
        check_is_fitted(self)
        voters, graph = self._ask(X)
        return voters.predict_proba(graph)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
