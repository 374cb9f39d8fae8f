"""Bad input is refused with what was expected and what came."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_matrix
from sklearn.exceptions import NotFittedError

from sureshot.estimators import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)

ROWS = np.random.default_rng(0).normal(size=(30, 8))
LABELS = np.arange(30) % 3
EVERY = [NearestNeighbors, KNeighborsTransformer, KNeighborsClassifier, KNeighborsRegressor]


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1, got 0"),
        ({"n_neighbors": 2.5}, TypeError, "n_neighbors must be an integer, got 2.5"),
        ({"n_neighbors": True}, TypeError, "n_neighbors must be an integer, got True"),
        ({"metric": "chebyshev"}, ValueError, "metric must be one of 'euclidean', .* got 'cheb"),
        ({"metric": "ip"}, ValueError, "negative_inner_product is the inner product times -1"),
        ({"metric": len}, ValueError, "metric must be one of"),
        ({"epsilon": -1.0}, ValueError, "epsilon must be at least 0, got -1"),
        ({"epsilon": "much"}, TypeError, "epsilon must be a number"),
        ({"delta": 0.0}, ValueError, "delta must lie strictly between 0 and 1, got 0"),
    ],
)
def test_parameters(kind: Any, settings: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        kind(**settings).fit(ROWS, LABELS)


@pytest.mark.parametrize("kind", EVERY)
def test_sparse_input(kind: Any) -> None:
    message = r"searches dense arrays, got a sparse matrix of shape \(30, 8\); pass X.toarray\(\)"
    for X in (csr_matrix(ROWS), csc_array(ROWS)):
        with pytest.raises(TypeError, match=message):
            kind().fit(X, LABELS)
        with pytest.raises(TypeError, match="searches dense arrays"):
            kind().fit(ROWS, LABELS).kneighbors(X)


@pytest.mark.parametrize("kind", EVERY)
def test_searches(kind: Any) -> None:
    with pytest.raises(NotFittedError):
        kind().kneighbors(ROWS)
    estimator = kind().fit(ROWS, LABELS)
    for arguments, error, message in [
        ((ROWS[:, :5],), ValueError, "X has 5 features, but .* is expecting 8 features"),
        ((ROWS, 31), ValueError, "n_neighbors <= n_samples_fit, but n_neighbors = 31"),
        ((None, 30), ValueError, "n_neighbors < n_samples_fit, but n_neighbors = 30"),
        ((ROWS, 0), ValueError, "n_neighbors must be at least 1, got 0"),
        ((ROWS, 1.5), TypeError, "n_neighbors must be an integer, got 1.5"),
        ((ROWS * np.nan,), ValueError, "NaN"),
        ((ROWS[0],), ValueError, "2D array, got 1D array"),
    ]:
        with pytest.raises(error, match=message):
            estimator.kneighbors(*arguments)
    with pytest.raises(ValueError, match="mode must be one of 'connectivity', 'distance'; got 'x'"):
        estimator.kneighbors_graph(mode="x")


def test_values_that_are_not_finite() -> None:
    wrong = ROWS.copy()
    wrong[3, 4] = np.inf
    for bounds in (None, "scan"):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            NearestNeighbors(bounds=bounds).fit(wrong)
    with pytest.raises(ValueError, match=r"data row \d+ holds .* too large for a norm"):
        NearestNeighbors(bounds="scan").fit(ROWS / np.abs(ROWS).max() * 1.7e308)


def test_cosines_of_rows_without_a_direction() -> None:
    with pytest.raises(ValueError, match="needs a query that is not all zeros"):
        NearestNeighbors(metric="cosine").fit(ROWS).kneighbors(0 * ROWS)
    with pytest.raises(ValueError, match="data row 2 has norm 0"):
        NearestNeighbors(metric="cosine").fit(ROWS * (np.arange(30) != 2)[:, None]).kneighbors(ROWS)


def test_of_one_estimator() -> None:
    with pytest.raises(ValueError, match=r"mode must be one of .*; got 'graph'"):
        KNeighborsTransformer(mode="graph").fit(ROWS)
    with pytest.raises(ValueError, match="needs a distance, got metric='negative_inner_product'"):
        KNeighborsTransformer(metric="negative_inner_product").fit(ROWS)
    for kind in (KNeighborsClassifier, KNeighborsRegressor):
        with pytest.raises(ValueError, match=r"weights must be 'uniform', .*; got 'none'"):
            kind(weights="none").fit(ROWS, LABELS)
        with pytest.raises(ValueError, match="weights must be 'uniform' with metric='negative_in"):
            kind(weights="distance", metric="negative_inner_product").fit(ROWS, LABELS)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            kind().fit(ROWS, LABELS[:-1])
