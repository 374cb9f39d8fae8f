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
    from pathlib import Path

    from sureshot._types import Array, Floats, Ints

LANES = 8


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


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_kernels_do_what_the_model_does(
    dtype: str, shape: tuple[int, int], tmp_path: Path, instruction_set_after: None
) -> None:
    """In one test for all instruction sets and layouts: the model takes most of the time."""
    rng = np.random.default_rng(shape)
    n_arms, width = shape
    plain = random_data(rng, shape, dtype)
    query, unit = rng.standard_normal(width), rng.random(width)
    stored = {
        layout: for_kernels(LAYOUTS[layout](plain, tmp_path))
        for layout in ("C", "F", "strided", "negative", "negative F")
    }
    for arms in subsets(rng, n_arms):
        blocks = {}
        for block in (1, 5, 16):
            count = -(-width // block)
            blocks[block] = np.unique(np.append(rng.integers(0, count, 20), count - 1))
        expected = model(plain[arms].astype(np.float64), query, unit, blocks)
        for name in _native.instruction_sets():
            _native.use_instruction_set(name)
            for layout, values in stored.items():
                found = kernels(values, query, unit, arms, blocks)
                assert found.keys() == expected.keys()
                for what, numbers in expected.items():
                    assert_same(found[what], numbers, f"{what}, {layout}, {name}")


def model(
    numbers: Floats, query: Floats, unit: Floats, blocks: dict[int, Ints]
) -> dict[str, Floats]:
    """Return what the kernels promise to compute of these rows, done by numpy."""
    reach = (np.abs(numbers - query) * unit).max(axis=1)
    norms = sum_in_lanes(numbers**2)
    made = {
        "scan": np.stack([reach, norms]),
        "limits": np.stack([numbers.min(axis=0), numbers.max(axis=0)]),
    }
    squares = {block: blocks_in_lanes(numbers**2, some, block) for block, some in blocks.items()}
    for reward in REWARDS:
        table = rewards(numbers, query, reward)
        made[f"{reward} scores"] = sum_in_lanes(table)
        if reward == "ip":
            made["two queries"] = np.stack([made["ip scores"], sum_in_lanes(numbers * unit)])
            made["norms of two queries"] = made["norms of one query"] = norms
            made["one query"] = made["ip scores"][None]
        for block, some in blocks.items():
            sums = blocks_in_lanes(table, some, block)
            made[f"{reward} sums of {block}"] = made[f"{reward} sums of {block} alone"] = sums
            made[f"{reward} squares of {block}"] = squares[block]
    return made


def kernels(
    stored: tuple[Array, _native.Element],
    query: Floats,
    unit: Floats,
    arms: Ints,
    blocks: dict[int, Ints],
) -> dict[str, Floats]:
    """Return the same by the kernels of the instruction set in use."""
    team, made = Team(2), {}

    def empty(name: str, *shape: int) -> Floats:
        made[name] = np.full(shape, np.nan)
        return made[name]

    _native.scan_rows(*stored, query, unit, arms, team, *empty("scan", 2, len(arms)))
    _native.column_limits(*stored, arms, team, *empty("limits", 2, len(query)))
    for reward, metric in REWARDS.items():
        dense = _native.Dense(*stored, metric, query, block=1, shift=0)
        scores = empty(f"{reward} scores", len(arms))
        _native.row_scores(dense, query[None], arms, team, scores[None])
        if reward == "ip":
            for name, queries in (("two queries", [query, unit]), ("one query", [query])):
                out = empty(name, len(queries), len(arms))
                norms = empty(f"norms of {name}", len(arms))
                _native.row_scores(dense, np.stack(queries), arms, team, out, norms)
        for block, some in blocks.items():
            dense = _native.Dense(*stored, metric, query, block=block, shift=0)
            sums = empty(f"{reward} sums of {block}", len(some), len(arms))
            squares = empty(f"{reward} squares of {block}", len(some), len(arms))
            _native.block_sums(dense, arms, some, team, sums, squares)
            alone = empty(f"{reward} sums of {block} alone", len(some), len(arms))
            _native.block_sums(dense, arms, some, team, alone)
    return made


def assert_same(found: Array, expected: Array, what: str = "") -> None:
    """Fail unless all bits are the same; for a number, so is its sign."""
    np.testing.assert_array_equal(found, expected, what)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected), what)


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


@pytest.mark.parametrize("n_arms", [5, 300, 5_200])
@pytest.mark.usefixtures("instruction_set")
def test_threads_share_the_lanes_of_columns(n_arms: int) -> None:
    """The scores and norms of neighbours are those of rows, to the last bit, however many threads share them."""
    rng = np.random.default_rng(n_arms)
    data, query = rng.standard_normal((n_arms, 1_003)), rng.standard_normal(1_003)
    queries, arms = np.stack([query, -2 * query]), np.arange(n_arms)
    found = []
    for stored, threads in ((data, 1), *((np.asfortranarray(data), t) for t in (1, 2, 3, 9))):
        team = Team(threads)
        team.start()
        source = DenseSource(stored, query, "ip", Blocks(1_003), team)
        found.append(np.vstack(source.exact_scores_and_norms(queries, arms, team)))
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])
