"""Every kernel, for every instruction set there is, to the last bit: the same sums in the same order.

The contract suite compares with correctly rounded sums; here a slow model in numpy does the very
operations that the kernels promise to do, so one comparison says that instruction sets, memory orders
and the arms asked together change nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot import _native
from sureshot._elements import for_kernels
from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.sources.dense import DenseSource
from sureshot.sources.values import REWARDS
from tests.conftest import ELEMENT_TYPES, LAYOUTS, random_data, rewards

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sureshot._types import Array, Floats, Ints

LANES = 8


@pytest.fixture(params=_native.instruction_sets())
def instruction_set(request: pytest.FixtureRequest) -> Iterator[str]:
    best = _native.instruction_set()
    _native.use_instruction_set(request.param)
    yield request.param
    _native.use_instruction_set(best)


def load_with(asked: str) -> subprocess.CompletedProcess[str]:
    """Load the library where the environment asks for an instruction set, and print it."""
    return subprocess.run(
        [sys.executable, "-c", "import sureshot; print(sureshot._native.instruction_set())"],
        env={**os.environ, "SURESHOT_INSTRUCTION_SET": asked},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("asked", ["", *_native.instruction_sets()])
def test_the_best_instruction_set_is_used_unless_the_environment_asks_for_another(
    asked: str,
) -> None:
    loaded = load_with(asked)
    assert loaded.stdout.strip() == (asked or _native.instruction_sets()[0]), loaded.stderr


def test_an_instruction_set_that_is_not_there_is_refused_when_the_library_is_loaded() -> None:
    refused = load_with("mmx")
    assert refused.returncode == 1
    known = ", ".join(_native.instruction_sets())
    message = f"ImportError: SURESHOT_INSTRUCTION_SET must be one of {known}; got mmx"
    assert refused.stderr.splitlines()[-1] == message


def test_an_instruction_set_can_be_forced(instruction_set: str) -> None:
    assert _native.instruction_set() == instruction_set
    known = ", ".join(_native.instruction_sets())
    with pytest.raises(ValueError, match=f"one of {known}; got mmx"):
        _native.use_instruction_set("mmx")
    assert _native.instruction_set() == instruction_set


def sum_in_lanes(table: Floats) -> Floats:
    """Return the sum of each row: interleaved lanes, one after the other, then their halves."""
    rows, width = table.shape
    padded = np.zeros((rows, -(-width // LANES) * LANES))
    padded[:, :width] = table
    lanes = np.zeros((rows, LANES))
    for start in range(0, width, LANES):
        lanes += padded[:, start : start + LANES]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[:, 0]


def blocks_in_lanes(table: Floats, blocks: Ints, block: int) -> Floats:
    return np.stack([sum_in_lanes(table[:, b * block : (b + 1) * block]) for b in blocks])


# Whole, short and odd numbers of lanes, of groups of columns, of rows together and of tiles.
SHAPES = [(1, 1), (3, 7), (9, 97), (6, 128), (7, 1535), (1030, 33)]


def subsets(rng: np.random.Generator, n_arms: int) -> list[Ints]:
    """Return all arms, some neighbours, some with gaps, and some in no order."""
    shuffled = rng.permutation(n_arms)[: n_arms // 2 + 1]
    return [np.arange(n_arms), np.arange(n_arms // 3, n_arms), np.sort(shuffled), shuffled]


@pytest.mark.parametrize("layout", ["C", "F", "strided", "negative", "negative F"])
@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.usefixtures("instruction_set")
def test_kernels_do_what_the_model_does(
    layout: str, dtype: str, shape: tuple[int, int], tmp_path: Path
) -> None:
    rng = np.random.default_rng(shape)
    n_arms, width = shape
    plain = random_data(rng, shape, dtype)
    numbers = plain.astype(np.float64)
    query, unit = rng.standard_normal(width), rng.random(width)
    values, element = for_kernels(LAYOUTS[layout](plain, tmp_path))
    team = Team(2)
    for arms in subsets(rng, n_arms):
        _native.scan_rows(
            values, element, query, unit, arms, team, *(found := np.full((2, len(arms)), np.nan))
        )
        reach = (np.abs(numbers[arms] - query) * unit).max(axis=1)
        assert_same(found, np.stack([reach, sum_in_lanes(numbers[arms] ** 2)]))

        _native.column_limits(values, element, arms, team, *(limits := np.full((2, width), np.nan)))
        assert_same(limits, np.stack([numbers[arms].min(axis=0), numbers[arms].max(axis=0)]))

        for reward, metric in REWARDS.items():
            table = rewards(numbers[arms], query, reward)
            scores = np.full(len(arms), np.nan)
            dense = _native.Dense(values, element, metric, query, block=1, shift=0)
            _native.row_scores(dense, query[None], arms, team, scores[None])
            assert_same(scores, sum_in_lanes(table))
            if reward == "ip":
                both = np.full((2, len(arms)), np.nan)
                queries = np.stack([query, unit])
                norms = np.full(len(arms), np.nan)
                _native.row_scores(dense, queries, arms, team, both, norms)
                assert_same(both[0], scores)
                assert_same(both[1], sum_in_lanes(numbers[arms] * unit))
                assert_same(norms, sum_in_lanes(numbers[arms] ** 2))
                alone = np.full(len(arms), np.nan)
                _native.row_scores(dense, query[None], arms, team, both[:1], alone)
                assert_same(both[0], scores)
                assert_same(alone, norms)
            for block in (1, 5, 16):
                count = -(-width // block)
                blocks = np.unique(np.append(rng.integers(0, count, 20), count - 1))
                sums, squares = np.full((2, len(blocks), len(arms)), np.nan)
                dense = _native.Dense(values, element, metric, query, block=block, shift=0)
                asked = (dense, arms, blocks, team)
                _native.block_sums(*asked, sums, squares)
                assert_same(sums, blocks_in_lanes(table, blocks, block))
                assert_same(squares, blocks_in_lanes(numbers[arms] ** 2, blocks, block))
                _native.block_sums(*asked, again := np.full(sums.shape, np.nan))
                assert_same(again, sums)


def assert_same(found: Array, expected: Array) -> None:
    """Fail unless all bits are the same; for a number, so is its sign."""
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.usefixtures("instruction_set")
def test_a_value_that_is_no_number_spoils_what_it_should(order: str) -> None:
    data = np.ones((40, 300), np.float32, order=order)  # type: ignore[call-overload]
    data[11, 205], data[23, 7] = np.nan, np.inf
    arms, team, zeros = np.arange(40), Team(1), np.zeros(300)
    _native.scan_rows(
        *for_kernels(data), zeros, zeros + 1, arms, team, *(found := np.empty((2, 40)))
    )
    assert np.flatnonzero(~np.isfinite(found[0])).tolist() == [23]
    assert np.flatnonzero(~np.isfinite(found[1])).tolist() == [11, 23]
    _native.column_limits(*for_kernels(data), arms, team, *(limits := np.empty((2, 300))))
    assert (limits[:, 205] == 1).all()
    assert limits[:, 7].tolist() == [1, np.inf]
    _native.column_limits(*for_kernels(data), np.array([11]), team, *(limits := np.empty((2, 300))))
    assert limits[:, 205].tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize(
    ("shape", "few"),
    [((97, n), few) for n in (1, 7, 8, 97, 1535) for few in ([3], [5, 40, 90], [*range(0, 97, 5)])]
    + [((9, 140_003), [3]), ((9, 140_003), [8, 0])],  # worth sharing
)
def test_a_few_rows_of_columns_are_scored_as_rows_are(
    shape: tuple[int, int], few: list[int], instruction_set: str
) -> None:
    """To the last bit, whether one thread reads a row or two share it."""
    rng = np.random.default_rng(shape[1])
    data = rng.standard_normal(shape)
    query = rng.standard_normal(shape[1])
    found = []
    for stored in (data, np.asfortranarray(data)):
        for threads in (1, 2):
            team = Team(threads)
            team.start()
            source = DenseSource(stored, query, "ip", Blocks(shape[1]), team)
            scores, norms = source.exact_scores_and_norms(query[None], np.array(few), team)
            np.testing.assert_array_equal(source.exact_scores(np.array(few)), scores[0])
            found.append(np.stack([scores[0], norms]))
    for both in found[1:]:
        np.testing.assert_array_equal(both, found[0])
    np.testing.assert_allclose(found[0][1], np.linalg.norm(data[few], axis=1), rtol=1e-12)
