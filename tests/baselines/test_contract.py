"""What every baseline must do, run over all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sureshot.baselines import BASELINES, Found
from tests.baselines.methods import ALL, GRAPHS, OF_THE_PAPER, TRIALS, made, population, truth
from tests.conftest import LAYOUTS

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot._types import Array, Floats

EXACT = [one for one in ALL if one.values[0] not in GRAPHS]


def assert_found(name: str, found: Found, data: Array, query: Floats, k: int) -> None:
    """Fail unless what was found is distinct, ranked by exact scores, and paid for."""
    assert isinstance(found, Found)
    assert found.indices.dtype == np.int64
    assert found.scores.dtype == np.float64
    assert len(found.indices) == len(found.scores) == min(k, found.candidates)
    assert len(np.unique(found.indices)) == len(found.indices)
    assert ((found.indices >= 0) & (found.indices < len(data))).all()
    rows = np.asarray(data[found.indices], np.float64)
    allowance = 1e-13 * (np.abs(rows) @ np.abs(query))
    assert (np.abs(found.scores - rows @ query) <= allowance).all()
    ranked_by = np.abs(found.scores) if TRIALS[name].squares else found.scores
    assert (np.lexsort((found.indices, -ranked_by)) == np.arange(len(ranked_by))).all()
    assert found.candidates <= len(data)
    assert found.numbers_read >= found.candidates * data.shape[1]


def precision(name: str, found: Found, data: Array, query: Floats, k: int) -> float:
    """Return the share of the true top k that was found; the population has no ties."""
    best = np.argsort(-truth(name, data, query))[:k]
    return len(np.intersect1d(best, found.indices)) / k


def test_the_table_names_every_class() -> None:
    assert {name: getattr(method, "name", None) for name, method in BASELINES.items()} == {
        name: name for name in TRIALS
    }


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("shape", [(97, 7), (7, 97), (200, 33), (1535, 16)])
def test_everything_finds_the_exact_answer(name: str, shape: tuple[int, int]) -> None:
    data, queries = population(name, shape, dtype=np.float32)
    method = made(name).fit(data)
    for query in queries[:5]:
        found = method.query(query, 5, **TRIALS[name].everything(method))
        assert_found(name, found, data, query, 5)
        assert precision(name, found, data, query, 5) == 1


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_everything_makes_every_row_a_candidate(name: str) -> None:
    data, queries = population(name, (97, 33))
    method = made(name).fit(data)
    found = method.query(queries[0], 97, **TRIALS[name].everything(method))
    assert found.candidates == 97
    assert sorted(found.indices) == list(range(97))


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("n", [1, 7, 97])
@pytest.mark.parametrize("width", [1, 7, 1535])
def test_odd_sizes(name: str, n: int, width: int) -> None:
    data, queries = population(name, (n, width), seed=n + width)
    build: dict[str, Any] = {"L": 2} if name == "rpt" else {}
    method = made(name, **build).fit(data)
    for knobs in (TRIALS[name].least, TRIALS[name].everything(method)):
        for k in {1, min(5, n), n}:
            assert_found(name, method.query(queries[0], k, **knobs), data, queries[0], k)


@pytest.mark.parametrize("name", ALL)
def test_more_budget_finds_more_and_reads_more(name: str) -> None:
    data, queries = population(name, (400, 60), seed=5)
    method = made(name).fit(data)
    found = [
        [method.query(query, 5, **knobs) for query in queries] for knobs in TRIALS[name].budgets
    ]
    for own in found:
        for query, one in zip(queries, own, strict=True):
            assert_found(name, one, data, query, 5)
    means = [
        np.mean(
            [precision(name, one, data, query, 5) for query, one in zip(queries, own, strict=True)]
        )
        for own in found
    ]
    reads = [np.mean([one.numbers_read for one in own]) for own in found]
    assert (np.diff(means) >= 0).all()
    assert (np.diff(reads) > 0).all()
    if len(means) > 1 and name not in GRAPHS:  # which may find all with any list
        assert means[-1] > means[0]


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_larger_budget_has_more_candidates_for_every_query(name: str) -> None:
    data, queries = population(name, (400, 60), seed=6)
    method = made(name).fit(data)
    for query in queries[:5]:
        candidates = [method.query(query, 5, **knobs).candidates for knobs in TRIALS[name].budgets]
        assert candidates == sorted(candidates)


@pytest.mark.parametrize("name", ["greedy", "sample", "diamond"])
@pytest.mark.parametrize(("budget", "expected"), [(1, 1), (17, 17), (0.1, 40), (1.0, 400)])
def test_a_budget_is_spent_and_kept(name: str, budget: float, expected: int) -> None:
    data, queries = population(name, (400, 60), seed=6)
    found = made(name).fit(data).query(queries[0], 400, B=budget)
    assert found.candidates == len(found.indices) == expected


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative", "read-only"])
def test_types_and_layouts(name: str, dtype: type, layout: str, tmp_path: Path) -> None:
    values, queries = population(name, (120, 31), seed=7, dtype=dtype)
    data = LAYOUTS[layout](values, tmp_path)
    before = data.copy()
    method = made(name).fit(data)
    for knobs in (TRIALS[name].budgets[0], TRIALS[name].everything(method)):
        found = method.query(queries[0], 5, **knobs)
        assert_found(name, found, values, queries[0], 5)
    if name not in GRAPHS:
        assert precision(name, found, values, queries[0], 5) == 1
    assert (data == before).all()


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_the_layout_changes_nothing(name: str) -> None:
    # Products of other layouts are summed in another order, so only bits near a tie may change.
    data, queries = population(name, (150, 40), seed=8)
    one, other = made(name).fit(data), made(name).fit(np.asfortranarray(data))
    for query in queries[:5]:
        found, same = (method.query(query, 5, **TRIALS[name].budgets[0]) for method in (one, other))
        assert (found.indices == same.indices).all()
        assert found.candidates == same.candidates


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_the_same_seed_gives_the_same_answer(name: str) -> None:
    data, queries = population(name, (150, 40), seed=9)
    one, other = made(name).fit(data), made(name, threads=1).fit(data)
    for query in (queries[0], queries[1], queries[0]):
        found, same = (method.query(query, 5, **TRIALS[name].budgets[0]) for method in (one, other))
        assert (found.indices == same.indices).all()
        assert (found.scores == same.scores).all()
        assert found.numbers_read == same.numbers_read


@pytest.mark.parametrize("name", ALL)
def test_equal_rows_and_zeros(name: str) -> None:
    data, queries = population(name, (60, 9), seed=10)
    data[10:30] = data[10]
    data[40] = 0
    method = made(name).fit(data)
    for query in (queries[0], np.zeros(9), np.eye(9)[3]):
        for knobs in (TRIALS[name].least, TRIALS[name].everything(method)):
            assert_found(name, method.query(query, 7, **knobs), data, query, 7)
    nothing = made(name).fit(np.zeros((12, 3)))
    for knobs in (TRIALS[name].least, TRIALS[name].everything(nothing)):
        assert_found(
            name, nothing.query(queries[0][:3], 2, **knobs), np.zeros((12, 3)), queries[0][:3], 2
        )
