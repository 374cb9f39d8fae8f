"""Property tests: every method finds the oracle's answer, and how it is asked changes nothing."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sureshot
from sureshot.search import exact
from sureshot.search.methods import METHODS
from sureshot.sources import base
from tests.conftest import (
    CERTAIN,
    ELEMENT_TYPES,
    FLOAT_TYPES,
    LAYOUTS,
    assert_top_k,
    random_data,
    span,
)
from tests.racing import raced  # noqa: F401 - a fixture

if TYPE_CHECKING:
    from sureshot import TopK
    from sureshot._types import Array, Floats
    from tests.racing import Course

SIZES = st.sampled_from([1, 2, 3, 7, 16, 17, 33])


@dataclasses.dataclass(frozen=True)
class Question:
    """A small problem."""

    data: Array
    query: Floats
    k: int
    seed: int
    where: list[int]
    block: int | None

    def ask(self, method: str, metric: str, data: Array | None = None, **more: Any) -> TopK:
        data = self.data if data is None else data
        arguments: dict[str, Any] = {
            "metric": metric,
            "method": method,
            "delta": CERTAIN,
            "bounds": span(self.data),
            "where": self.where,
            "rng": self.seed,
            "block": self.block,
        }
        return sureshot.top_k(data, self.query, self.k, **(arguments | more))

    def has_cosine(self) -> bool:
        return bool(self.query.any() and self.data[self.where].any(axis=1).all())


@st.composite
def questions(draw: st.DrawFn, element_types: tuple[str, ...] = ELEMENT_TYPES) -> Question:
    dtype = draw(st.sampled_from(element_types))
    n_arms, size = draw(st.integers(1, 12)), draw(SIZES)
    few = st.integers(-2, 2).map(float)  # many ties
    # Not so small that a square underflows.
    many = st.floats(-1e3, 1e3, width=32).map(lambda value: value if abs(value) > 1e-30 else 0.0)
    reals = draw(st.sampled_from([few, many]))
    shape = (n_arms, size)
    if dtype in FLOAT_TYPES:
        data = draw(hnp.arrays(np.float64, shape, elements=reals)).astype(dtype)
    else:
        data = draw(hnp.arrays(dtype, shape))
    query = draw(hnp.arrays(np.float64, size, elements=reals))
    repeats = draw(st.sampled_from([1, 4]))  # a longer race, without drawing more numbers
    where = draw(st.lists(st.integers(0, n_arms - 1), min_size=1, unique=True))
    return Question(
        data=np.tile(data, repeats),
        query=np.tile(query, repeats),
        k=draw(st.integers(1, len(where))),
        seed=draw(st.integers(0, 2**32)),
        where=where,
        block=draw(st.sampled_from([None, 1])),  # single coordinates are more steps of a race
    )


def same_answer(one: TopK, other: TopK) -> bool:
    return np.array_equal(one.scores, other.scores) and np.array_equal(one.indices, other.indices)


def same_course(one: TopK, other: TopK) -> bool:
    """Return whether everything but the time is the same."""
    works = [dataclasses.replace(result.work, seconds=0) for result in (one, other)]
    return (
        same_answer(one, other)
        and one.certificate == other.certificate
        and one.rounds == other.rounds
        and works[0] == works[1]
    )


@settings(max_examples=60)
@given(question=questions())
def test_the_answer_is_the_oracles(method: str, metric: str, question: Question) -> None:
    if metric == "cosine" and not question.has_cosine():
        event("no cosine")
        with pytest.raises(ValueError, match="cosine"):
            question.ask(method, metric)
        return
    result = question.ask(method, metric)
    assert_top_k(
        result, question.data, question.query, question.k, metric, np.array(question.where)
    )
    assert result.certificate.scores == "exact"
    assert result.certificate.epsilon == 0


@settings(max_examples=25)
@given(question=questions(), layout=st.sampled_from(list(LAYOUTS)))
def test_memory_layout_changes_nothing(
    method: str, metric: str, question: Question, layout: str
) -> None:
    if metric == "cosine" and not question.has_cosine():
        return
    with tempfile.TemporaryDirectory() as folder:
        data = LAYOUTS[layout](question.data, Path(folder))
        assert same_answer(question.ask(method, metric, data), question.ask(method, metric))


@settings(max_examples=25)
@given(question=questions(tuple(name for name in ELEMENT_TYPES if name != "float64")))
def test_element_type_changes_nothing(method: str, metric: str, question: Question) -> None:
    if metric == "cosine" and not question.has_cosine():
        return
    wide = question.data.astype(np.float64)
    assert same_answer(question.ask(method, metric, wide), question.ask(method, metric))


@settings(max_examples=25)
@given(question=questions(), numbers=st.integers(1, 50))
def test_batch_size_changes_nothing(
    method: str, metric: str, question: Question, numbers: int
) -> None:
    if metric == "cosine" and not question.has_cosine():
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "NUMBERS_PER_ROUND", numbers)
        small = question.ask(method, metric)
    assert same_answer(small, question.ask(method, metric))


@settings(max_examples=25)
@given(question=questions(("float64",)), rewards=st.integers(1, 50))
def test_rewards_per_call_change_nothing(method: str, question: Question, rewards: int) -> None:
    table = question.data
    k, where, seed = question.k, question.where, question.seed

    def ask() -> TopK:
        return sureshot.best_arms(
            lambda arms, js: table[np.ix_(arms, js)],
            *(len(table), table.shape[1]),
            k,
            epsilon=0,
            delta=CERTAIN,
            bounds=span(table),
            method=method,
            where=where,
            rng=seed,
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "SUMS_AT_ONCE", rewards)
        small = ask()
    assert same_course(small, ask())


# Large enough that three threads are really used, and that a method which samples does sample.
WIDE = random_data(np.random.default_rng(8), (200, 1535), "int8")


def ask_wide(method: str, layout: str, seed: int, **more: Any) -> TopK:
    query = np.random.default_rng(seed).standard_normal(1535) * 100
    arguments: dict[str, Any] = {"bounds": (-128, 127), "rng": seed} | more
    return sureshot.top_k(LAYOUTS[layout](WIDE, Path()), query, 3, method=method, **arguments)


@settings(max_examples=4)
@given(seed=st.integers(0, 2**32), epsilon=st.sampled_from([0.0, 1e4, 3e7]))
@pytest.mark.parametrize("layout", ["C", "F"])
def test_threads_change_nothing(
    method: str, metric: str, layout: str, seed: int, epsilon: float
) -> None:
    alone, *others = (
        ask_wide(method, layout, seed, metric=metric, epsilon=epsilon, threads=threads)
        for threads in (1, 2, 3)
    )
    assert all(same_course(alone, other) for other in others)


def test_a_method_that_samples_reads_a_part(method: str, races: list[Course]) -> None:
    found = ask_wide(method, "C", 9, epsilon=3e7)
    assert (found.work.share < 0.9) == (method != "exact")
    assert method != "betting" or races[-1].dropped > 100


@pytest.mark.parametrize(
    "method", [m.name for m in METHODS.values() if m.samples and m.any_k and m.budget != "required"]
)
@pytest.mark.parametrize("layout", ["C", "F"])
def test_threads_change_no_complaint(method: str, layout: str) -> None:
    complaints = set()
    for threads in (1, 2, 3):
        with pytest.raises(sureshot.BoundsError, match="outside") as error:
            ask_wide(method, layout, 1, epsilon=3e7, bounds=(-1, 1), threads=threads)
        complaints.add(str(error.value))
    assert len(complaints) == 1


@pytest.mark.parametrize("epsilon", [0.0, 3e7])
def test_the_seed_decides_the_order_and_nothing_else_does(method: str, epsilon: float) -> None:
    first = ask_wide(method, "C", 9, epsilon=epsilon)
    np.random.default_rng().random()
    assert same_course(ask_wide(method, "C", 9, epsilon=epsilon), first)
    generator = np.random.default_rng(9)
    assert same_course(ask_wide(method, "C", 9, epsilon=epsilon, rng=generator), first)
    # A generator moves on, so that the next query of a solver gets an order of its own.
    assert generator.bit_generator.state != np.random.default_rng(9).bit_generator.state


def _swap(result: TopK, scores: list[float], indices: list[int]) -> TopK:
    return dataclasses.replace(result, scores=np.array(scores), indices=np.array(indices))


def test_the_comparison_forgives_rounding_only() -> None:
    # Rows 1 and 2 differ by rounding, rows 0 and 3 are equal.
    data = np.array([[0.5], [1.0], [1.0 + 2**-52], [0.5]])
    right = sureshot.top_k(data, np.ones(1), 3, method="exact")
    assert_top_k(right, data, np.ones(1), 3, "ip")
    assert_top_k(_swap(right, [1, 1, 0.5], [1, 2, 0]), data, np.ones(1), 3, "ip")
    wrong: dict[str, tuple[list[float], list[int]]] = {
        "worse row": ([1, 0.5, 0.5], [1, 0, 3]),
        "wrong score": ([1, 1, 0.6], [1, 2, 0]),
        "tie left out": ([1, 1, 0.5], [1, 2, 3]),
        "worst first": ([0.5, 1, 1], [0, 1, 2]),
        "larger index first": ([1, 1, 0.5], [2, 1, 0]),
        "twice": ([1, 1, 0.5], [1, 1, 0]),
        "too few": ([1, 1], [1, 2]),
    }
    for scores, indices in wrong.values():
        with pytest.raises(AssertionError):
            assert_top_k(_swap(right, scores, indices), data, np.ones(1), 3, "ip")
    with pytest.raises(AssertionError):
        assert_top_k(right, data, np.ones(1), 3, "ip", [0, 1, 3])
