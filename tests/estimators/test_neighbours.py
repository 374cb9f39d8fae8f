"""The neighbours are those of scikit-learn's brute force, but for ranks that rounding swaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import neighbors
from sklearn.metrics import pairwise_distances

from sureshot.estimators import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)
from sureshot.estimators import neighbours as searching

if TYPE_CHECKING:
    from sureshot._types import Array, Floats, Ints

METRICS = ["euclidean", "l2", "sqeuclidean", "manhattan", "l1", "cityblock", "cosine"]
# A wrong neighbour is then a mistake, and no bad luck.
CERTAIN = 1e-12
# What scikit-learn's distances of float32 may be off by, of the largest.
ROUNDING = 1e-4


def true_distances(queries: Array, rows: Array, metric: str) -> Floats:
    """Return all distances, in float64."""
    queries, rows = queries.astype(np.float64), rows.astype(np.float64)
    if metric == "negative_inner_product":
        return np.asarray(-(queries @ rows.T))
    if metric in ("euclidean", "l2", "sqeuclidean"):
        # By differences: scikit-learn's own loses digits of small distances.
        squares = np.array([((rows - query) ** 2).sum(axis=1) for query in queries])
        return squares if metric == "sqeuclidean" else np.sqrt(squares)
    return np.asarray(pairwise_distances(queries, rows, metric=metric))


def assert_nearest(distances: Floats, indices: Ints, truth: Floats, rounding: float = 1e-9) -> None:
    """Fail unless these are the nearest rows; only ranks that rounding swaps are forgiven."""
    queries, k = indices.shape
    allowed = rounding * max(1.0, float(np.abs(truth).max()))
    for at in range(queries):
        assert len(set(indices[at].tolist())) == k
    np.testing.assert_allclose(
        distances, np.take_along_axis(truth, indices, axis=1), rtol=0, atol=allowed
    )
    np.testing.assert_allclose(distances, np.sort(truth, axis=1)[:, :k], rtol=0, atol=allowed)
    assert (np.diff(distances, axis=1) >= 0).all()


def test_a_wrong_neighbour_is_seen() -> None:
    truth = np.array([[1.0, 2.0, 3.0]])
    assert_nearest(np.array([[1.0, 2.0]]), np.array([[0, 1]]), truth)
    for distances, indices in [([1.0, 3.0], [0, 2]), ([1.0, 2.0], [1, 0]), ([1.0, 1.0], [0, 0])]:
        with pytest.raises(AssertionError):
            assert_nearest(np.array([distances]), np.array([indices]), truth)


@pytest.mark.parametrize("metric", [*METRICS, "negative_inner_product"])
@pytest.mark.parametrize("shape", [(97, 7), (300, 1_535)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.int64])
def test_neighbours_are_the_nearest(metric: str, shape: tuple[int, int], dtype: Any) -> None:
    rng = np.random.default_rng(0)
    rows = (9 * (rng.normal(size=shape) + rng.normal(size=(shape[0], 1)))).astype(dtype)
    queries = (9 * rng.normal(size=(13, shape[1])) + 9).astype(dtype)
    estimator = NearestNeighbors(n_neighbors=4, metric=metric, delta=CERTAIN, random_state=0)
    found = estimator.fit(rows).kneighbors(queries)
    assert (found[0].dtype, found[1].dtype) == (np.float64, np.int64)
    assert_nearest(found[0], found[1], true_distances(queries, rows, metric))
    np.testing.assert_array_equal(estimator.kneighbors(queries, return_distance=False), found[1])


@pytest.mark.parametrize("metric", METRICS)
def test_agrees_with_brute_force(metric: str) -> None:
    rng = np.random.default_rng(1)
    rows = rng.random((500, 784), dtype=np.float32)
    queries = rng.random((40, 784), dtype=np.float32)
    theirs = neighbors.NearestNeighbors(n_neighbors=10, metric=metric, algorithm="brute").fit(rows)
    ours = NearestNeighbors(n_neighbors=10, metric=metric, delta=CERTAIN).fit(rows)
    distances, indices = ours.kneighbors(queries)
    expected, places = theirs.kneighbors(queries)
    np.testing.assert_allclose(distances, expected, rtol=ROUNDING, atol=ROUNDING)
    # Where the next distance is farther away than rounding carries, the same row stands.
    gaps = np.diff(expected, axis=1) > 2 * ROUNDING * expected[:, 1:]
    clear = np.pad(gaps, ((0, 0), (1, 0)), constant_values=True) & np.pad(
        gaps, ((0, 0), (0, 1)), constant_values=False
    )
    assert clear.any()
    np.testing.assert_array_equal(indices[clear], places[clear])


@pytest.mark.parametrize("metric", [*METRICS, "negative_inner_product"])
def test_no_row_is_its_own_neighbour(metric: str) -> None:
    rows = np.random.default_rng(2).normal(size=(80, 30)) + 1
    estimator = NearestNeighbors(n_neighbors=5, metric=metric, delta=CERTAIN).fit(rows)
    distances, indices = estimator.kneighbors()
    assert (indices != np.arange(80)[:, None]).all()
    truth = true_distances(rows, rows, metric)
    np.fill_diagonal(truth, np.inf)
    largest = truth[np.isfinite(truth)].max()
    assert_nearest(distances, indices, np.where(np.isfinite(truth), truth, 10 * largest))


def test_copies_of_a_row_are_its_neighbours() -> None:
    rows = np.repeat(np.random.default_rng(3).normal(size=(4, 6)), 9, axis=0)
    distances, indices = NearestNeighbors(n_neighbors=3).fit(rows).kneighbors()
    assert (distances == 0).all()
    assert (indices != np.arange(36)[:, None]).all()
    assert (indices // 9 == np.arange(36)[:, None] // 9).all()
    assert all(len(set(line)) == 3 for line in indices.tolist())


def test_queries_that_are_copied_are_copied_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(4).normal(size=(50, 1_200)).astype(np.float16)
    estimator = NearestNeighbors(random_state=0).fit(rows)
    whole = estimator.kneighbors()
    monkeypatch.setattr(searching, "COPIED_AT_ONCE", 7 * 1_200)
    pieces = estimator.kneighbors()
    assert len(estimator._last_call.results) == 8
    assert len(estimator.certificates_) == 50
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_graphs_are_those_of_scikit_learn(mode: str) -> None:
    rows = np.random.default_rng(5).normal(size=(90, 20))
    ours = NearestNeighbors(n_neighbors=6).fit(rows)
    theirs = neighbors.NearestNeighbors(n_neighbors=6).fit(rows)
    for X in (None, rows[:11] + 0.1):
        mine, its = ours.kneighbors_graph(X, mode=mode), theirs.kneighbors_graph(X, mode=mode)
        assert mine.format == "csr"
        assert mine.shape == its.shape
        np.testing.assert_array_equal(mine.indices, its.indices)
        np.testing.assert_allclose(mine.toarray(), its.toarray(), atol=1e-9)
    assert ours.kneighbors_graph(rows[:2], 3).nnz == 6


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
def test_transformers_agree(mode: str) -> None:
    rows = np.random.default_rng(6).normal(size=(90, 20))
    ours = KNeighborsTransformer(mode=mode, n_neighbors=6)
    theirs = neighbors.KNeighborsTransformer(mode=mode, n_neighbors=6)
    mine, its = ours.fit_transform(rows), theirs.fit_transform(rows)
    assert mine.nnz == its.nnz == 90 * (7 if mode == "distance" else 6)
    np.testing.assert_array_equal(mine.indices, its.indices)
    np.testing.assert_allclose(mine.toarray(), its.toarray(), atol=1e-6)
    # Each row is its own neighbour, at distance 0, which is an entry.
    assert mine.indices.reshape(90, -1)[:, 0].tolist() == list(range(90))
    assert ours.get_feature_names_out()[-1] == "kneighborstransformer89"


@pytest.mark.parametrize("weights", ["uniform", "distance", None, lambda d: np.exp(-d)])
@pytest.mark.parametrize("outputs", [1, 2])
def test_predictions_agree(weights: Any, outputs: int) -> None:
    rng = np.random.default_rng(7)
    rows, queries = rng.normal(size=(120, 15)), rng.normal(size=(25, 15))
    values = rng.normal(size=(120, outputs)).squeeze()
    settings = {"n_neighbors": 7, "weights": weights}
    ours: Any = KNeighborsRegressor(**settings).fit(rows, values)
    theirs: Any = neighbors.KNeighborsRegressor(**settings).fit(rows, values)
    for X in (queries, rows, None):
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-9)
    assert ours.score(queries, values[:25]) == pytest.approx(theirs.score(queries, values[:25]))
    classes = np.array(["a", "b", "c"])[(values > 0).astype(int) + (values > 1)]
    ours = KNeighborsClassifier(**settings).fit(rows, classes)
    theirs = neighbors.KNeighborsClassifier(**settings).fit(rows, classes)
    for X in (queries, rows, None):
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_array_equal(np.array(ours.classes_), np.array(theirs.classes_))
    # Parameters that change between fit and prediction count, as in scikit-learn.
    ours.set_params(n_neighbors=1, weights="uniform")
    theirs.set_params(n_neighbors=1, weights="uniform")
    np.testing.assert_array_equal(ours.predict(queries), theirs.predict(queries))


def test_inner_products_vote_with_equal_weights() -> None:
    rng = np.random.default_rng(8)
    rows, queries = rng.normal(size=(60, 9)), rng.normal(size=(10, 9))
    labels = np.arange(60) % 2
    classifier = KNeighborsClassifier(3, metric="negative_inner_product").fit(rows, labels)
    best = np.argsort(-(queries @ rows.T), axis=1)[:, :3]
    np.testing.assert_array_equal(classifier.predict(queries), labels[best].sum(axis=1) > 1)
