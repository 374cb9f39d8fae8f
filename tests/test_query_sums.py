"""What is added up of a query, and what follows from bounds alone and is made once."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

import sureshot
from sureshot import Bounds, _native
from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.prepare import reward_intervals
from sureshot.query_sums import QuerySums
from sureshot.sources.dense import DenseSource

if TYPE_CHECKING:
    from sureshot._types import Floats

SHAPES = [
    (1, 1, 0),
    (7, 1, 0),
    (97, 16, 0),
    (1535, 16, 5),
    (20_011, 16, 3),
    (20_011, 1, 0),
    (5, 9, 2),
]


@pytest.mark.parametrize(("width", "size", "shift"), SHAPES)
def test_sums_are_those_of_plain_numpy(width: int, size: int, shift: int) -> None:
    rng = np.random.default_rng(width)
    query, factors = rng.standard_normal((2, width))
    blocks = Blocks(width, size, shift)
    sums = QuerySums(query, blocks)
    expected: list[tuple[Floats, Floats]] = [
        (sums.absolute().sums, np.abs(query)),
        (sums.absolute(np.abs(factors)).sums, np.abs(query * factors)),
        (sums.squares().sums, query**2),
        (sums.products(factors).sums, query * factors),
        (sums.products(np.array(-3.0)).sums, -3.0 * query),
    ]
    for found, terms in expected:
        np.testing.assert_allclose(found, blocks.sums(terms), rtol=1e-12, atol=1e-13)
    assert sums.products(factors).total == pytest.approx(np.abs(query * factors).sum(), rel=1e-12)
    np.testing.assert_array_equal(blocks.sizes(), blocks.sums(np.ones(width)))


@pytest.mark.parametrize("width", [97, 20_011, 300_000])
@pytest.mark.parametrize("size", [1, 16])
def test_threads_and_instruction_sets_change_nothing(width: int, size: int) -> None:
    query = np.random.default_rng(0).standard_normal(width)
    best = _native.instruction_set()
    found = []
    try:
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            for threads in (1, 2, 3):
                sums = QuerySums(query, Blocks(width, size), Team(threads))
                found += [(one.sums, one.total) for one in (sums.squares(), sums.products(query))]
    finally:
        _native.use_instruction_set(best)
    for at, (values, total) in enumerate(found):
        np.testing.assert_array_equal(values, found[at % 2][0])
        assert total == found[at % 2][1]


@pytest.mark.parametrize(("width", "size", "shift"), SHAPES)
def test_floats_are_added_up_as_if_they_were_doubles(width: int, size: int, shift: int) -> None:
    short, factors = np.random.default_rng(width).standard_normal((2, width)).astype(np.float32)
    blocks = Blocks(width, size, shift)
    sums, wide = (QuerySums(query, blocks, Team(2)) for query in (short, short.astype(np.float64)))
    for by in (np.ones(1), factors.astype(np.float64)):
        for found, expected in (
            (sums.absolute(by), wide.absolute(by)),
            (sums.products(by), wide.products(by)),
            (sums.squares(), wide.squares()),
        ):
            np.testing.assert_array_equal(found.sums, expected.sums)
            assert found.total == expected.total


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.uint8])
@pytest.mark.parametrize(("block", "shift"), [(1, 0), (16, 5), (24, 0)])
def test_a_query_of_floats_gives_the_sums_of_doubles(
    order: str, dtype: type, block: int, shift: int
) -> None:
    rng = np.random.default_rng(block)
    data = np.asarray(rng.integers(0, 200, (37, 1003)), dtype=dtype, order=order)  # type: ignore[call-overload]
    short = rng.standard_normal(1003).astype(np.float32)
    arms, team = np.arange(0, 37, 2), Team(2)
    blocks = np.array([0, 1, 7, (1003 + shift - 1) // block])
    found = []
    for query in (short, short.astype(np.float64)):
        dense = _native.Dense(
            data,
            _native.Element[np.dtype(dtype).name.upper()],
            _native.Metric.INNER_PRODUCT,
            query,
            block=block,
            shift=shift,
        )
        sums, squares = np.empty((2, len(blocks), len(arms)))
        _native.block_sums(dense, arms, blocks, team, sums, squares)
        scores, norms = np.empty((1, len(arms))), np.empty(len(arms))
        _native.row_scores(dense, None, arms, team, scores, norms)
        found.append((sums, squares, scores, norms))
        expected = np.empty((1, len(arms)))
        _native.row_scores(dense, short.astype(np.float64)[None], arms, team, expected)
        np.testing.assert_array_equal(scores, expected)
    for floats, doubles in zip(*found, strict=True):
        np.testing.assert_array_equal(floats, doubles)


def test_a_race_by_row_widens_no_long_query(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((600, 20), np.float32) @ rng.standard_normal(
        (20, 40_000), np.float32
    )
    query, bounds = data[3] * 2, sureshot.scan(data)

    def refuse(source: DenseSource) -> None:
        pytest.fail(f"the query of {source.n_coordinates} floats was widened")

    monkeypatch.setattr(DenseSource, "query", property(refuse))
    found = sureshot.top_k(data, query, k=3, bounds=bounds, rng=0)
    assert found.algorithm == "race"
    assert set(found.indices) == set(np.argsort(-(data @ query))[:3])


def test_what_is_given_must_fit() -> None:
    sums = QuerySums(np.ones(5), Blocks(5, 2))
    with pytest.raises(ValueError, match="one factor"):
        sums.products(np.ones(4))
    with pytest.raises(ValueError, match="place for each block"):
        _native.query_sums(
            _native.QueryTerm.SQUARE, np.ones(5), np.ones(1), 2, 0, Team(1), np.empty(2)
        )


DATA = np.random.default_rng(3).standard_normal((400, 3000), dtype=np.float32)


def searched(bounds: Bounds) -> sureshot.TopK:
    return sureshot.top_k(DATA, DATA[0], 3, bounds=bounds, budget=0.2, rng=0)


@pytest.mark.parametrize("saved", [False, True])
def test_what_follows_from_a_scan_is_made_once(
    saved: bool, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = sureshot.scan(DATA)
    if saved:
        file = tmp_path_factory.mktemp("bounds") / "bounds.npz"
        bounds.save(file)
        bounds = Bounds.load(file)
    first = searched(bounds)
    monkeypatch.setattr(reward_intervals.ArmLimits, "of", lambda _: pytest.fail("made again"))
    again = searched(bounds)
    np.testing.assert_array_equal(first.scores, again.scores)
    assert first.work.numbers_read == again.work.numbers_read


def test_numbers_that_can_be_changed_are_looked_at_every_time() -> None:
    norms = np.linalg.norm(DATA, axis=1).astype(np.float64)
    bounds = Bounds(norms=norms)
    assert not bounds.unchangeable
    assert searched(bounds).indices[0] == 0
    norms[:] = 1e-6
    with pytest.raises(sureshot.BoundsError):
        searched(bounds)
    norms[0] = np.nan
    with pytest.raises(ValueError, match="finite norms"):
        searched(bounds)


def test_a_scan_cannot_be_changed_and_travels_without_what_was_kept() -> None:
    bounds = sureshot.scan(DATA)
    searched(bounds)
    assert bounds.unchangeable
    assert bounds.scale is not None
    with pytest.raises(ValueError, match="read-only"):
        bounds.scale[0] = 0.0
    size = len(pickle.dumps(bounds))
    assert size == len(pickle.dumps(sureshot.scan(DATA)))
