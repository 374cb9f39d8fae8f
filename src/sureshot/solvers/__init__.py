"""Sparse solvers that ask for the best atom of a dictionary at every step, and get it from `sureshot.top_k`.

Matching pursuit, orthogonal matching pursuit and Frank–Wolfe usually multiply the whole dictionary at each step. Here
each step reads only the numbers that it needs, without an index, and the whole path has one certificate. See
``docs/solvers.md``.

Examples
--------
>>> import numpy as np
>>> rng = np.random.default_rng(0)
>>> dictionary = rng.normal(size=(300, 1_000)) / np.sqrt(300)  # atoms in columns
>>> signal = dictionary[:, [3, 50, 700]] @ [1.0, -2.0, 0.5]
>>> found = orthogonal_matching_pursuit(dictionary, signal, n_nonzero_coefs=3, rng=0)
>>> found.support.tolist()
[50, 3, 700]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sureshot.solvers.frank_wolfe import FrankWolfe, frank_wolfe
from sureshot.solvers.objective import Objective, Quadratic
from sureshot.solvers.oracle import Vertex, linear_minimization_oracle
from sureshot.solvers.path import PathCertificate
from sureshot.solvers.pursuit import Pursuit, matching_pursuit, orthogonal_matching_pursuit

if TYPE_CHECKING:
    from sureshot.solvers.estimator import OrthogonalMatchingPursuit

__all__ = [
    "FrankWolfe",
    "Objective",
    "OrthogonalMatchingPursuit",
    "PathCertificate",
    "Pursuit",
    "Quadratic",
    "Vertex",
    "frank_wolfe",
    "linear_minimization_oracle",
    "matching_pursuit",
    "orthogonal_matching_pursuit",
]


def __getattr__(name: str) -> Any:
    # The estimator alone needs scikit-learn.
    if name != "OrthogonalMatchingPursuit":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from sureshot.solvers.estimator import OrthogonalMatchingPursuit  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message = f"{name} needs scikit-learn: pip install 'sureshot[sklearn]'"
        raise ModuleNotFoundError(message, name=error.name) from error
    return OrthogonalMatchingPursuit
