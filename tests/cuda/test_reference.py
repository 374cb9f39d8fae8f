"""The reference of a device finds the best rows, for every metric and in every stage."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from sureshot.cuda import plan as plans
from sureshot.cuda.plan import plan_of
from sureshot.cuda.reference import Found, Question, search
from sureshot.cuda.scores import row_sums
from tests.cuda.populations import low_rank

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


def squares_of(rows: Array) -> Floats:
    wide = rows.astype(np.float64)
    squares: Floats = np.einsum("ij,ij->i", wide, wide)
    return squares


def truth(question: Question) -> Floats:
    """Return the scores of all rows in the units of the device."""
    rows: Floats
    query: Floats
    rows, query = question.data.astype(np.float64), np.asarray(question.query, dtype=np.float64)
    if question.metric == "sqeuclidean":
        return -squares_of(rows - query)
    scores: Floats = rows @ query
    if question.metric == "cosine":
        return scores / np.sqrt(question.squares)
    if question.row_scale is not None:
        scores = scores * question.row_scale
    return np.abs(scores) if question.metric == "abs-ip" else scores


def assert_right(question: Question, found: Found) -> None:
    scores = truth(question)
    arms = np.arange(len(scores)) if question.arms is None else question.arms
    best = arms[np.lexsort((arms, -scores[arms]))][: question.k]
    assert found.indices.tolist() == best.tolist()
    np.testing.assert_allclose(found.scores, scores[best], rtol=1e-12, atol=1e-12)
    assert found.too_long == []


def question_of(seed: int = 0, *, unit: bool = False, **more: Any) -> Question:
    rows, query = low_rank(np.random.default_rng(seed), 600, 5001, unit=unit)
    return Question(rows, query, more.pop("k", 5), squares_of(rows), seed, **more)


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean"])
def test_the_best_rows_are_found(metric: Any, unit: bool) -> None:
    question = question_of(unit=unit, metric=metric)
    found = search(question)
    assert_right(question, found)
    assert found.steps_read > 0
    assert len(found.evaluated) < 500


def test_factors_and_some_rows() -> None:
    rng = np.random.default_rng(3)
    question = question_of(
        3,
        row_scale=rng.uniform(0.2, 5, 600),
        arms=np.flatnonzero(rng.random(600) < 0.6),
        epsilon=1e-9,
    )
    found = search(question)
    assert_right(question, found)
    assert set(found.evaluated) <= set(question.arms.tolist() if question.arms is not None else [])


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.uint8])
def test_types_of_rows(dtype: Any) -> None:
    rows, query = low_rank(np.random.default_rng(1), 400, 3000, unit=True)
    rows = (rows * 1000).astype(np.float32)
    rows = np.clip(
        np.rint(rows + (60 if dtype == np.uint8 else 0)), -127, 255 if dtype == np.uint8 else 127
    )
    rows = rows.astype(dtype)
    question = Question(rows, query, 7, squares_of(rows), 5)
    found = search(question)
    assert_right(question, found)
    plan = plan_of(400, 3000, 7, rows.dtype.itemsize)
    assert plan.block == 4 * plan.chunk == 64 // rows.dtype.itemsize


def test_a_query_of_float64_and_one_of_zeros() -> None:
    question = question_of(2)
    exact = dataclasses.replace(question, query=question.query.astype(np.float64) * (1 + 1e-9))
    assert_right(exact, search(exact))
    sparse = question.query.copy()
    sparse[100:] = 0  # seven blocks: after them every sum is known
    few = dataclasses.replace(question, query=sparse)
    found = search(few)
    assert_right(few, found)
    assert len(found.order.blocks if found.order else []) == 7
    zero = dataclasses.replace(question, query=np.zeros_like(question.query))
    assert search(zero).choice == "a query that is too small or too large"


def test_every_stage_is_gone_through() -> None:
    """Noise in which a few rows stand out a little: a second chance, then three races."""
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((400, 52_000)).astype(np.float32)
    query = rng.standard_normal(52_000).astype(np.float32)
    rows[::60] += np.float32(0.07) * query
    question = Question(rows, query, 5, squares_of(rows), 4)
    found = search(question)
    assert_right(question, found)
    assert [stage.name for stage in found.stages] == ["race 1", "race 2", "race 3"]
    assert found.choice == "three races"
    taus = [stage.tau for stage in found.stages]
    assert taus == sorted(taus)
    # Races go on where the one before ended, at the same step for all arms.
    for one, after in zip(found.stages, found.stages[1:], strict=False):
        assert one.cap == after.begin


def test_all_arms_are_evaluated_where_races_do_not_pay() -> None:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((500, 4000)).astype(np.float32)
    question = Question(rows, rng.standard_normal(4000).astype(np.float32), 5, squares_of(rows), 5)
    found = search(question)
    assert_right(question, found)
    assert found.choice == "all arms, since few were dropped"
    assert len(found.evaluated) == 500


def test_ties_go_to_the_smaller_index() -> None:
    question = question_of(6)
    rows = question.data.copy()
    best = int(np.argmax(rows.astype(np.float64) @ question.query))
    rows[[3, 599, 250]] = rows[best]
    tied = dataclasses.replace(question, data=rows, squares=squares_of(rows))
    for seed in range(5):
        found = search(dataclasses.replace(tied, seed=seed))
        assert_right(tied, found)


@pytest.mark.parametrize("value", [100.0, np.nan, np.inf, -np.inf])
def test_a_row_longer_than_its_norm_is_reported(value: float) -> None:
    """Every block of the row is too long, so that it is noticed in the first round that reads it."""
    question = question_of(7)
    arm = int(np.argsort(-question.squares)[100])
    rows = question.data.copy()
    rows[arm, ::3] = value
    found = search(dataclasses.replace(question, data=rows))
    assert set(found.too_long) == {arm}


@pytest.mark.parametrize(
    ("change", "choice"),
    [
        ({"scale": 2.0**40}, "norms that are too small or too large for float32"),
        ({"scale": 2.0**-60}, "norms that are too small or too large for float32"),
        ({"delta": 1e-30}, "a delta that is too small for float32"),
        ({"few": 50}, "few arms"),
        ({"columns": 31 * 16}, "short rows"),
    ],
)
def test_where_nothing_is_bet_all_rows_are_evaluated(change: dict[str, float], choice: str) -> None:
    question = question_of(8)
    columns = int(change.get("columns", 5001))
    rows = question.data[: int(change.get("few", 600)), :columns]
    rows = rows * np.float32(change.get("scale", 1))
    question = dataclasses.replace(
        question,
        data=rows,
        query=question.query[:columns],
        squares=squares_of(rows),
        delta=change.get("delta", 0.05),
    )
    found = search(question)
    assert found.choice == choice
    assert_right(question, found)


@pytest.mark.parametrize("scale", [2.0**-30, 2.0**12])
def test_scales_change_nothing(scale: float) -> None:
    """A power of two in the query or, unless too large or too small, in the rows changes no decision."""
    question = question_of(9)
    found = search(question)
    for data, query in [
        (question.data * np.float32(scale), question.query),
        (question.data, question.query * np.float32(scale)),
    ]:
        same = search(
            dataclasses.replace(question, data=data, query=query, squares=squares_of(data))
        )
        assert same.indices.tolist() == found.indices.tolist()
        assert same.steps_read == found.steps_read
        assert (same.scores == found.scores * scale).all()


def test_few_arms_are_read_two_rounds_at_a_time() -> None:
    """So the numbers read do not depend on the card: a dropped arm counts until its two rounds end."""
    question = question_of(12, unit=True)
    stage = search(question).stages[1]
    assert stage.name == "race 2"
    rounds = -(-(stage.cap - stage.begin) // 32)
    least = sum(
        min(stage.cap, stage.begin + 32 * -(-(end - stage.begin) // 32)) - stage.begin
        for end in stage.dropped_at.values()
    )
    assert stage.steps_read == least + len(stage.left) * (stage.cap - stage.begin)
    assert rounds > 1


def test_row_sums_are_exact_to_double_precision() -> None:
    rng = np.random.default_rng(10)
    for columns in (1, 7, 97, 1535, 9000):
        rows = rng.standard_normal((3, columns)).astype(np.float32)
        query = rng.standard_normal(columns)
        for row, total in zip(rows, row_sums(rows, query, 4), strict=True):
            terms = row.astype(np.float64) * query
            assert abs(total - math.fsum(terms)) <= 1e-13 * np.abs(terms).sum()
        far = row_sums(rows, query, 8, squared_distance=True)
        np.testing.assert_allclose(far, ((rows - query) ** 2).sum(axis=1), rtol=1e-12)


def test_the_answer_is_one_of_seed_and_data() -> None:
    question = question_of(11)
    first, again = search(question), search(question)
    assert first.indices.tolist() == again.indices.tolist()
    assert first.scores.tobytes() == again.scores.tobytes()
    assert [stage.steps_read for stage in first.stages] == [
        stage.steps_read for stage in again.stages
    ]


def test_short_rows_do_not_race_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where norms rule out few of many short rows, all are evaluated; where they rule out most, they race."""
    monkeypatch.setattr(plans, "WHOLE_ARMS", 1000)
    rng = np.random.default_rng(0)
    data = rng.standard_normal((3000, 1000)).astype(np.float32)
    query = rng.standard_normal(1000).astype(np.float32)
    found = search(Question(data, query, 5, squares_of(data), 1))
    assert not found.stages
    assert len(found.evaluated) == len(data)
    data[:100] += np.float32(0.3) * query
    data[600:] *= np.float32(0.01)
    found = search(Question(data, query, 5, squares_of(data), 1))
    assert found.steps_read > 0
    right = np.argsort(-(data.astype(np.float64) @ query), kind="stable")[:5]
    assert found.indices.tolist() == right.tolist()
