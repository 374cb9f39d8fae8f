"""A call that evaluates every row makes nothing that only a sampled search needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, _native
from sureshot.prepare import top_k
from sureshot.search import screen
from sureshot.search.race import betting
from sureshot.sources.dense import DenseSource
from sureshot.theory import intervals

if TYPE_CHECKING:
    from sureshot._types import Array

DATA = np.random.default_rng(0).standard_normal((100, 200), dtype=np.float32)
QUERY = np.random.default_rng(1).standard_normal(200)
SCAN = sureshot.scan(DATA)
MAKERS = (
    "from_values",
    "from_two_limits",
    "from_scales",
    "from_norms",
    "from_distances",
    "to_be_estimated",
)

CALLS: dict[str, dict[str, Any]] = {
    "default": {},
    "exact": {"method": "exact"},
    "limits": {"bounds": (-9, 9)},
    "scan": {"bounds": SCAN},
    "distances": {"metric": "sqeuclidean"},
    "exact distances": {"metric": "sqeuclidean", "method": "exact"},
    "cosine": {"metric": "cosine", "bounds": Bounds(norms=SCAN.norms, norms_exact=True)},
    "cosine without norms": {"metric": "cosine"},
    "all rows": {"k": 100},
    "integer seed": {"rng": 7},
}


def refuse(*_: object, **__: object) -> NoReturn:
    pytest.fail("made, although nothing is sampled")


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("rows", [1, 3])
def test_no_intervals_and_no_generator(
    monkeypatch: pytest.MonkeyPatch, call: str, rows: int
) -> None:
    for name in MAKERS:
        monkeypatch.setattr(intervals, name, refuse)
    monkeypatch.setattr(np.random, "default_rng", refuse)
    query = QUERY if rows == 1 else np.stack([QUERY] * rows)
    found = sureshot.top_k(DATA, query, **CALLS[call])
    assert found.algorithm == "exact"


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine"])
def test_a_query_of_float32_is_not_scaled(monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr(top_k, "in_range", refuse)
    sureshot.top_k(DATA, QUERY.astype(np.float32), metric=metric, bounds=SCAN)


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean", "l1"])
def test_a_query_of_float32_is_read_as_it_is(monkeypatch: pytest.MonkeyPatch, metric: str) -> None:
    monkeypatch.setattr(DenseSource, "query", property(refuse))
    monkeypatch.setattr(_native, "rounded_query", refuse)
    bounds = Bounds(norms=SCAN.norms, norms_exact=True) if metric == "cosine" else None
    sureshot.top_k(DATA, QUERY.astype(np.float32), metric=metric, bounds=bounds)


def test_a_problem_without_a_budget_is_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(betting, "replace", refuse)
    sureshot.top_k(DATA, QUERY)


def test_all_arms_are_screened_in_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    screened = _native.screen_and_evaluate

    def counted(*arguments: Any, **options: Any) -> Any:
        calls.append(len(arguments[2]))
        return screened(*arguments, **options)

    monkeypatch.setattr(_native, "screen_and_evaluate", counted)
    monkeypatch.setattr(screen, "FEWEST_NUMBERS", 0)
    monkeypatch.setattr(screen, "FIRST_NUMBERS", 20 * DATA.shape[1])
    sureshot.top_k(DATA.astype(np.float16), QUERY, 1)
    assert calls == [len(DATA)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_whatever_is_not_finite_is_found(dtype: type, value: float) -> None:
    for at in (0, 7, 96):
        numbers: Array = np.full(97, np.finfo(dtype).max, dtype=dtype)
        assert _native.all_finite(numbers)
        numbers[at] = value
        assert not _native.all_finite(numbers)


@pytest.mark.parametrize(
    ("owner", "name"), [(intervals, "from_two_limits"), (np.random, "default_rng")]
)
def test_what_is_refused_here_is_made_where_rows_are_sampled(
    monkeypatch: pytest.MonkeyPatch, owner: object, name: str
) -> None:
    monkeypatch.setattr(owner, name, refuse)
    with pytest.raises(pytest.fail.Exception):
        sureshot.top_k(DATA, QUERY, method="lucb", bounds=(-9, 9), rng=0)


@pytest.mark.parametrize("seed", [0, 7, 2**70])
def test_an_integer_seed_is_drawn_as_its_generator_draws(seed: int) -> None:
    """The seed of a call is the first draw, whether it is drawn at once or when an order is."""
    data = np.random.default_rng(2).standard_normal((300, 3000), dtype=np.float32)
    given, drawn = (
        sureshot.top_k(data, data[0], budget=0.1, rng=rng)
        for rng in (seed, np.random.default_rng(seed))
    )
    assert given.work.numbers_read == drawn.work.numbers_read
    assert given.certificate == drawn.certificate
    np.testing.assert_array_equal(given.indices, drawn.indices)
