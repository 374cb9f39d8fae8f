"""Screened scores are within their proved errors, for all data, memory orders and instruction sets.

Levels of instructions may give different digits here, unlike everywhere else: a screened score is never
returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot import _native
from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.search.screen import error_terms
from sureshot.sources.dense import DenseSource
from sureshot.sources.norms import PromisedNorms
from sureshot.sources.screening import Wanted
from sureshot.sources.values import REWARDS
from tests.conftest import ELEMENT_TYPES, LAYOUTS, random_data, rewards, sums

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sureshot._types import Array, Floats
    from sureshot.sources.base import Screened

SIZES = (1, 7, 97, 1535)
LONG_SIZES = (2048, 4113, 9001)  # of one query: rows side by side, in panels of 4,096 columns
ONES, TINY = 16, 2.0**-12 * (1 - 2.0**-10)  # the square of TINY vanishes beside 1 in float32

every_reward = pytest.mark.parametrize("reward", list(REWARDS))


def cancelling(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Return rows whose second half cancels nearly all of the first."""
    half = rng.standard_normal((shape[0], shape[1] // 2 + 1)) * 1e6
    return np.hstack([half, -half])[:, : shape[1]] + rng.standard_normal(shape)


def mixed(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    return rng.standard_normal(shape) * 10.0 ** rng.integers(-15, 15, shape)


HARD: dict[str, Callable[[np.random.Generator, tuple[int, int]], Array]] = {
    "cancelling": cancelling,
    "offset": lambda rng, shape: 1e6 + rng.standard_normal(shape),
    "mixed": mixed,
    "small": lambda rng, shape: 1e-25 * rng.standard_normal(shape),
    "denormal": lambda rng, shape: 1e-42 * rng.standard_normal(shape),
    "large": lambda rng, shape: 1e15 * rng.standard_normal(shape),
}


def source_of(data: Array, query: Floats, reward: str) -> DenseSource:
    return DenseSource(data, query, reward, Blocks(data.shape[1], 16), Team(1))


def screened_scores(data: Array, queries: Floats, reward: str) -> Screened:
    screened = source_of(data, queries[0], reward).screened_scores(
        queries, np.arange(len(data)), Team(1)
    )
    assert screened is not None
    return screened


def errors_of(screened: Screened, query: int, reward: str, size: int) -> Floats:
    terms = error_terms(reward, screened.queries[query], size)
    return terms.errors(screened.scores[query], screened.squares)


def excess(data: Array, queries: Floats, reward: str) -> float:
    """Return the largest error of a screened score as a share of what is proved."""
    screened = screened_scores(data, queries, reward)
    found = 0.0
    for at, query in enumerate(queries):
        errors = errors_of(screened, at, reward, data.shape[1])
        assert np.isfinite(errors).all()
        assert (errors >= 0).all()
        truth = sums(rewards(data, query, reward))
        exact = source_of(data, query, reward).exact_scores(np.arange(len(data)))
        for scores in (truth, exact):
            off = np.abs(screened.scores[at] - scores)
            assert (off[errors == 0] == 0).all()
            shares = np.divide(off, errors, out=np.zeros(len(off)), where=errors > 0)
            found = max(found, float(shares.max()))
    return found


@every_reward
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [name for name in ELEMENT_TYPES if name != "float64"])
@pytest.mark.parametrize("size", SIZES)
def test_errors_are_within_the_bound(
    reward: str, layout: str, dtype: str, size: int, tmp_path: Path
) -> None:
    rng = np.random.default_rng(size)
    data = LAYOUTS[layout](random_data(rng, (7, size), dtype), tmp_path)
    queries = rng.standard_normal((3, size))
    queries[1] *= 1e3
    queries[2] = queries[2].astype(np.float32)
    assert excess(data, queries, reward) <= 1


@every_reward
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", HARD)
@pytest.mark.usefixtures("instruction_set")
def test_errors_of_hard_data_are_within_the_bound(reward: str, order: str, kind: str) -> None:
    for size in SIZES:
        rng = np.random.default_rng(size)
        data = np.array(HARD[kind](rng, (9, size)), dtype=np.float32, order=order)  # type: ignore[call-overload]
        near = data[3].astype(np.float64)
        queries = np.stack([near, np.ones(size), near + 1e-3 * rng.standard_normal(size)])
        assert excess(data, queries, reward) <= 1


@every_reward
@pytest.mark.parametrize("size", LONG_SIZES)
@pytest.mark.parametrize("n_rows", [1, 8, 23])
@pytest.mark.usefixtures("instruction_set")
def test_errors_of_long_rows_are_within_the_bound(reward: str, size: int, n_rows: int) -> None:
    rng = np.random.default_rng(size)
    for kind in (rng.standard_normal, lambda shape: cancelling(rng, shape)):
        data = kind((n_rows, size)).astype(np.float32)
        assert excess(data, data[:1].astype(np.float64) + 1e-3, reward) <= 1


@every_reward
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("instruction_set")
def test_rows_that_lie_apart_have_the_scores_of_neighbours(reward: str, size: int) -> None:
    rng = np.random.default_rng(size)
    data = rng.standard_normal((40, size + 3), dtype=np.float32)
    query = rng.standard_normal((1, size))
    together = screened_scores(data[:, :size].copy(), query, reward)
    apart = screened_scores(data[:, :size], query, reward)
    np.testing.assert_array_equal(apart.scores, together.scores)
    arms = np.array([0, 1, 5, 6, 39])
    some = source_of(data[:, :size], query[0], reward).screened_scores(query, arms, Team(1))
    assert some is not None
    np.testing.assert_array_equal(some.scores, together.scores[:, arms])


@every_reward
@pytest.mark.parametrize("order", ["C", "F"])
def test_many_queries_share_a_pass(reward: str, order: str) -> None:
    rng = np.random.default_rng(1)
    data = np.array(rng.standard_normal((301, 97)), dtype=np.float32, order=order)  # type: ignore[call-overload]
    queries = rng.standard_normal((16, 97))
    together = screened_scores(data, queries, reward)
    for at in range(len(queries) - 1):
        two = screened_scores(data, queries[at : at + 2], reward)
        # By column the first query of a pass, which adds up the squares, is added up in another order.
        np.testing.assert_allclose(two.scores, together.scores[at : at + 2], rtol=0, atol=1e-4)
    arms = np.flatnonzero(rng.random(301) < 0.5)
    some = source_of(data, queries[0], reward).screened_scores(queries, arms, Team(3))
    assert some is not None
    np.testing.assert_array_equal(some.scores, together.scores[:, arms])


@pytest.mark.parametrize("exponent", [-1000, -300, -100, 100, 300, 1000])
def test_products_of_queries_beyond_float32(exponent: int) -> None:
    rng = np.random.default_rng(2)
    data = rng.standard_normal((7, 97), dtype=np.float32)
    queries = np.ldexp(rng.standard_normal((2, 97)), exponent)
    assert excess(data, queries, "ip") <= 1


def systematic(reward: str, size: int, n_queries: int) -> tuple[Array, Floats]:
    """Return rows, all alike, and queries of which float32 loses nearly as much as it can."""
    row = np.full(size, TINY)
    row[:ONES] = 1
    query = row if reward == "ip" else np.zeros(size)
    if reward == "l1":
        row[ONES:] = TINY**2
    return np.tile(row.astype(np.float32), (8, 1)), np.tile(query, (n_queries, 1))


@every_reward
@pytest.mark.parametrize(("size", "n_queries"), [(512, 2), (4096, 1)])
@pytest.mark.usefixtures("instruction_set")
def test_planted_the_bound_is_nearly_reached(reward: str, size: int, n_queries: int) -> None:
    # Of a whole panel. So a bound that is two times too small would be seen.
    data, queries = systematic(reward, size, n_queries)
    assert 0.5 < excess(data, queries, reward) <= 1


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("reward", "value"),
    [
        *[(reward, value) for reward in REWARDS for value in (np.nan, np.inf, -np.inf)],
        ("ip", 3e38),  # its square is too large for float32
        ("sqeuclidean", 3e38),
    ],
)
@pytest.mark.usefixtures("instruction_set")
def test_what_is_not_finite_is_unknown(reward: str, order: str, value: float) -> None:
    rng = np.random.default_rng(3)
    data = np.array(rng.standard_normal((7, 97)), dtype=np.float32, order=order)  # type: ignore[call-overload]
    data[4, 61] = value
    screened = screened_scores(data, -np.ones((1, 97)), reward)
    with np.errstate(invalid="ignore"):
        known = np.isfinite(screened.scores[0] - errors_of(screened, 0, reward, 97))
    assert np.flatnonzero(~known).tolist() == [4]


def test_what_float32_cannot_screen_is_not_screened() -> None:
    data, query = np.ones((7, 97)), np.ones(97)
    arms = np.arange(7)
    assert source_of(data, query, "ip").screened_scores(query[None], arms, Team(1)) is None
    short = data.astype(np.float32)
    far = source_of(short, query, "l1").screened_scores(1e39 * query[None], arms, Team(1))
    assert far is None
    assert source_of(short, query, "ip").screened_scores(0 * query[None], arms, Team(1)) is None
    columns = source_of(np.asfortranarray(np.ones((700, 97), np.float32)), query, "ip")
    scattered = np.array([3, 400, 699])
    assert columns.screened_scores(query[None], scattered, Team(1)) is None


def rounded_by_numpy(query: Floats, reward: str) -> tuple[Array, float, float, float]:
    """Return a query in float32, its norm, what it loses and its unit."""
    largest = np.abs(query).max()
    unit = np.ldexp(0.5, np.frexp(largest)[1]) if reward == "ip" else 1.0
    scaled = query / unit
    values = scaled.astype(np.float32)
    lost = np.abs(scaled - values)
    most = lost.max() or 1.0
    rounding = lost.sum() if reward == "l1" else most * np.linalg.norm(lost / most)
    norm = np.linalg.norm(scaled) if reward == "ip" else largest
    return values, float(norm * unit), float(rounding * unit), float(unit)


@every_reward
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("exponent", [-1000, -130, 0, 100])
def test_a_query_is_rounded_as_by_numpy(reward: str, size: int, exponent: int) -> None:
    rng = np.random.default_rng(size)
    query = np.ldexp(rng.standard_normal(size) * 10.0 ** rng.integers(-8, 1, size), exponent)
    for asked in (query, query.astype(np.float32).astype(np.float64) if exponent == 0 else query):
        found = _native.rounded_query(REWARDS[reward], asked)
        assert found is not None
        values, *others = rounded_by_numpy(asked, reward)
        np.testing.assert_array_equal(found[0], values)
        np.testing.assert_allclose(found[1:], others, rtol=1e-12)


@every_reward
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("absolute", [False, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.usefixtures("instruction_set")
def test_one_call_finds_what_its_parts_find(
    reward: str, order: str, threads: int, absolute: bool, size: int
) -> None:
    rng = np.random.default_rng(size)
    data = np.array(rng.standard_normal((901, size)), dtype=np.float32, order=order)  # type: ignore[call-overload]
    data[::90] = 3 * data[0]
    data[[5, 700], 0] = np.nan, np.inf
    arms = np.delete(np.arange(901), [5, 300, 700])
    query, scale = rng.standard_normal(size), np.exp(rng.standard_normal(len(arms)))
    source = DenseSource(data, query, reward, Blocks(size, 16), Team(threads))
    screened = source.screened_scores(query[None], arms, Team(1))
    rounded = source.rounded_query(arms)
    assert screened is not None
    assert rounded is not None
    terms = error_terms(reward, rounded, size)
    for k, best, factors in (
        (7, np.empty(0), None),
        (1, np.array([0.1]), scale),
        (40, scale[:40], scale),
    ):
        expected = _native.candidates(
            screened.scores[0],
            screened.squares,
            factors,
            absolute,
            fixed=terms.fixed,
            of_root=terms.of_root,
            of_score=terms.of_score,
            best=best,
            k=k,
        )
        wanted = Wanted(k, best, len(arms), 1.0, factors, absolute, *terms)
        found = source.screened_best(rounded, arms, wanted, source.team)
        assert found.screened == len(arms)
        assert not found.too_many
        assert found.positions.tolist() == expected.tolist()
        scores = source.exact_scores(arms[expected])
        scores = scores if factors is None else factors[expected] * scores
        scores = np.abs(scores) if absolute else scores
        assert found.scores.tobytes() == scores.tobytes()
        assert found.trusted
        # In parts, the first of which leave less than their share, it finds the same.
        in_parts = source.screened_best(rounded, arms, wanted._replace(first=101), source.team)
        assert in_parts.positions.tolist() == expected.tolist()
        assert in_parts.scores.tobytes() == scores.tobytes()
        if len(expected) > 0:
            fewer = wanted._replace(share=(len(expected) - 0.5) / len(arms))
            too_many = source.screened_best(rounded, arms, fewer, source.team)
            assert too_many.screened == len(arms)
            assert too_many.too_many
            assert len(too_many.positions) == 0
        # None of them is left where others are known to be better, which is not too many.
        known = wanted._replace(best=np.full(k, 1e9))
        assert source.screened_best(rounded, arms, known, source.team)[:2] == (len(arms), False)


@every_reward
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(901, 1), (301, 97), (93, 1535), (85, 70_001)])
@pytest.mark.usefixtures("instruction_set")
def test_a_query_of_float32_finds_what_the_same_in_float64_finds(
    reward: str, order: str, shape: tuple[int, int]
) -> None:
    n_arms, size = shape
    rng = np.random.default_rng(size)
    data = np.array(rng.standard_normal(shape), dtype=np.float32, order=order)  # type: ignore[call-overload]
    arms, k = np.arange(n_arms), 5
    promised = PromisedNorms(arms, np.linalg.norm(data.astype(np.float64), axis=1), 0.0)
    for factor in (1.0, 2.0**-60, 2.0**60):
        query = (factor * rng.standard_normal(size)).astype(np.float32)
        blocks = Blocks(size, 16)
        wide = DenseSource(data, query.astype(np.float64), reward, blocks, Team(1))
        scores = wide.exact_scores(arms)
        best = set(np.argsort(-scores, kind="stable")[:k].tolist())
        for threads, norms in ((1, None), (3, promised if reward == "ip" else None)):
            source = DenseSource(data, query, reward, blocks, Team(threads), norms)
            assert source.exact_scores(arms).tobytes() == scores.tobytes()
            rounded = source.rounded_query(arms)
            assert rounded is not None
            terms = error_terms(reward, rounded, size)
            wanted = Wanted(k, np.empty(0), n_arms, 1.0, None, False, *terms)
            found = source.screened_best(rounded, arms, wanted, source.team)
            assert best <= set(found.positions.tolist())
            assert found.scores.tobytes() == scores[found.positions].tobytes()
            assert found.trusted


def test_a_screen_ends_where_it_leaves_too_many() -> None:
    source = source_of(np.ones((900, 20), np.float32), np.ones(20), "ip")
    rounded = source.rounded_query(np.arange(900))
    assert rounded is not None
    wanted = Wanted(1, np.empty(0), 50, 0.125, None, False, 0.0, 0.0, 0.0)
    found = source.screened_best(rounded, np.arange(900), wanted, Team(2))
    assert (found.screened, found.too_many, len(found.positions)) == (50, True, 0)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_one_call_does_not_trust_what_is_no_number(value: float) -> None:
    data = np.ones((50, 20), np.float32)
    data[31, 7] = value
    source = source_of(data, np.ones(20), "ip")
    rounded = source.rounded_query(np.arange(50))
    assert rounded is not None
    wanted = Wanted(1, np.empty(0), 50, 1.0, None, False, 0.0, 0.0, 0.0)
    found = source.screened_best(rounded, np.arange(50), wanted, Team(1))
    assert 31 in found.positions
    assert not found.trusted


def test_one_call_does_not_trust_a_row_without_its_promised_norm() -> None:
    data = np.random.default_rng(4).standard_normal((50, 16), dtype=np.float32)
    norms = np.linalg.norm(data.astype(np.float64), axis=1)
    arms, wanted = np.arange(50), Wanted(1, np.empty(0), 50, 1.0, None, False, 0.0, 0.0, 0.0)
    for factor in (1.0, 1.001, 1.000001):  # the last is found in double only, of the best row
        promised = PromisedNorms(arms, factor * norms, 0.0)
        source = DenseSource(data, data[3].astype(float), "ip", Blocks(16, 16), Team(1), promised)
        rounded = source.rounded_query(arms)
        assert rounded is not None
        found = source.screened_best(rounded, arms, wanted, Team(1))
        assert 3 in found.positions
        assert found.trusted == (factor == 1.0)


def test_a_row_without_its_promised_norm_is_unknown() -> None:
    data = np.ones((5, 16), np.float32)
    norms = np.array([4.0, 4.0, 4.1, 4.0, 3.9])
    promised = PromisedNorms(np.arange(5), norms, 0.0)
    source = DenseSource(data, np.ones(16), "ip", Blocks(16, 16), Team(1), promised)
    screened = source.screened_scores(np.ones((1, 16)), np.arange(5), Team(1))
    assert screened is not None
    known = np.isfinite(errors_of(screened, 0, "ip", 16))
    assert known.tolist() == [True, True, False, True, False]
