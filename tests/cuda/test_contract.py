"""What every source must do, over arrays on a card: library, memory layout, element type, size.

Without a card the same tests run on arrays of the host that say they lie on one, and kernels that are the reference.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from tests.conftest import EPS, random_data, rewards, sums
from tests.cuda.fake_driver import FakeArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot._types import Array, Floats

    Place = Callable[[Array], Any]

SIZES = (1, 7, 97, 1535)
TYPES = ("float32", "float16", "int8", "uint8")
METRICS = ("ip", "abs-ip", "cosine", "sqeuclidean")


def by_torch(values: Array) -> Any:
    torch = importlib.import_module("torch")
    return torch.from_numpy(values).cuda()


def has_card() -> bool:
    torch = pytest.importorskip("torch", reason="torch says whether there is a card")
    return bool(torch.cuda.is_available())


@pytest.fixture(params=["reference", "torch", "cupy", "jax"])
def place(request: pytest.FixtureRequest) -> Place:
    """Return what puts an array of the host on the card."""
    if request.param == "reference":
        request.getfixturevalue("card")  # which also forgets afterwards that there was one
        return FakeArray
    if not has_card():
        pytest.skip("there is no CUDA card")
    if request.param == "torch":
        return by_torch
    library = pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    made: Place = library.numpy.asarray if request.param == "jax" else library.asarray
    return made


def with_gap(place: Place, values: Array, before: int) -> Any:
    """Return rows that begin after a number, with more numbers between them."""
    wide = np.zeros((len(values), values.shape[1] + 5), dtype=values.dtype)
    wide[:, before : before + values.shape[1]] = values
    return place(wide)[:, before : before + values.shape[1]]


LAYOUTS: dict[str, Callable[[Place, Array], Any]] = {
    "rows": lambda place, values: place(values),
    "rows with gaps": lambda place, values: with_gap(place, values, 0),
    "rows that are not aligned": lambda place, values: with_gap(place, values, 3),
    "columns": lambda place, values: place(np.ascontiguousarray(values.T)).T,
}


def problem(dtype: str, n_arms: int, size: int) -> tuple[Array, Floats]:
    rng = np.random.default_rng([n_arms, size])
    return random_data(rng, (n_arms, size), dtype), rng.standard_normal(size)


def oracle(data: Array, query: Floats, metric: str) -> tuple[Floats, Floats]:
    """Return the scores, and how far computed ones may be off."""
    table = rewards(data, query, "ip" if metric != "sqeuclidean" else "sqeuclidean")
    scores, allowed = sums(table), 4 * data.shape[1] * EPS * sums(np.abs(table))
    if metric == "sqeuclidean":
        scores = np.abs(scores)
    if metric == "abs-ip":
        scores = np.abs(scores)
    if metric == "cosine":
        wide = data.astype(np.float64)
        norms = np.sqrt(sums(wide * wide)) * np.linalg.norm(query)
        scores, allowed = scores / norms, allowed / norms + 8 * EPS
    return scores, allowed


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_scores_and_norms_agree_with_the_oracle(
    place: Place, layout: str, dtype: str, size: int
) -> None:
    data, query = problem(dtype, 7, size)
    if dtype == "uint8":
        data = np.maximum(data, 1)  # a row of zeros has no direction
    on_card = LAYOUTS[layout](place, data)
    bounds = sureshot.scan(on_card)
    wide = data.astype(np.float64)
    np.testing.assert_allclose(
        np.asarray(bounds.norms), np.sqrt(sums(wide * wide)), rtol=2 * size * EPS
    )
    for metric in METRICS:
        if metric == "cosine" and not np.asarray(bounds.norms).all():
            continue
        scores, allowed = oracle(data, query, metric)
        for known in (None, bounds):
            found = sureshot.top_k(on_card, query, 7, metric=metric, bounds=known, rng=0)
            assert sorted(found.indices.tolist()) == list(range(7))
            off = np.abs(found.scores - scores[found.indices])
            assert (off <= allowed[found.indices] + 1e-300).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_a_number_is_an_error(place: Place, layout: str, value: float) -> None:
    data, query = problem("float32", 9, 97)
    data[4, 61] = value
    on_card = LAYOUTS[layout](place, data)
    with pytest.raises(ValueError, match=r"row 4 .*not finite"):
        sureshot.scan(on_card)
    with pytest.raises(ValueError, match="not finite"):
        sureshot.top_k(on_card, query, 2)


def test_what_is_not_met_does_no_harm(place: Place) -> None:
    data, query = problem("float32", 9, 97)
    data[4, 61] = np.nan
    others = np.delete(np.arange(9), 4)
    norms = np.linalg.norm(data[others].astype(np.float64), axis=1).max()
    found = sureshot.top_k(
        place(data), query, 3, where=others, bounds=sureshot.Bounds(norms=norms), rng=0
    )
    assert np.isfinite(found.scores).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("size", SIZES)
def test_where_rows_lie_changes_no_bit_of_a_score(place: Place, dtype: str, size: int) -> None:
    data, query = problem(dtype, 135, size)
    found = {
        layout: sureshot.top_k(
            LAYOUTS[layout](place, data), query, 135, method="exact", bounds="scan"
        )
        for layout in LAYOUTS
        if layout != "columns"  # sums are made in another order there
    }
    answers = {(one.scores.tobytes(), one.indices.tobytes()) for one in found.values()}
    assert len(answers) == 1


def test_a_score_does_not_depend_on_the_arms_asked_with_it(place: Place) -> None:
    data, query = problem("float32", 301, 1535)
    on_card = place(data)
    bounds = sureshot.scan(on_card)
    together = sureshot.top_k(on_card, query, 301, bounds=bounds)
    scores = dict(zip(together.indices.tolist(), together.scores.tolist(), strict=True))
    for some in (np.arange(0, 301, 50), np.arange(3), np.array([17]), np.arange(40, 290)):
        found = sureshot.top_k(on_card, query, len(some), where=some, bounds=bounds)
        assert [scores[row] for row in found.indices.tolist()] == found.scores.tolist()


def test_a_query_of_a_batch_has_the_scores_that_it_has_alone(place: Place) -> None:
    data, query = problem("float32", 301, 1535)
    on_card = place(data)
    bounds = sureshot.scan(on_card)
    queries = np.stack([query, query[::-1], 2 * query])
    together = sureshot.top_k(on_card, queries, 5, bounds=bounds, rng=1)
    for at, one in enumerate(queries):
        alone = sureshot.top_k(on_card, one, 5, bounds=bounds, rng=1)
        assert alone.indices.tolist() == together.indices[at].tolist()
        assert alone.scores.tobytes() == together.scores[at].tobytes()
