"""Nearest neighbours as scikit-learn has them, found by `sureshot.top_k`, with certificates.

The classes have the names, parameters, methods and attributes of scikit-learn's, so that they take their
place in pipelines. Each adds `epsilon`, `delta` and `bounds`, and `certificates_`: what the last call
promised. See ``docs/estimators.md``.

Examples
--------
>>> import numpy as np
>>> rows = np.random.default_rng(0).normal(size=(1_000, 50))
>>> neighbours = NearestNeighbors(n_neighbors=2).fit(rows)
>>> distances, indices = neighbours.kneighbors(rows[[3, 7]])
>>> indices[:, 0].tolist(), neighbours.certificates_[0].unconditional
([3, 7], True)
"""

from __future__ import annotations

try:
    import sklearn  # noqa: F401 - only to say what to install
except ModuleNotFoundError as error:
    if error.name != "sklearn":
        raise
    message = "sureshot.estimators needs scikit-learn: pip install 'sureshot[sklearn]'"
    raise ModuleNotFoundError(message, name="sklearn") from error

from sureshot.estimators.classifier import KNeighborsClassifier
from sureshot.estimators.nearest import NearestNeighbors
from sureshot.estimators.regressor import KNeighborsRegressor
from sureshot.estimators.transformer import KNeighborsTransformer

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "NearestNeighbors",
]
