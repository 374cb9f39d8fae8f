"""What scikit-learn asks of every estimator, and what only comes with this library."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import sureshot
from sureshot.estimators import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    KNeighborsTransformer,
    NearestNeighbors,
)

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array

EVERY = [NearestNeighbors, KNeighborsTransformer, KNeighborsClassifier, KNeighborsRegressor]
EVERY_METRIC = ["euclidean", "sqeuclidean", "manhattan", "cosine", "negative_inner_product"]


@pytest.fixture(scope="module")
def rows() -> Array:
    return np.random.default_rng(0).normal(size=(60, 12)).astype(np.float32)


def fitted(estimator: Any, rows: Array) -> Any:
    return estimator.fit(rows, np.arange(len(rows)) % 3)


# scikit-learn warns of what it does not check: array API without SCIPY_ARRAY_API, absent polars.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        *(kind() for kind in EVERY),
        NearestNeighbors(metric="manhattan", bounds="scan"),
        KNeighborsTransformer(mode="connectivity"),
        KNeighborsClassifier(weights="distance"),
        KNeighborsRegressor(weights="distance", metric="l2"),
    ]
)
def test_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("kind", EVERY)
def test_a_fit_keeps_a_reference(kind: Any, rows: Array, tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    halves = [rows.astype(kind) for kind in ("float16", "bfloat16")]
    for order in (rows, np.asfortranarray(rows), rows[:, ::2], *halves, mapped):
        estimator = fitted(kind(), order)
        assert np.shares_memory(estimator._fit_X, order)
        assert estimator._fit_X.strides == order.strides


def test_a_fit_reads_nothing_if_values_are_said_to_be_finite(rows: Array) -> None:
    wrong = rows.copy()
    wrong[3, 4] = np.nan
    with config_context(assume_finite=True):
        assert np.shares_memory(NearestNeighbors().fit(wrong)._fit_X, wrong)


def test_a_fit_searches_nothing(rows: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, ...]] = []
    scanned: list[tuple[int, ...]] = []
    search, scan = sureshot.top_k, sureshot.scan

    def counted(data: Array, *more: Any, **options: Any) -> sureshot.TopK:
        asked.append(data.shape)
        return search(data, *more, **options)

    def scanning(data: Array, **options: Any) -> sureshot.Bounds:
        scanned.append(data.shape)
        return scan(data, **options)

    monkeypatch.setattr(sureshot, "top_k", counted)
    monkeypatch.setattr(sureshot, "scan", scanning)
    NearestNeighbors().fit(rows)
    # Of a single number, which checks epsilon and delta.
    assert (asked, scanned) == ([(1, 1)], [])
    estimator = NearestNeighbors(bounds="scan").fit(rows)
    assert scanned == [rows.shape]
    estimator.kneighbors(rows)
    estimator.kneighbors()
    assert scanned == [rows.shape]
    # All queries in one call each.
    assert asked[2:] == [rows.shape] * 2


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("metric", EVERY_METRIC)
def test_clones_copies_and_pickles_search_alike(kind: Any, metric: str, rows: Array) -> None:
    settings = {"mode": "connectivity"} if kind is KNeighborsTransformer else {}
    estimator = fitted(
        kind(n_neighbors=3, metric=metric, epsilon=0.5, random_state=3, **settings), rows
    )
    before = estimator.kneighbors()
    again = pickle.loads(pickle.dumps(estimator))
    # The promise of the last call goes with it.
    assert again.certificates_ == estimator.certificates_
    twin = clone(estimator)
    assert twin.get_params() == estimator.get_params()
    assert not hasattr(twin, "certificates_")
    for other in (again, copy.deepcopy(estimator), fitted(twin, rows)):
        for mine, its in zip(before, other.kneighbors(), strict=True):
            np.testing.assert_array_equal(mine, its)


def test_bounds_are_cloned(rows: Array) -> None:
    bounds = sureshot.scan(rows)
    twin = clone(NearestNeighbors(metric="cosine", bounds=bounds)).fit(rows)
    assert twin.kneighbors()[0].shape == (60, 5)


@pytest.mark.parametrize("kind", EVERY)
def test_certificates_are_those_of_the_last_call(kind: Any, rows: Array) -> None:
    estimator = fitted(kind(delta=0.01), rows)
    with pytest.raises(AttributeError, match="no certificates_ before its first search"):
        _ = estimator.certificates_
    estimator.kneighbors(rows[:7])
    assert len(estimator.certificates_) == 7
    assert all(isinstance(one, sureshot.Certificate) for one in estimator.certificates_)
    assert all(one.unconditional for one in estimator.certificates_)
    getattr(estimator, "transform" if kind is KNeighborsTransformer else "kneighbors")(rows)
    assert len(estimator.certificates_) == 60
    fitted(estimator, rows)
    assert not hasattr(estimator, "certificates_")


def test_certificates_state_the_loss_in_distances() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(40, 1_500)) + 10 * rng.normal(size=(40, 1))
    # The first query by cosine finds the norms, and so the exact answer: scan, so that all are raced.
    for metric in EVERY_METRIC:
        estimator = NearestNeighbors(metric=metric, epsilon=0.25, bounds="scan", random_state=0)
        estimator.fit(rows).kneighbors(rows[:3])
        losses = [one.epsilon for one in estimator.certificates_ if not one.exact]
        assert losses, metric
        assert losses == pytest.approx([0.25] * len(losses))
        estimator.kneighbors()
        losses = [one.epsilon for one in estimator.certificates_ if not one.exact]
        assert losses == pytest.approx([0.25] * len(losses))


def test_attributes(rows: Array) -> None:
    pandas = pytest.importorskip("pandas", reason="names of features come with data frames")
    names = [f"feature {at}" for at in range(rows.shape[1])]
    frame = pandas.DataFrame(rows, columns=names)
    estimator = NearestNeighbors(metric="l1").fit(frame)
    assert estimator.feature_names_in_.tolist() == names
    assert (estimator.n_features_in_, estimator.n_samples_fit_) == (12, 60)
    assert (estimator.effective_metric_, estimator.effective_metric_params_) == ("manhattan", {})
    assert NearestNeighbors(metric="l2").fit(rows).effective_metric_ == "euclidean"


@pytest.mark.parametrize("random_state", [7, "RandomState", None])
def test_random_state_decides_the_order(random_state: Any) -> None:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 2_000)) + rng.normal(size=(50, 1))

    def reads() -> Any:
        seed = np.random.RandomState(3) if random_state == "RandomState" else random_state
        estimator = NearestNeighbors(random_state=seed).fit(rows)
        estimator.kneighbors(rows[:2])
        return [result.work.numbers_read for result in estimator._last_call.results]

    if random_state is not None:
        assert reads() == reads()
    else:
        assert reads()


def test_without_scikit_learn_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "try:\n    import sureshot.estimators\n"
        "except ModuleNotFoundError as error:\n    print(error)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "sureshot[sklearn]" in shown
