"""The reduction to the corners of the convex hull loses no best row."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import sureshot
from sureshot.baselines import extreme_points


def shapes(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    normal = rng.standard_normal((120, 3))
    return {
        "normal": normal,
        "plane": rng.standard_normal((150, 2)).astype(np.float32),
        "line": rng.standard_normal((60, 1)),
        "ball": normal / np.linalg.norm(normal, axis=1, keepdims=True),
        "grid": np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3),
        "flat": rng.standard_normal((80, 2)) @ rng.standard_normal((2, 4)),
        "equal rows": np.repeat(normal[:30], 2, axis=0),
        "five": rng.standard_normal((120, 5)),
    }


@pytest.mark.parametrize("name", shapes(0))
def test_the_top_1_never_changes(name: str) -> None:
    data = shapes(1)[name]
    corners = extreme_points(data, rng=0)
    assert (np.diff(corners) > 0).all()
    rng = np.random.default_rng(2)
    queries = np.concatenate((rng.standard_normal((500, data.shape[1])), np.eye(data.shape[1])))
    queries = np.concatenate((queries, -np.eye(data.shape[1])))
    scores = np.asarray(data, np.float64) @ queries.T
    allowance = 1e-11 * np.abs(data).max() * np.abs(queries).sum(axis=1)
    assert (scores[corners].max(axis=0) >= scores.max(axis=0) - allowance).all()
    # Where no two rows tie the best row is the same.
    ties = np.sort(scores, axis=0)
    unique = ties[-1] - ties[-2] > allowance
    assert (corners[np.argmax(scores[corners], axis=0)] == np.argmax(scores, axis=0))[unique].all()


@pytest.mark.parametrize("name", ["normal", "plane", "ball", "grid", "five"])
def test_the_corners_are_those_of_qhull(name: str) -> None:
    data = shapes(3)[name]
    # Qhull may name points on a face, where several lie in one plane; a corner it never misses.
    expected = set(ConvexHull(np.asarray(data, np.float64)).vertices.tolist())
    found = set(extreme_points(data, rng=0).tolist())
    assert found == expected


def test_simple_sets() -> None:
    assert extreme_points(np.ones((7, 3))).tolist() == [0]
    assert extreme_points(np.array([[2.0], [1.0], [3.0], [1.5]])).tolist() == [1, 2]
    inside = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0], [1.0, 1.0], [2.0, 2.0], [0.0, 0.0]])
    assert extreme_points(inside).tolist() == [0, 1, 2]


def test_a_row_just_outside_stays() -> None:
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    for distance in (1e-9, 1e-6):
        outside = np.vstack((triangle, [[0.5 + distance, 0.5 + distance]]))
        assert extreme_points(outside).tolist() == [0, 1, 2, 3]
    assert extreme_points(np.vstack((triangle, [[0.5, 0.5]]))).tolist() == [0, 1, 2]


def test_it_works_with_top_k() -> None:
    rng = np.random.default_rng(4)
    data = rng.standard_normal((200, 3))
    corners = extreme_points(data)
    assert len(corners) < 100
    for query in rng.standard_normal((5, 3)):
        whole = sureshot.top_k(data, query, k=1, method="exact")
        part = sureshot.top_k(data, query, k=1, method="exact", where=corners)
        assert part.indices[0] == whole.indices[0]
        assert part.scores[0] == whole.scores[0]


def test_what_is_not_finite_is_refused() -> None:
    data = np.ones((4, 2))
    data[2, 1] = np.inf
    with pytest.raises(
        ValueError, match="extreme_points needs finite data, got other values in row 2"
    ):
        extreme_points(data)


def test_scipy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "scipy.optimize", None)
    with pytest.raises(ImportError, match=r"extreme_points needs scipy: .*sureshot\[baselines\]"):
        extreme_points(np.ones((3, 2)))
