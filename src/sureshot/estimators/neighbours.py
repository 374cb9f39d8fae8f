"""What all estimators share: the rows, the checks, and the search for neighbours."""

from __future__ import annotations

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import assert_all_finite, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

import sureshot
from sureshot.estimators.last_call import LastCall
from sureshot.estimators.metrics import known_metric

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sureshot.estimators.metrics import Metric

# The types that a search reads as they are; others become the first of these.
READ_AS_THEY_ARE = [
    np.dtype(name) for name in ("float64", "float32", "float16", "int8", "uint8", "int16", "bool")
]
# A search takes queries of these types without a copy.
TAKEN_AS_THEY_ARE = (np.dtype(np.float32), np.dtype(np.float64))
# Of others so many numbers are copied at a time, 128 MB: the neighbours of all rows of a large matrix are
# asked for in one call.
COPIED_AT_ONCE = 1 << 24
SEEDS = 2**31 - 1
MODES = ("connectivity", "distance")


class NeighboursBase(BaseEstimator):
    """Keeps rows, and finds the nearest of them."""

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        metric: str = "euclidean",
        epsilon: float = 0.0,
        delta: float = 0.05,
        bounds: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.n_jobs = n_jobs
        self.random_state = random_state

    @property
    def certificates_(self) -> tuple[sureshot.Certificate, ...]:
        """What the last call promised: one `sureshot.Certificate` for each row of its X."""
        last: LastCall | None = vars(self).get("_last_call")
        if last is None or not last.results:
            message = f"{type(self).__name__} has no certificates_ before its first search"
            raise AttributeError(message)
        return last.certificates()

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest rows of the fitted data.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features), default=None
            Whose neighbours are wanted. None: those of each fitted row, which is then no neighbour of itself.
        n_neighbors : int, default=None
            How many; by default as many as the estimator was made with.
        return_distance : bool, default=True
            Whether distances are returned.

        Returns
        -------
        neigh_dist : ndarray of shape (n_queries, n_neighbors)
            Distances, smallest first; only if `return_distance`.
        neigh_ind : ndarray of shape (n_queries, n_neighbors)
            Rows of the fitted data.
        """
        check_is_fitted(self)
        wanted = self._wanted(n_neighbors)
        metric = known_metric(self.metric)
        if X is None:
            distances, indices = self._other_rows(wanted, metric)
        else:
            distances, indices = self._search(self._checked_queries(X), wanted, metric)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> csr_matrix:
        """Return the nearest rows of the fitted data as a sparse matrix.

        Parameters
        ----------
        X, n_neighbors
            As in `kneighbors`.
        mode : {"connectivity", "distance"}, default="connectivity"
            Whether an entry is 1 or the distance.

        Returns
        -------
        csr_matrix of shape (n_queries, n_samples_fit)
            The entries of a row are in the order of their distances.
        """
        if mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(map(repr, MODES))}; got {mode!r}")
        distances, indices = self.kneighbors(X, n_neighbors)
        values = distances if mode == "distance" else np.ones_like(distances)
        return self._graph(values, indices)

    def _graph(self, values: NDArray[np.float64], indices: NDArray[np.int64]) -> csr_matrix:
        """Return a sparse matrix with these values in these columns."""
        queries, each = indices.shape
        starts = np.arange(0, indices.size + 1, each)
        shape = queries, self.n_samples_fit_
        return csr_matrix((values.ravel(), indices.ravel(), starts), shape=shape)

    def _keep(self, X: Any, y: Any = "no_validation") -> Any:
        """Check parameters and data, keep a reference to the rows, and return y, checked."""
        self._wanted(None)
        metric = known_metric(self.metric)
        # Searches check these; here, so that a fit refuses them too.
        sureshot.top_k(np.zeros((1, 1)), [0.0], 1, epsilon=self.epsilon, delta=self.delta)
        _refuse_sparse(X, type(self).__name__)
        scans = isinstance(self.bounds, str) and self.bounds == "scan"
        # A scan finds values that are not finite, and one pass over the data is enough.
        checks = _checks(X, finite=not scans)
        if isinstance(y, str):
            X = validate_data(self, X, **checks)
        else:
            X, y = validate_data(self, X, y, multi_output=True, **checks)
        self.effective_metric_ = metric.name
        self.effective_metric_params_: dict[str, Any] = {}
        self.n_samples_fit_ = len(X)
        self._fit_X = X
        self._bounds = self._scanned(X) if scans else self.bounds
        self._last_call = LastCall()
        return y

    def _scanned(self, X: NDArray[Any]) -> sureshot.Bounds:
        try:
            return sureshot.scan(X, threads=self._threads())
        except ValueError:
            with np.errstate(all="ignore"):
                assert_all_finite(X, input_name="X")  # in scikit-learn's words
            raise

    def _checked_queries(self, X: Any) -> NDArray[Any]:
        _refuse_sparse(X, type(self).__name__)
        queries: NDArray[Any] = validate_data(self, X, reset=False, **_checks(X))
        return queries

    def _wanted(self, n_neighbors: Any) -> int:
        """Return how many neighbours are asked for."""
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        if isinstance(wanted, (bool, np.bool_)) or not isinstance(wanted, Integral):
            raise TypeError(f"n_neighbors must be an integer, got {wanted!r}")
        if wanted < 1:
            raise ValueError(f"n_neighbors must be at least 1, got {wanted}")
        return int(wanted)

    def _threads(self) -> int | None:
        return None if self.n_jobs is None else int(effective_n_jobs(self.n_jobs))

    def _other_rows(
        self, wanted: int, metric: Metric
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the neighbours of each fitted row, without itself."""
        if wanted >= self.n_samples_fit_:
            message = (
                f"Expected n_neighbors < n_samples_fit, but n_neighbors = {wanted}, "
                f"n_samples_fit = {self.n_samples_fit_}, n_samples = {self.n_samples_fit_}"
            )
            raise ValueError(message)
        # A row that the answer has further in front than the truth leaves a gap there, which costs as much
        # again; one that is its own nearest row cannot.
        factor = 1 if metric.own_nearest else 2
        distances, indices = self._search(self._fit_X, wanted + 1, metric, factor)
        others = indices != np.arange(len(indices))[:, None]
        # Rows that are not among their own neighbours, as copies of others may be: without the last one.
        others[others.all(axis=1), -1] = False
        shape = len(indices), wanted
        return distances[others].reshape(shape), indices[others].reshape(shape)

    def _search(
        self, queries: NDArray[Any], wanted: int, metric: Metric, factor: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        if wanted > self.n_samples_fit_:
            message = (
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {wanted}, "
                f"n_samples_fit = {self.n_samples_fit_}, n_samples = {len(queries)}"
            )
            raise ValueError(message)
        seed = int(check_random_state(self.random_state).randint(SEEDS))
        results = [
            sureshot.top_k(
                self._fit_X,
                some,
                wanted,
                metric=metric.searched,
                epsilon=(self.epsilon / factor) ** metric.power,
                delta=self.delta,
                bounds=self._bounds,
                rng=seed,
                threads=self._threads(),
            )
            for some in _pieces(queries)
        ]
        # In place: see there.
        last = self._last_call
        last.results, last.power, last.factor = results, metric.power, factor
        distances = metric.distances(np.concatenate([result.scores for result in results]))
        return distances, np.concatenate([result.indices for result in results])


def _checks(X: Any, *, finite: bool = True) -> dict[str, Any]:
    """Return what scikit-learn is to check of X: which types are not converted, and whether values are finite.

    It does not know bfloat16, of ml_dtypes; a search refuses values of it that are not finite when it meets them.
    """
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "name", "") == "bfloat16":
        return {"dtype": [*READ_AS_THEY_ARE, dtype], "ensure_all_finite": False}
    return {"dtype": READ_AS_THEY_ARE, "ensure_all_finite": finite}


def _pieces(queries: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield all queries at once, or so many at a time as may be copied."""
    if queries.dtype in TAKEN_AS_THEY_ARE and queries.flags.c_contiguous:
        yield queries
        return
    rows = max(1, COPIED_AT_ONCE // queries.shape[1])
    for start in range(0, len(queries), rows):
        yield queries[start : start + rows]


def _refuse_sparse(X: Any, name: str) -> None:
    if issparse(X):
        message = (
            f"{name} searches dense arrays, got a sparse matrix of shape {X.shape}; pass X.toarray() if "
            "that fits into memory, or use sklearn.neighbors, whose brute force takes sparse data"
        )
        raise TypeError(message)
