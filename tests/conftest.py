"""The oracle, the comparison with it, and the fixtures that run a test over everything there is."""

from __future__ import annotations

import math
import signal
from typing import TYPE_CHECKING

import ml_dtypes  # noqa: F401 - tells numpy what bfloat16 is
import numpy as np
import pytest
from hypothesis import settings

from sureshot import _native
from sureshot._elements import ELEMENTS, PRECISION
from sureshot._validate.request import METRICS
from sureshot.search.methods import METHODS
from tests.racing import costs_decide as costs_decide  # noqa: PLC0414 - fixtures for all
from tests.racing import races as races  # noqa: PLC0414
from tests.racing import races_of_long_rows as races_of_long_rows  # noqa: PLC0414

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import numpy.typing as npt

    from sureshot import TopK
    from sureshot._types import Array, Bools, Floats, Ints

# No test asserts a time, and a failure must come back when it is looked at.
settings.register_profile("sureshot", deadline=None, derandomize=True)
settings.load_profile("sureshot")

# Whoever starts the tests in the background may have told them to ignore Ctrl-C, which some of them send.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A delta at which a wrong answer is a bug, not bad luck.
CERTAIN = 1e-12
ELEMENT_TYPES = tuple(ELEMENTS)
FLOAT_TYPES = tuple(PRECISION)
SMALLEST_FIRST = ("sqeuclidean", "l1")
EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).smallest_subnormal)


@pytest.fixture
def instruction_set_after() -> Iterator[None]:
    """Use the same instruction set after the test as before."""
    before = _native.instruction_set()
    yield
    _native.use_instruction_set(before)


@pytest.fixture(params=_native.instruction_sets())
def instruction_set(request: pytest.FixtureRequest, instruction_set_after: None) -> str:
    """Use one instruction set after the other."""
    _native.use_instruction_set(request.param)
    return str(request.param)


@pytest.fixture(scope="session", params=[name for name in METHODS if not METHODS[name].replacement])
def method(request: pytest.FixtureRequest) -> str:
    """A method for any k that promises the exact answer for epsilon = 0.

    The bandits of the literature have a suite of their own, `tests/test_bandits.py`.
    """
    return str(request.param)


@pytest.fixture(scope="session", params=METRICS)
def metric(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rewards(data: Array, query: Floats, metric: str) -> Floats:
    """Return every reward f(i, j) in float64; distances are negated."""
    values = np.asarray(data, dtype=np.float64)
    if metric == "l1":
        return -np.abs(values - query)
    if metric == "sqeuclidean":
        return -((values - query) ** 2)
    return values * query


def sums(table: Floats) -> Floats:
    """Return the correctly rounded sum of each row, inf where it overflows."""
    return np.array([_sum(row) for row in table])


def _sum(terms: Floats) -> float:
    try:
        return math.fsum(terms)
    except OverflowError:
        return math.inf


def oracle(data: Array, query: Floats, metric: str) -> tuple[Floats, Floats]:
    """Return the score of every row, as a user sees it, and how far rounding may carry it."""
    terms = 2 * (data.shape[1] + 8)
    if metric == "cosine":
        # Scaled first, so that the oracle neither overflows nor underflows. Rows without a
        # direction have no cosine, and no search returns one.
        values = data.astype(np.float64)
        largest = np.abs(values).max(axis=1, keepdims=True)
        rows = np.divide(values, largest, out=np.full(data.shape, np.nan), where=largest > 0)
        unit = query / np.abs(query).max()
        norms = np.sqrt(sums(rows**2) * math.fsum(unit**2))
        return sums(rows * unit) / norms, terms * EPS / norms
    table = rewards(data, query, metric)
    scores, allowance = sums(table), terms * (EPS * sums(np.abs(table)) + TINY)
    if metric == "abs-ip":
        scores = np.abs(scores)
    return (0.0 - scores if metric in SMALLEST_FIRST else scores), allowance


def assert_top_k(
    result: TopK,
    data: Array,
    query: npt.ArrayLike,
    k: int,
    metric: str,
    where: Bools | Ints | list[int] | None = None,
) -> None:
    """Fail unless the result is the exact top k; only ranks swapped by rounding are forgiven."""
    truth, allowance = oracle(data, np.asarray(query, dtype=np.float64), metric)
    sign = -1.0 if metric in SMALLEST_FIRST else 1.0
    allowed = np.arange(len(data)) if where is None else np.arange(len(data))[where]
    scores, indices = result
    assert scores.shape == indices.shape == (k,)
    assert scores.dtype == np.float64
    assert indices.dtype == np.int64
    assert len(set(indices.tolist())) == k
    assert np.isin(indices, allowed).all()
    assert (np.abs(scores - truth[indices]) <= allowance[indices]).all()
    # Best first, ties by the smaller index.
    assert (np.lexsort((indices, -sign * scores)) == np.arange(k)).all()
    # Nothing left out is better than the last one in, and nothing that ties comes before it.
    left_out = np.setdiff1d(allowed, indices)
    last = sign * truth[indices[-1]] + allowance[indices[-1]]
    assert (sign * truth[left_out] - allowance[left_out] <= last).all()
    same = (np.asarray(data)[left_out] == np.asarray(data)[indices[-1]]).all(axis=1)
    assert (left_out[same] > indices[-1]).all()


def span(data: Array) -> tuple[float, float]:
    """Return limits of the data values."""
    return min(0.0, float(data.min())), max(1.0, float(data.max()))


def random_data(rng: np.random.Generator, shape: tuple[int, int], dtype: str) -> Array:
    """Return values over the whole range of an integer type, normal ones of a float type."""
    kind = np.dtype(dtype)
    if dtype in FLOAT_TYPES:
        return rng.standard_normal(shape).astype(kind)
    if kind.kind == "b":
        return rng.random(shape) < 0.5
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, size=shape, endpoint=True).astype(kind)


def _strided(values: Array, _: Path) -> Array:
    larger = np.zeros((2 * values.shape[0], 3 * values.shape[1]), dtype=values.dtype)
    view = larger[::2, ::3]
    view[...] = values
    return view


def _negative(values: Array, _: Path) -> Array:
    return np.ascontiguousarray(values[::-1, ::-1])[::-1, ::-1]


def _negative_columns(values: Array, _: Path) -> Array:
    return np.asfortranarray(values[::-1, ::-1])[::-1, ::-1]


def _read_only(values: Array, _: Path) -> Array:
    copy = np.array(values, order="C")
    copy.setflags(write=False)
    return copy


def _memory_map(values: Array, folder: Path) -> Array:
    np.save(folder / "data.npy", values)
    mapped: Array = np.load(folder / "data.npy", mmap_mode="r")
    assert isinstance(mapped, np.memmap)
    return mapped.view(values.dtype)  # the file does not say bfloat16


# The same numbers in every memory layout that the library promises to read.
LAYOUTS: dict[str, Callable[[Array, Path], Array]] = {
    "C": lambda values, _: np.ascontiguousarray(values),
    "F": lambda values, _: np.asfortranarray(values),
    "transposed": lambda values, _: np.ascontiguousarray(values.T).T,
    "strided": _strided,
    "negative": _negative,
    "negative F": _negative_columns,
    "read-only": _read_only,
    "memory map": _memory_map,
}
