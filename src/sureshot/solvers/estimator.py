"""`OrthogonalMatchingPursuit`: a linear model with few coefficients, as scikit-learn has it."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from sureshot.solvers.path import Path
from sureshot.solvers.pursuit import CLAIM, error_limit, most_atoms, pursue

# The types that a search reads as they are; others become the first of these.
READ_AS_THEY_ARE = [np.dtype(name) for name in ("float64", "float32", "float16")]
SEEDS = 2**31 - 1


class OrthogonalMatchingPursuit(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """A linear model with few nonzero coefficients; scikit-learn's class of this name, with a certificate.

    Parameters
    ----------
    n_nonzero_coefs : int, default=None
        How many coefficients are not 0. None: a tenth of the features. Ignored if `tol` is given.
    tol : float, default=None
        Stop when the squared norm of the residual is at most this.
    fit_intercept : bool, default=True
        Whether there is an intercept. X is not centred for it: only the chosen features are.
    delta : float, default=0.05
        Allowed probability that any step, for any target, takes another than the best feature.
    bounds : (low, high), "unit", "scan", sureshot.Bounds or None, default="scan"
        What is known of the features, as in `sureshot.top_k` for ``X.T``.
    n_jobs : int, default=None
        Threads. None: all.
    random_state : int, RandomState or None, default=None
        Seeds the random orders in which samples are read.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        The coefficients.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept.
    n_iter_ : int or list of int
        How many features were chosen, for each target.
    n_nonzero_coefs_ : int or None
        How many could be chosen; None if `tol` decided.
    certificate_ : sureshot.solvers.PathCertificate
        What is guaranteed about all steps for all targets.
    work_ : sureshot.Work
        What the searches cost.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features,)
        Their names, where X has any.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 500))
    >>> model = OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, 3 * X[:, 7] - X[:, 99] + 5)
    >>> np.flatnonzero(model.coef_).tolist(), round(model.intercept_, 6)
    ([7, 99], 5.0)
    """

    def __init__(
        self,
        *,
        n_nonzero_coefs: int | None = None,
        tol: float | None = None,
        fit_intercept: bool = True,
        delta: float = 0.05,
        bounds: Any = "scan",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.delta = delta
        self.bounds = bounds
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> OrthogonalMatchingPursuit:
        """Choose features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The features in columns; not copied if its type is float16, float32 or float64.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The targets.

        Returns
        -------
        OrthogonalMatchingPursuit
            The estimator itself.
        """
        X, y = validate_data(self, X, y, dtype=READ_AS_THEY_ARE, multi_output=True, y_numeric=True)
        targets = np.array(y, dtype=np.float64).reshape(len(X), -1)
        given = None if self.tol is not None else self.n_nonzero_coefs
        most = most_atoms(given, self.tol, X.shape[1])
        self.n_nonzero_coefs_ = None if self.tol is not None else most
        means = targets.mean(axis=0) if self.fit_intercept else np.zeros(targets.shape[1])
        centred = np.ascontiguousarray((targets - means).T)
        limits = [error_limit(target, self.tol) for target in centred]
        path = self._path(X.T, None if self.tol is not None else most * targets.shape[1])
        found = [
            pursue(path, target, most, limit, centre=bool(self.fit_intercept))
            for target, limit in zip(centred, limits, strict=True)
        ]
        coef = np.array([one.coef for one in found])
        # The means of the chosen features are all that the intercept needs.
        offsets = [
            float(X[:, one.support].mean(axis=0, dtype=np.float64) @ one.coef[one.support])
            for one in found
        ]
        intercept = means - offsets if self.fit_intercept else means
        steps = [len(one.support) for one in found]
        single = np.ndim(y) == 1
        self.coef_ = coef[0] if single else coef
        self.intercept_ = float(intercept[0]) if single else intercept
        self.n_iter_ = steps[0] if single else steps
        self.certificate_ = path.certificate(CLAIM.format(sum(steps)))
        self.work_ = path.work()
        return self

    def predict(self, X: Any) -> Any:
        """Return the prediction of the linear model for each row of X."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=READ_AS_THEY_ARE)
        return X @ self.coef_.T + self.intercept_

    def _path(self, atoms: Any, questions: int | None) -> Path:
        seed = int(check_random_state(self.random_state).randint(SEEDS))
        return Path(
            atoms,
            metric="abs-ip",
            delta=self.delta,
            questions=questions,
            bounds=self.bounds,
            method="betting",
            rng=seed,
            threads=None if self.n_jobs is None else int(effective_n_jobs(self.n_jobs)),
        )
