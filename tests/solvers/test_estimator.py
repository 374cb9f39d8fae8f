"""`OrthogonalMatchingPursuit` in the place of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

linear_model = pytest.importorskip(
    "sklearn.linear_model", reason="the estimator needs the extra [sklearn]"
)

from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sureshot.solvers import OrthogonalMatchingPursuit


# A tenth of few features, and signals that one of them explains: the checks of scikit-learn do not ask for more.
@pytest.mark.filterwarnings("ignore:orthogonal matching pursuit ended:RuntimeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks([OrthogonalMatchingPursuit()])  # type: ignore[untyped-decorator]
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("settings", [{"n_nonzero_coefs": 6}, {"tol": 30.0}, {}])
def test_agrees_with_scikit_learn(intercept: bool, targets: int | None, settings: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 80)) + 2
    shape = (80,) if targets is None else (80, targets)
    y = X @ (rng.normal(size=shape) * (rng.random(shape) < 0.1)) + 0.1 * rng.normal(
        size=(200, *shape[1:])
    )
    ours = OrthogonalMatchingPursuit(fit_intercept=intercept, random_state=0, **settings).fit(X, y)
    theirs = linear_model.OrthogonalMatchingPursuit(
        fit_intercept=intercept, precompute=False, **settings
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-7)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-7)
    assert np.shape(ours.coef_) == np.shape(theirs.coef_)
    assert (
        np.atleast_1d(ours.n_iter_).tolist()
        == np.count_nonzero(np.atleast_2d(ours.coef_), axis=1).tolist()
    )
    assert ours.n_nonzero_coefs_ == theirs.n_nonzero_coefs_
    assert ours.certificate_.unconditional
    assert ours.certificate_.delta <= 0.05


def test_ends_where_nothing_is_left() -> None:
    X = np.random.default_rng(2).normal(size=(60, 40))
    model = OrthogonalMatchingPursuit(n_nonzero_coefs=9).fit(X, np.stack([X[:, 3], X[:, 4] + 7], 1))
    assert model.n_iter_ == [1, 1]
    np.testing.assert_allclose(model.intercept_, [0, 7], atol=1e-12)


def test_in_a_grid_search() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 60))
    y = 3 * X[:, 5] - 2 * X[:, 17] + X[:, 40] + 0.05 * rng.normal(size=150)
    pipeline = make_pipeline(StandardScaler(), OrthogonalMatchingPursuit())
    search = GridSearchCV(pipeline, {"orthogonalmatchingpursuit__n_nonzero_coefs": [1, 3]}, cv=3)
    assert search.fit(X, y).best_params_ == {"orthogonalmatchingpursuit__n_nonzero_coefs": 3}
    assert np.flatnonzero(search.best_estimator_[-1].coef_).tolist() == [5, 17, 40]


def test_bad_input() -> None:
    X, y = np.eye(5), np.arange(5.0)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"n_nonzero_coefs": 6}, "at most the number of atoms, 5, got 6"),
        ({"n_nonzero_coefs": 0}, "n_nonzero_coefs must be at least 1, got 0"),
        ({"tol": -1.0}, "tol must be finite and at least 0, got -1"),
        ({"delta": 2.0}, "delta must lie strictly between 0 and 1, got"),
    ]
    for settings, message in wrong:
        with pytest.raises(ValueError, match=message):
            OrthogonalMatchingPursuit(**settings).fit(X, y)
