"""A search that screens finds what evaluating every arm in float64 finds, to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot import BoundsError, _native
from sureshot.search import exact, screen
from sureshot.theory import screening
from tests.conftest import ELEMENT_TYPES, random_data

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot import TopK
    from sureshot._types import Array

N_ARMS, SIZE, K = 600, 150, 7
# What is screened for one query: all but float64, and rows of float32 if it is not asked for cosines.
SCREENED = [("C", "float16"), ("F", "float16"), ("F", "float32")]
METRICS = ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")


@pytest.fixture(autouse=True)
def everything_is_screened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Screen small data, too, a few arms at a time."""
    monkeypatch.setattr(screen, "FEWEST_NUMBERS", 0)
    monkeypatch.setattr(screen, "FIRST_NUMBERS", 130 * SIZE)
    monkeypatch.setattr(screen, "LARGEST_SHARE_BY_COLUMN", screen.LARGEST_SHARE)


def search(data: Array, query: Array, metric: str, **options: object) -> TopK:
    if metric == "cosine":
        options["bounds"] = sureshot.scan(data)
    return sureshot.top_k(data, query, K, metric=metric, method="exact", **options)  # type: ignore[arg-type]


def unscreened(data: Array, query: Array, metric: str, **options: object) -> TopK:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(screen, "FEWEST_NUMBERS", 1 << 60)
        return search(data, query, metric, **options)


def by_column(rng: np.random.Generator) -> Array:
    return np.asfortranarray(rng.standard_normal((N_ARMS, SIZE), dtype=np.float32))


def assert_same(found: TopK, expected: TopK) -> None:
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.scores.tobytes() == expected.scores.tobytes()
    assert found.certificate == expected.certificate


def test_arms_after_the_best_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no arm of a round can be the best, there is nothing to evaluate in it."""
    monkeypatch.setattr(exact, "NUMBERS_PER_ROUND", 200 * SIZE)
    data = np.random.default_rng(0).standard_normal((N_ARMS, SIZE)).astype(np.float16)
    found = sureshot.top_k(data, 3 * data[5], 1, method="exact")
    assert found.indices.tolist() == [5]
    assert found.work.rounds == N_ARMS // 200
    assert found.work.exact_scores == 1
    assert found.work.numbers_read == (N_ARMS + 1) * SIZE


def random(rng: np.random.Generator) -> Array:
    return rng.standard_normal((N_ARMS, SIZE))


def tied(rng: np.random.Generator) -> Array:
    """Return rows of which many are equal, the best ones among them."""
    rows = rng.standard_normal((N_ARMS, SIZE))
    rows[::40] = 3 * rows[0]
    return rows


def nearly_tied(rng: np.random.Generator) -> Array:
    """Return rows of which those in the lead differ by less than float32 can say."""
    rows = rng.standard_normal((N_ARMS, SIZE))
    rows[::40] = 3 * rows[0]
    rows[::40, 0] += 1e-6 * rng.standard_normal(N_ARMS // 40)
    return rows


def cancelling(rng: np.random.Generator) -> Array:
    rows = rng.standard_normal((N_ARMS, SIZE))
    rows[:, ::2] = -rows[:, 1::2] + 1e-5 * rng.standard_normal((N_ARMS, SIZE // 2))
    return rows


def offset(rng: np.random.Generator) -> Array:
    return 1e4 + rng.standard_normal((N_ARMS, SIZE))


def ascending(rng: np.random.Generator) -> Array:
    return np.linspace(0.1, 1, N_ARMS)[:, None] * np.abs(rng.standard_normal((N_ARMS, SIZE)))


DATA: dict[str, Callable[[np.random.Generator], Array]] = {
    function.__name__: function
    for function in (random, tied, nearly_tied, cancelling, offset, ascending)
}


@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("with_squares", [False, True])
@pytest.mark.parametrize("k", [1, 7, 300])
def test_candidates_are_those_of_the_rule(absolute: bool, with_squares: bool, k: int) -> None:
    rng = np.random.default_rng(k)
    sums, scale = rng.standard_normal(200), np.exp(rng.standard_normal(200))
    squares = rng.random(200) if with_squares else None
    sums[[3, 50, 51]] = np.nan, np.inf, -np.inf
    best = np.sort(rng.standard_normal(5))
    terms = screening.ErrorTerms(0.01, 0.1, 0.02)
    errors = terms.errors(sums, squares)
    sizes = np.abs(sums) if absolute else sums
    with np.errstate(invalid="ignore"):
        lower, upper = scale * (sizes - errors), scale * (sizes + errors)
    known = np.isfinite(lower) & np.isfinite(upper)
    ends = np.sort(np.concatenate([best, lower[known]]))
    threshold = ends[-k] if k <= len(ends) else -np.inf
    found = _native.candidates(
        sums,
        squares,
        scale,
        absolute,
        fixed=terms.fixed,
        of_root=terms.of_root,
        of_score=terms.of_score,
        best=best,
        k=k,
    )
    assert found.tolist() == np.flatnonzero(~known | (upper >= threshold)).tolist()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("order", "dtype"), [*SCREENED, ("C", "float32")])
@pytest.mark.parametrize("kind", DATA)
def test_the_answer_is_the_same_to_the_last_bit(
    metric: str, order: str, dtype: str, kind: str
) -> None:
    rng = np.random.default_rng(1)
    data = np.array(DATA[kind](rng), dtype=dtype, order=order)  # type: ignore[call-overload]
    query = np.ones(SIZE) if kind == "cancelling" else data[0] + 0.1 * rng.standard_normal(SIZE)
    for asked in (query, query.astype(np.float32), np.stack([query, -query, data[3]])):
        assert_same(search(data, asked, metric), unscreened(data, asked, metric))


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("metric", METRICS)
def test_every_element_type(dtype: str, order: str, metric: str) -> None:
    rng = np.random.default_rng(2)
    data = np.array(random_data(rng, (N_ARMS, SIZE), dtype), order=order)  # type: ignore[call-overload]
    query = rng.standard_normal(SIZE)
    found, expected = search(data, query, metric), unscreened(data, query, metric)
    assert_same(found, expected)
    by_row = (order, dtype) == ("C", "float32") and metric != "cosine"
    evaluated = dtype == "float64" or by_row
    assert (found.work.exact_scores == N_ARMS) == evaluated


@pytest.mark.parametrize("metric", ["ip", "abs-ip"])
def test_scales_and_selected_rows(metric: str) -> None:
    rng = np.random.default_rng(3)
    data = by_column(rng)
    scale = np.exp(3 * rng.standard_normal(N_ARMS))
    where = rng.random(N_ARMS) < 0.7
    query = rng.standard_normal(SIZE)
    for options in ({"row_scale": scale}, {"where": where}, {"row_scale": scale, "where": where}):
        found = search(data, query, metric, **options)
        assert_same(found, unscreened(data, query, metric, **options))
        assert found.work.exact_scores < N_ARMS / 8


def test_work_counts_the_screen_and_what_it_left() -> None:
    rng = np.random.default_rng(4)
    data = by_column(rng)
    work = search(data, rng.standard_normal(SIZE), "ip").work
    assert K <= work.exact_scores < N_ARMS / 8
    assert work.numbers_read == (N_ARMS + work.exact_scores) * SIZE


def test_where_a_screen_leaves_too_much_it_is_not_continued() -> None:
    work = search(np.ones((N_ARMS, SIZE), np.float16), np.ones(SIZE), "ip").work
    assert work.exact_scores == N_ARMS
    # The first arms were screened in vain.
    assert work.numbers_read < 1.25 * N_ARMS * SIZE


@pytest.mark.parametrize("k", [1, 75, 76, N_ARMS])
def test_any_number_of_answers(k: int) -> None:
    rng = np.random.default_rng(6)
    data = rng.standard_normal((N_ARMS, SIZE), dtype=np.float32)
    query = rng.standard_normal(SIZE)
    found = sureshot.top_k(data, query, k, method="exact")
    truth = data.astype(np.float64) @ query
    assert found.indices.tolist() == np.argsort(-truth, kind="stable")[:k].tolist()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("order", "dtype"), [*SCREENED, ("C", "float32")])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 300, N_ARMS - 1])
def test_what_is_not_a_number_is_named(
    metric: str, order: str, dtype: str, value: float, row: int
) -> None:
    rng = np.random.default_rng(7)
    data = np.array(random(rng), dtype=dtype, order=order)  # type: ignore[call-overload]
    bounds = sureshot.scan(data) if metric == "cosine" else None
    data[row, 61] = value
    with pytest.raises(BoundsError, match=rf"row {row} .*(nan|inf).*coordinate 61\b"):
        sureshot.top_k(
            data, rng.standard_normal(SIZE), K, metric=metric, method="exact", bounds=bounds
        )


def test_a_scaled_score_that_overflows_is_refused() -> None:
    data = np.ones((N_ARMS, SIZE), np.float32)
    data[99] = -1e30
    scale = np.ones(N_ARMS)
    scale[99] = 1e300
    with pytest.raises(BoundsError, match="row 99 is too large"):
        search(data, np.ones(SIZE), "ip", row_scale=scale)


@pytest.mark.parametrize("metric", METRICS)
def test_what_a_race_gives_up_is_screened(metric: str) -> None:
    """With the scores that the race knows; what the screen excludes is proved, so the answer stays exact."""
    rng = np.random.default_rng(10)
    data = np.asfortranarray(rng.standard_normal((400, 4096)), dtype=np.float32)
    data[300] = data[20]  # a tie
    for query in (rng.standard_normal(4096), data[20] + rng.standard_normal(4096)):
        bounds = sureshot.scan(data)
        found = sureshot.top_k(data, query, K, metric=metric, bounds=bounds, rng=1)
        expected = sureshot.top_k(data, query, K, metric=metric, bounds=bounds, method="exact")
        assert found.work.choice.endswith("a race would cost more")
        assert found.work.exact_scores < 400 / 8
        assert found.work.numbers_read > 400 * 4096
        assert_same(found, expected)


def test_values_too_large_for_float32_sums() -> None:
    rng = np.random.default_rng(8)
    data = np.asfortranarray(1e38 * rng.random((N_ARMS, SIZE)), dtype=np.float32)
    query = rng.standard_normal(SIZE)
    for metric in METRICS:
        assert_same(search(data, query, metric), unscreened(data, query, metric))


def test_instruction_sets_find_the_same() -> None:
    rng = np.random.default_rng(9)
    data = np.asfortranarray(nearly_tied(rng), dtype=np.float32)
    query = data[0] + 0.1 * rng.standard_normal(SIZE)
    expected, before = unscreened(data, query, "ip"), _native.instruction_set()
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            assert_same(search(data, query, "ip"), expected)
    finally:
        _native.use_instruction_set(before)


def test_planted_a_bound_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    # The first K rows score a little more than the next ones; in float32 that is lost: 16 columns are added up one after
    # the other, and 15 products are smaller than half of what a 1 can be told apart from.
    query = np.full(4096, 2.0**-12 * (1 - 2.0**-10))
    query[::16] = 1
    data = np.zeros((N_ARMS, 4096), np.float32, order="F")
    data[:K] = query
    data[K : 2 * K, ::16] = 1 + 5 * 2.0**-23
    expected = unscreened(data, query, "ip")
    assert sorted(expected.indices.tolist()) == list(range(K))
    assert_same(search(data, query, "ip"), expected)
    share = screening.rounding_share
    monkeypatch.setattr(screening, "rounding_share", lambda m, size: share(m, size) / 10)
    assert search(data, query, "ip").indices.tolist() != expected.indices.tolist()
