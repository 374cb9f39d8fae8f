"""Pipelines of scikit-learn with our neighbours in them give what they give with its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import neighbors
from sklearn.cluster import DBSCAN, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.manifold import TSNE, Isomap
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from sureshot.estimators import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array


@pytest.fixture(scope="module")
def blobs() -> tuple[Array, Array]:
    rows, labels = make_blobs(n_samples=120, n_features=40, centers=3, random_state=0)
    return rows.astype(np.float32), labels


CONSUMERS: dict[str, Callable[[], Any]] = {
    "DBSCAN": lambda: DBSCAN(metric="precomputed", eps=12.0, min_samples=4),
    "Isomap": lambda: Isomap(metric="precomputed", n_neighbors=55, n_components=2),
    "LocalOutlierFactor": lambda: LocalOutlierFactor(metric="precomputed", n_neighbors=20),
    "KNeighborsClassifier": lambda: neighbors.KNeighborsClassifier(10, metric="precomputed"),
    "KNeighborsRegressor": lambda: neighbors.KNeighborsRegressor(10, metric="precomputed"),
    "TSNE": lambda: TSNE(
        metric="precomputed", init="random", perplexity=8, max_iter=260, random_state=0
    ),
}


def result_of(pipeline: Any, rows: Array, labels: Array) -> Array:
    last = pipeline[-1]
    if hasattr(last, "fit_predict"):
        return np.asarray(pipeline.fit_predict(rows))
    if hasattr(last, "fit_transform"):
        return np.asarray(pipeline.fit_transform(rows))
    return np.asarray(pipeline.fit(rows, labels).predict(rows[:30] + 0.01))


@pytest.mark.parametrize("name", CONSUMERS)
def test_precomputed_graphs(name: str, blobs: tuple[Array, Array]) -> None:
    rows, labels = blobs
    # More neighbours than a blob has rows, so that the graph is connected.
    settings: dict[str, Any] = {"n_neighbors": 60 if name == "Isomap" else 25}
    ours = make_pipeline(KNeighborsTransformer(**settings), CONSUMERS[name]())
    theirs = make_pipeline(
        neighbors.KNeighborsTransformer(algorithm="brute", **settings), CONSUMERS[name]()
    )
    with threadpool_limits(1):  # two threads of TSNE that share a core wait for each other
        mine = result_of(ours, rows, labels)
    if name == "TSNE":
        # It amplifies the last digits of distances; what counts is that blobs stay together.
        assert mine.shape == (120, 2)
        near = neighbors.NearestNeighbors(n_neighbors=3).fit(mine).kneighbors()[1]
        assert (labels[near] == labels[:, None]).mean() > 0.95
    else:
        its = result_of(theirs, rows, labels)
        np.testing.assert_allclose(np.abs(mine), np.abs(its), rtol=1e-3, atol=1e-3)


def test_connectivity_for_spectral_clustering(blobs: tuple[Array, Array]) -> None:
    rows, labels = blobs
    clustering = SpectralClustering(
        n_clusters=3, affinity="precomputed_nearest_neighbors", n_neighbors=50, random_state=0
    )
    found = make_pipeline(KNeighborsTransformer(n_neighbors=90), clustering).fit_predict(rows)
    for group in range(3):
        assert len(set(labels[found == group].tolist())) == 1


def test_knn_as_umap_takes_it(blobs: tuple[Array, Array]) -> None:
    """UMAP's ``precomputed_knn`` is (indices, distances), each row its own first neighbour."""
    rows, _ = blobs
    distances, indices = NearestNeighbors(n_neighbors=15).fit(rows).kneighbors(rows)
    assert indices.shape == distances.shape == (120, 15)
    assert indices[:, 0].tolist() == list(range(120))
    assert (distances[:, 0] == 0).all()
    assert (np.diff(distances, axis=1) >= 0).all()


@pytest.mark.filterwarnings("ignore")  # of numba, and that new rows cannot be placed
def test_umap_takes_neighbours_and_the_transformer(blobs: tuple[Array, Array]) -> None:
    umap: Any = pytest.importorskip("umap", reason="umap-learn is not installed: nox -s umap")
    rows, _ = blobs
    distances, indices = NearestNeighbors(n_neighbors=15).fit(rows).kneighbors(rows)
    graph = KNeighborsTransformer(n_neighbors=14).fit_transform(rows)
    shape = (len(rows), 15)
    own = umap.UMAP(n_neighbors=15, n_epochs=1, random_state=0).fit(rows)
    for pair in (
        (indices, distances),
        (graph.indices.reshape(shape), graph.data.reshape(shape)),
    ):
        ours = umap.UMAP(precomputed_knn=pair, n_neighbors=15, n_epochs=1, random_state=0)
        assert abs(ours.fit(rows).graph_ - own.graph_).max() < 1e-3


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
def test_grid_search(kind: Any, blobs: tuple[Array, Array]) -> None:
    rows, labels = blobs
    pipeline = make_pipeline(StandardScaler(), kind())
    name = kind.__name__.lower()
    grid = {f"{name}__n_neighbors": [1, 5], f"{name}__metric": ["euclidean", "manhattan", "cosine"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(rows, labels)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.9
    theirs = neighbors.KNeighborsClassifier if kind is KNeighborsClassifier else None
    if theirs is not None:
        mine = cross_val_score(kind(3), rows, labels, cv=4)
        np.testing.assert_allclose(mine, cross_val_score(theirs(3), rows, labels, cv=4))


def test_set_output(blobs: tuple[Array, Array]) -> None:
    pytest.importorskip("pandas", reason="the output that is set is a data frame")
    rows, labels = blobs
    scaled = make_pipeline(StandardScaler(), KNeighborsClassifier(3)).set_output(transform="pandas")
    assert scaled.fit(rows, labels).score(rows, labels) > 0.9
    assert scaled[-1].feature_names_in_[0] == "x0"
    # A graph is sparse, which no data frame holds: scikit-learn says so of its own transformer, too.
    graph = KNeighborsTransformer().fit(rows).set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse"):
        graph.transform(rows)
    assert graph.set_output(transform="default").transform(rows).format == "csr"
