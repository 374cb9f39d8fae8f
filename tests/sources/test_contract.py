"""What every source must do, run over every source: kind, memory layout, element type, block."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zipfile import ZipFile

import numpy as np
import pytest

from examples.search_compressed_rows import CompressedRows
from sureshot import BoundsError
from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.sources.base import QuerySource
from sureshot.sources.dense import DenseSource
from sureshot.sources.function import FunctionSource
from sureshot.sources.rewards import Rewards
from sureshot.sources.stored import StoredSource
from sureshot.sources.values import REWARDS
from sureshot.storage.file import FileMatrix
from tests.conftest import ELEMENT_TYPES, EPS, FLOAT_TYPES, LAYOUTS, random_data, rewards, sums

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sureshot._types import Array, Floats, Ints
    from sureshot.sources.base import Source

SIZES = (1, 7, 97, 1535)
BLOCKS = (1, 3, 16)
# A transposed view has the strides of Fortran order: test_edge_cases.py has both.
KINDS = [layout for layout in LAYOUTS if layout != "transposed"]
DENSE = [(layout, dtype) for layout in KINDS for dtype in ELEMENT_TYPES]
FUNCTION = ("function", "float64")
COMPRESSED = ("compressed", "float32")  # of the examples: inner products only
# In a file, from some byte on: the kernels are those of arrays, and one type of each size tells.
STORED = [("file", dtype) for dtype in ("float32", "float64", "bfloat16", "int8")]
FLOATS = [case for case in (*DENSE, *STORED) if case[1] in FLOAT_TYPES]


def with_rewards(cases: list[tuple[str, str]]) -> pytest.MarkDecorator:
    """Run a test over sources, each with every reward that it has."""
    pairs = [(case, reward) for case in cases for reward in REWARDS]
    pairs += [(COMPRESSED, "ip")]
    names = ["-".join((*case, reward)) for case, reward in pairs]
    return pytest.mark.parametrize(("case", "reward"), pairs, ids=names)


every_reward = pytest.mark.parametrize("reward", list(REWARDS))


def source_of(
    kind: str, data: Array, query: Floats, reward: str, block: int, threads: int, folder: Path
) -> Source:
    if kind == "function":
        table = rewards(data, query, reward)
        n_arms, size = data.shape
        pulls = Rewards(lambda arms, js: table[np.ix_(arms, js)], low=-1e18, high=1e18)
        return FunctionSource(pulls, n_arms, size)
    blocks = Blocks(data.shape[1], block)
    if kind == "compressed":
        with ZipFile(folder / "rows.zip", "w") as file:
            for arm, at in np.ndindex(len(data), blocks.count):
                values = data[arm, slice(*blocks.span(at))].astype(np.float32)
                file.writestr(f"{arm}/{at}", values.tobytes())
        return CompressedRows(ZipFile(folder / "rows.zip"), query, blocks)
    if kind == "file":
        (folder / "rows").write_bytes(b"head" * 9 + data.tobytes())
        stored = FileMatrix(folder / "rows", data.dtype, data.shape, offset=36)
        return StoredSource(stored, query, reward, blocks, Team(threads))
    return DenseSource(LAYOUTS[kind](data, folder), query, reward, blocks, Team(threads))


def table_of_blocks(table: Floats, block: int) -> Floats:
    """Return the sums of each arm over each block, shape (blocks, arms)."""
    starts = range(0, table.shape[1], block)
    return np.stack([sums(table[:, start : start + block]) for start in starts])


def problem(dtype: str, n_arms: int, size: int) -> tuple[Array, Floats]:
    rng = np.random.default_rng([n_arms, size])
    return random_data(rng, (n_arms, size), dtype), rng.standard_normal(size)


def asks(source: Source, arms: Ints, blocks: Ints) -> dict[str, Callable[[], Floats]]:
    """Return every question a source answers."""
    centre, weight = np.linspace(-1, 1, len(blocks)), np.linspace(1, 2, len(blocks))

    def totals() -> Floats:
        found = source.totals(arms, blocks, centre, weight)
        return np.stack([found.high, found.low, found.largest])

    return {
        "block_sums": lambda: source.block_sums(arms, blocks),
        "totals": totals,
        "piece_totals": lambda: source.piece_totals(arms, np.sort(blocks), centre, weight).high,
        "exact_scores": lambda: source.exact_scores(arms),
        "exact_scores of blocks": lambda: source.exact_scores(arms, blocks),
    }


@with_rewards([*DENSE, *STORED, FUNCTION])
@pytest.mark.parametrize("size", SIZES)
def test_sums_agree_with_the_oracle(
    case: tuple[str, str], reward: str, size: int, tmp_path: Path
) -> None:
    kind, dtype = case
    data, query = problem(dtype, 7, size)
    table = rewards(data, query, reward)
    allowance = 2 * size * EPS * sums(np.abs(table)).max()
    rng = np.random.default_rng(size)
    arms = rng.permutation(7)[:5]
    for block in BLOCKS:
        source = source_of(kind, data, query, reward, block, 2, tmp_path)
        assert (source.n_arms, source.n_coordinates) == data.shape
        expected = table_of_blocks(table, source.blocks.size)
        # Some of the blocks, in no order, the short last one among them.
        count = len(expected)
        blocks = rng.permutation(np.union1d(rng.permutation(count)[: count // 2], [count - 1]))
        expected = expected[np.ix_(blocks, arms)]
        found = source.block_sums(arms, blocks)
        assert (found.shape, found.dtype) == (expected.shape, np.dtype(np.float64))
        np.testing.assert_allclose(found, expected, rtol=0, atol=allowance)

        centre, weight = rng.standard_normal(len(blocks)), rng.random(len(blocks)) + 0.5
        totals = source.totals(arms, blocks, centre, weight)
        # high + low is the sum of the block sums in twice the precision of float64.
        missing = sums(np.vstack([found, -totals.high, -totals.low]).T)
        np.testing.assert_allclose(missing, 0, rtol=0, atol=size * EPS * allowance)
        farthest = (np.abs(found - centre[:, None]) / weight[:, None]).max(axis=0)
        np.testing.assert_allclose(totals.largest, farthest, rtol=4 * EPS)

        pieces = source.piece_totals(arms, np.sort(blocks), centre, weight)
        np.testing.assert_allclose(
            pieces.high + pieces.low, totals.high + totals.low, rtol=0, atol=allowance
        )

        scores = source.exact_scores(arms)
        np.testing.assert_allclose(scores, sums(table[arms]), rtol=0, atol=allowance)
        some = source.exact_scores(arms, np.sort(blocks))
        np.testing.assert_allclose(some, totals.high + totals.low, rtol=0, atol=allowance)
        if isinstance(source, QuerySource):
            several = source.exact_scores_of(np.stack([query, 2 * query]), arms, Team(1))
            np.testing.assert_array_equal(several[0], scores)


@pytest.mark.parametrize("case", [*DENSE, *STORED], ids="-".join)
@pytest.mark.parametrize("size", SIZES)
def test_squares_agree_with_the_oracle(case: tuple[str, str], size: int, tmp_path: Path) -> None:
    kind, dtype = case
    data, query = problem(dtype, 7, size)
    arms = np.array([5, 0, 3])
    for block in BLOCKS:
        source = source_of(kind, data, query, "ip", block, 2, tmp_path)
        assert isinstance(source, QuerySource)
        expected = table_of_blocks(data[arms].astype(np.float64) ** 2, block)
        blocks = np.arange(len(expected))[::-1].copy()
        plain, squares = source.sums_and_squares(arms, blocks)
        np.testing.assert_array_equal(source.block_sums(arms, blocks), plain)
        np.testing.assert_allclose(squares, expected[blocks], rtol=block * EPS)
        scores, norms = source.exact_scores_and_norms(query[None], arms, Team(2))
        np.testing.assert_array_equal(scores[0], source.exact_scores(arms))
        np.testing.assert_allclose(norms, np.sqrt(sums(expected.T)), rtol=2 * size * EPS)


@with_rewards([*FLOATS, FUNCTION])
@pytest.mark.parametrize(
    "values", [(np.nan,), (np.inf,), (-np.inf,), (np.inf, -np.inf)], ids=lambda v: f"{v}"
)
def test_a_value_that_is_not_a_number_is_named(
    case: tuple[str, str], reward: str, values: tuple[float, ...], tmp_path: Path
) -> None:
    kind, dtype = case
    data, query = problem(dtype, 9, 97)
    # The second one, if there is one, comes in a later arm.
    for row, value in zip((4, 1), values, strict=False):
        data[row, 61] = value
    for block in BLOCKS:
        source = source_of(kind, data, query, reward, block, 1, tmp_path)
        blocks = np.arange(source.blocks.count)
        for ask in asks(source, np.array([7, 4, 1, 0]), blocks).values():
            with pytest.raises(BoundsError, match=r"(row|arm) 4 .*(nan|inf).*coordinate 61\b"):
                ask()
        # What is not met does no harm.
        for ask in asks(source, np.array([7, 0]), blocks).values():
            assert np.isfinite(ask()).all()
        assert np.isfinite(source.block_sums(np.arange(9), blocks[:3])).all()


@pytest.mark.parametrize("layout", [*KINDS, "file"])
@pytest.mark.parametrize("block", BLOCKS)
@every_reward
def test_threads_change_no_bit(layout: str, reward: str, block: int, tmp_path: Path) -> None:
    # Each thread is given at least 2**16 numbers, so three of them need this many.
    data, query = problem("float32", 131, 1535)
    arms, blocks = np.arange(131)[::-1].copy(), np.arange(-(-1535 // block))
    answers = []
    for threads in (1, 2, 3):
        source = source_of(layout, data, query, reward, block, threads, tmp_path)
        assert isinstance(source, QuerySource)
        _, squares = source.sums_and_squares(arms, blocks)
        answers.append(
            [squares.tobytes(), *(f().tobytes() for f in asks(source, arms, blocks).values())]
        )
    assert answers[0] == answers[1] == answers[2]


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
@every_reward
@pytest.mark.parametrize("size", SIZES)
def test_memory_layout_changes_no_bit_of_an_exact_score(
    dtype: str, reward: str, size: int, tmp_path: Path
) -> None:
    data, query = problem(dtype, 135, size)
    scores = {
        layout: source_of(layout, data, query, reward, 1, 1, tmp_path)
        .exact_scores(np.arange(135))
        .tobytes()
        for layout in (*LAYOUTS, "file")
    }
    assert {layout for layout, found in scores.items() if found != scores["C"]} == set()


@with_rewards([*[(kind, "float64") for kind in (*KINDS, "file")], FUNCTION])
def test_an_exact_score_does_not_depend_on_the_arms_asked_with_it(
    case: tuple[str, str], reward: str, tmp_path: Path
) -> None:
    kind, dtype = case
    data, query = problem(dtype, 301, 1535)
    source = source_of(kind, data, query, reward, 16, 1, tmp_path)
    together = source.exact_scores(np.arange(301))
    alone = np.concatenate([source.exact_scores(np.array([arm])) for arm in range(0, 301, 50)])
    np.testing.assert_array_equal(alone, together[::50])


@pytest.mark.parametrize("dtype", ELEMENT_TYPES)
def test_sums_over_some_columns_do_not_depend_on_the_arms_asked_with_them(
    dtype: str, tmp_path: Path
) -> None:
    """Neighbours are read as vectors, arms far apart one by one, and many of them in several portions."""
    data, query = problem(dtype, 6_000, 61)
    table = rewards(data, query, "ip")
    source = source_of("F", data, query, "ip", 1, 2, tmp_path)
    columns = np.flatnonzero(np.arange(61) % 5 != 2)
    ones = np.ones(len(columns))
    every = source.piece_totals(np.arange(6_000), columns, ones, ones).high
    allowance = 2 * 61 * EPS * np.abs(table).sum(axis=1).max()
    np.testing.assert_allclose(every, table[:, columns].sum(axis=1), rtol=0, atol=allowance)
    for step in (2, 17, 500):
        arms = np.arange(3, 6_000, step)
        some = source.piece_totals(arms, columns, ones, ones).high
        np.testing.assert_array_equal(some, every[arms])


@pytest.mark.parametrize("kind", [*KINDS, "file", "function", "compressed"])
def test_nothing_asked_is_nothing_answered(kind: str, tmp_path: Path) -> None:
    data, query = problem("float64", 3, 7)
    source = source_of(kind, data, query, "ip", 1, 2, tmp_path)
    none, some = np.arange(0), np.arange(3)
    no_arms = {name: ask().shape for name, ask in asks(source, none, some).items()}
    assert no_arms == {
        "block_sums": (3, 0),
        "totals": (3, 0),
        "piece_totals": (0,),
        "exact_scores": (0,),
        "exact_scores of blocks": (0,),
    }
    assert source.block_sums(some, none).shape == (0, 3)
    np.testing.assert_array_equal(asks(source, some, none)["totals"](), np.zeros((3, 3)))
