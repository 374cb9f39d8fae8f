"""Bad input is refused at the door, or where it is met: what was expected, and what came."""

from __future__ import annotations

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot._validate.request import METRICS
from sureshot.search.methods import METHODS
from tests.conftest import ELEMENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from sureshot import TopK
    from sureshot._types import Array, Ints
    from tests.racing import Course

N_ARMS, WIDTH = 12, 40
DATA = np.random.default_rng(0).random((N_ARMS, WIDTH), dtype=np.float32)
QUERY = np.random.default_rng(1).random(WIDTH)
BIG = 1e3  # an epsilon at which a few pulls are enough: the sampling path of a method


def top_k(**changes: Any) -> TopK:
    arguments: dict[str, Any] = {"data": DATA, "query": QUERY, "k": 2, "bounds": (0.0, 1.0)}
    return sureshot.top_k(**(arguments | changes))


def best_arms(**changes: Any) -> TopK:
    arguments: dict[str, Any] = {
        "pull": lambda arms, coordinates: DATA[np.ix_(arms, coordinates)],
        "n_arms": N_ARMS,
        "n_rewards": WIDTH,
        "k": 2,
        "epsilon": 0.1,
        "delta": 0.1,
    }
    return sureshot.best_arms(**(arguments | changes))


DOORS: dict[str, Callable[..., TopK]] = {"top_k": top_k, "best_arms": best_arms}


@pytest.mark.parametrize("door", DOORS)
def test_the_arguments_that_the_cases_change_are_good(door: str) -> None:
    assert DOORS[door]().indices.shape == (2,)


def _with(value: float, position: int = 5) -> Array:
    query = QUERY.copy()
    query[position] = value
    return query


Case = tuple[dict[str, Any], type[Exception], str]

NOT_A_NUMBER: list[Any] = ["0.1", "abc", None, 1j, [0.1, 0.2]]
BOTH_DOORS: list[Case] = [
    ({"k": 0}, ValueError, r"k must .*1, got 0"),
    ({"k": -3}, ValueError, r"k must .*1, got -3"),
    ({"k": N_ARMS + 1}, ValueError, r"k must .*arms, 12, got 13"),
    *(
        ({"k": k}, TypeError, rf"k must be an integer, got {re.escape(repr(k))}")
        for k in (2.0, "2", None, True, [2])
    ),
    *(
        ({name: value}, TypeError, rf"{name} must be a number, got {re.escape(repr(value))}")
        for name in ("epsilon", "delta")
        for value in NOT_A_NUMBER
    ),
    ({"epsilon": -0.5}, ValueError, r"epsilon must .*0, got -0\.5"),
    ({"epsilon": np.nan}, ValueError, r"epsilon must .*got nan"),
    *(
        ({"delta": delta}, ValueError, rf"delta must .*0 and 1, got {delta}")
        for delta in (0, 1, -0.1, 1.5)
    ),
    ({"delta": np.nan}, ValueError, r"delta must .*got nan"),
    ({"bounds": (1, 0)}, ValueError, r"bounds must .*low < high, got \(1, 0\)"),
    ({"bounds": (0.5, 0.5)}, ValueError, r"bounds must .*low < high, got \(0\.5, 0\.5\)"),
    ({"bounds": (np.nan, 1)}, ValueError, r"bounds.* must be finite, got.*nan"),
    ({"bounds": (0, np.inf)}, ValueError, r"bounds.* must be finite, got.*inf"),
    ({"bounds": (-np.inf, 0)}, ValueError, r"bounds.* must be finite, got.*-inf"),
    ({"bounds": (0, 1, 2)}, TypeError, r"bounds must .*\(low, high\).*got .*(\(0, 1, 2\)|3|tuple)"),
    ({"bounds": 1.0}, TypeError, r"bounds must .*\(low, high\).*got (1\.0|float)"),
    ({"bounds": ("a", "b")}, TypeError, r"bounds.* must be .*number.*got.*'a'"),
    ({"bounds": ("0", "1")}, TypeError, r"bounds.* must be .*number.*got.*'0'"),
    ({"bounds": (0, 1j)}, TypeError, r"bounds.* must be .*number.*got.*1j"),
    ({"method": "bandit"}, ValueError, r"method must be one of .*got 'bandit'"),
    ({"method": None}, TypeError, r"method must be a string, got NoneType"),
    ({"where": [3, 1, 3]}, ValueError, r"where must not repeat.*got 3 twice"),
    ({"where": [0, 12]}, ValueError, r"where must .*0 to 11, got 12"),
    ({"where": [0, -1]}, ValueError, r"where must .*0 to 11, got -1"),
    ({"where": np.ones(11, bool)}, ValueError, r"where .*mask .*12, got 11"),
    ({"where": np.ones(13, bool)}, ValueError, r"where .*mask .*12, got 13"),
    ({"where": []}, ValueError, r"where must select at least one .*got none"),
    ({"where": np.zeros(12, bool)}, ValueError, r"where must select at least one .*got none"),
    ({"where": [0.0, 1.0]}, TypeError, r"where must .*mask or .*indices, got float64"),
    ({"where": ["a", "b"]}, TypeError, r"where must .*mask or .*indices, got <U1"),
    ({"where": [[0, 1]]}, ValueError, r"where must have 1 dimension, got shape \(1, 2\)"),
    ({"where": 3}, ValueError, r"where must have 1 dimension, got shape \(\)"),
    ({"where": [4, 5], "k": 3}, ValueError, r"k must .*selected arms, 2, got 3"),
    ({"rng": -1}, ValueError, r"rng must be .*integer .*Generator, got -1"),
    ({"rng": "abc"}, TypeError, r"rng must be .*integer .*Generator, got 'abc'"),
    ({"rng": 1.5}, TypeError, r"rng must be .*integer .*Generator, got 1\.5"),
    ({"progress": 1}, TypeError, r"progress must be a function.*got int"),
]
TOP_K: list[Case] = [
    ({"expected_score": "high"}, TypeError, r"expected_score must be a number, got 'high'"),
    ({"expected_score": np.inf}, ValueError, r"expected_score must be finite, got inf"),
    ({"query": _with(np.nan)}, ValueError, r"query must be finite, got nan at coordinate 5"),
    ({"query": _with(-np.inf)}, ValueError, r"query must be finite, got -inf at coordinate 5"),
    (
        {"query": np.stack([QUERY, _with(np.inf)])},
        ValueError,
        r"query must be finite, got inf at coordinate 5 of query 1",
    ),
    ({"query": QUERY[:-1]}, ValueError, r"query must have 40 coordinates.*got 39"),
    ({"query": np.ones((2, 41))}, ValueError, r"query must have 40 coordinates.*got 41"),
    ({"query": 3.0}, ValueError, r"query must have 1 or 2 dimensions, got shape \(\)"),
    ({"query": np.ones((1, 1, 40))}, ValueError, r"query must have .*got shape \(1, 1, 40\)"),
    ({"query": np.ones((0, 40))}, ValueError, r"query must .*at least one.*got none"),
    ({"query": QUERY * 1j}, TypeError, r"query must hold real numbers.*got .*complex128"),
    ({"query": QUERY.astype(object)}, TypeError, r"query must hold real numbers.*got .*object"),
    ({"query": ["a"] * 40}, TypeError, r"query must hold real numbers.*got .*<U1"),
    *(
        ({"query": QUERY.astype(wide)}, TypeError, r"query must hold real numbers.*got float")
        for wide in (np.longdouble,)
        if np.dtype(wide).itemsize > 8
    ),
    # 2**53 + 1 is no double.
    ({"query": np.full(40, 2**53 + 1)}, ValueError, r"query .*int64.*float64 without loss"),
    *(
        ({"metric": metric}, ValueError, rf"metric must be one of .*got {metric!r}")
        for metric in ("IP", "euclidean", "")
    ),
    ({"metric": 1}, TypeError, r"metric must be a string, got int"),
    ({"query": QUERY * 0, "metric": "cosine"}, ValueError, r"cosine.* needs .*not all zeros"),
    *(
        ({"row_scale": np.ones(12), "metric": metric}, ValueError, rf"row_scale .*got .*{metric}")
        for metric in ("cosine", "sqeuclidean", "l1")
    ),
    ({"row_scale": np.ones(11)}, ValueError, r"row_scale .*12 rows, got shape \(11,\)"),
    ({"row_scale": np.ones((12, 1))}, ValueError, r"row_scale .*12 rows, got shape \(12, 1\)"),
    ({"row_scale": 2.0}, ValueError, r"row_scale .*12 rows, got shape \(\)"),
    *(
        ({"row_scale": _with(value, 7)[:12]}, ValueError, rf"finite and above 0, got {value:g} .*7")
        for value in (0.0, -1.0, np.nan, np.inf)
    ),
    ({"row_scale": ["a"] * 12}, TypeError, r"row_scale must hold numbers, got <U1"),
    ({"row_scale": np.ones(12) * 1j}, TypeError, r"row_scale must hold numbers, got complex128"),
    ({"bounds": (np.zeros(41), 1)}, ValueError, r"bounds must .*\(40,\).*got low .*\(41,\)"),
    (
        {"bounds": (0, _with(-1.0, 7))},
        ValueError,
        r"bounds must have low <= high.*(coordinate|entry) 7",
    ),
    ({"bounds": (0, _with(np.nan))}, ValueError, r"bounds must be finite, got high"),
    (
        {"method": "bounded-me", "bounds": None},
        ValueError,
        r"bounded-me.* needs .*bounds.*got None",
    ),
    ({"threads": 0}, ValueError, r"threads must .*1, got 0"),
    ({"threads": -2}, ValueError, r"threads must .*1, got -2"),
    ({"threads": 1.5}, TypeError, r"threads must be an integer, got 1\.5"),
]
BEST_ARMS: list[Case] = [
    ({"pull": DATA}, TypeError, r"pull must be a function.*got ndarray"),
    ({"pull": None}, TypeError, r"pull must be a function.*got NoneType"),
    *(
        ({name: value}, error, rf"{name} must .*got {re.escape(repr(value))}")
        for name in ("n_arms", "n_rewards")
        for value, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError))
    ),
    ({"executor": 4}, TypeError, r"executor must be a concurrent\.futures\.Executor, got int"),
    ({"executor": ThreadPoolExecutor}, TypeError, r"executor must be .*Executor, got "),
    (
        {"executor": ThreadPoolExecutor(1), "pull": asyncio.sleep},
        ValueError,
        r"executor calls ordinary functions, and pull is a coroutine function",
    ),
    *(
        ({name: value}, error, rf"{name} must .*got {re.escape(repr(value))}")
        for name in ("pulls_per_call", "concurrency")
        for value, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError))
    ),
    ({"concurrency": 4}, ValueError, r"concurrency needs .*coroutine.*executor; got .*=4"),
    ({"retries": -1}, ValueError, r"retries must be at least 0, got -1"),
    ({"retries": None}, TypeError, r"retries must be an integer, got None"),
    ({"journal": 3}, TypeError, r"journal must be the name of a file, got int"),
    ({"journal": b"a.db"}, TypeError, r"journal must be the name of a file, got bytes"),
    *(
        ({"journal": name}, ValueError, rf"journal must be .*folder that is there, got '{name}'")
        for name in ("", ".", "absent/a.db")
    ),
]


def shown(case: tuple[str, Case]) -> str:
    return f"{case[0]}-" + re.sub(r"\s+", " ", repr(case[1][0]))[:40]


@pytest.mark.parametrize(
    "case",
    [
        *((door, case) for door in DOORS for case in BOTH_DOORS),
        *(("top_k", case) for case in TOP_K),
        *(("best_arms", case) for case in BEST_ARMS),
    ],
    ids=shown,
)
def test_refused_at_the_door(case: tuple[str, Case]) -> None:
    door, (changes, error, message) = case
    before = DATA.tobytes()
    with pytest.raises(error, match=message):
        DOORS[door](**changes)
    assert DATA.tobytes() == before


@pytest.mark.parametrize(("name", "known"), [("metric", METRICS), ("method", METHODS)])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str, known: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be one of") as error:
        top_k(**{name: "nonsense"})
    assert [choice for choice in known if repr(choice) not in str(error.value)] == []


def _fields(offset: int) -> Array:
    """Return a float32 field of a packed structure: not aligned where the structure is odd."""
    packed = np.zeros((4, 7), dtype=[("pad", f"V{offset}"), ("value", "<f4"), ("rest", "V3")])
    return packed["value"]


def _unaligned() -> Array:
    return np.zeros(4 * 7 * 8 + 1, np.uint8)[1:].view(np.float64).reshape(4, 7)


NUMBERS = ["longdouble", "complex64", "complex128", "int32", "int64", "uint16", "uint64"]
OTHER_TYPES = [*NUMBERS, "object", "U3", "S3", "M8[s]", "m8[s]", "V4"]
BAD_DATA: list[tuple[str, Any, type[Exception], str]] = [
    *(
        (dtype, np.zeros((4, 7), dtype), TypeError, r"data must hold one of .*float32.*, got ")
        for dtype in OTHER_TYPES
        if np.dtype(dtype).name not in ELEMENT_TYPES
    ),
    *(
        (
            f"big-endian {dtype}",
            np.zeros((4, 7), dtype).astype(swapped),
            TypeError,
            r"byte order, got ",
        )
        for dtype in ELEMENT_TYPES
        if (swapped := np.dtype(dtype).newbyteorder("S")) != np.dtype(dtype)
    ),
    ("list", [[1.0, 2.0], [3.0, 4.0]], TypeError, r"data must be a numpy array.*got list"),
    ("None", None, TypeError, r"data must be a numpy array.*got NoneType"),
    ("masked", np.ma.zeros((4, 7)), TypeError, r"data must be a numpy array.*got MaskedArray"),
    ("1-D", np.zeros(7), ValueError, r"data must have 2 dimensions.*got shape \(7,\)"),
    ("3-D", np.zeros((2, 2, 7)), ValueError, r"data must have 2 dimensions.*got shape \(2, 2, 7\)"),
    ("0-D", np.zeros(()), ValueError, r"data must have 2 dimensions.*got shape \(\)"),
    ("no rows", np.zeros((0, 7)), ValueError, r"data must not be empty, got shape \(0, 7\)"),
    ("no columns", np.zeros((4, 0)), ValueError, r"data must not be empty, got shape \(4, 0\)"),
    ("odd strides", _fields(0), ValueError, r"data must be aligned.*got strides"),
    ("odd offset", _fields(1), ValueError, r"data must be aligned.*got strides"),
    ("unaligned", _unaligned(), ValueError, r"data must be aligned.*got"),
]


@pytest.mark.parametrize("case", BAD_DATA, ids=lambda case: case[0])
def test_data_that_cannot_be_read_is_refused(
    case: tuple[str, Any, type[Exception], str], method: str
) -> None:
    _, data, error, message = case
    with pytest.raises(error, match=message):
        sureshot.top_k(data, np.ones(7), 1, bounds=(0, 1), method=method)


@pytest.mark.parametrize("epsilon", [0.0, BIG])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_met_that_is_not_a_number_is_named(
    method: str, metric: str, epsilon: float, value: float, races: list[Course]
) -> None:
    before_it = len(races)
    data = DATA.copy()
    data[3] = value
    before = data.tobytes()
    with pytest.raises(sureshot.BoundsError, match=r"row 3 .*(nan|inf).*coordinates? \d+"):
        top_k(data=data, method=method, metric=metric, epsilon=epsilon)
    assert data.tobytes() == before
    # The norms of all rows are read before a cosine is raced for.
    assert (len(races) > before_it) == (method == "betting" and metric != "cosine")


def answer_or_refusal(**changes: Any) -> TopK | str:
    try:
        return top_k(**changes)
    except sureshot.BoundsError as error:
        return str(error)


@pytest.mark.parametrize("value", [5.0, -5.0])
def test_no_promise_rests_on_bounds_that_a_value_met_breaks(
    method: str, metric: str, value: float
) -> None:
    data = np.random.default_rng(2).random((60, 1535), dtype=np.float32)
    data[3] = value
    before = data.tobytes()
    found = answer_or_refusal(
        data=data, query=np.ones(1535), method=method, metric=metric, epsilon=BIG
    )
    # The promise of an exact answer rests on nothing, and without norms a cosine reads everything.
    if method == "exact" or metric == "cosine":
        assert isinstance(found, sureshot.TopK)
        assert found.certificate.exact
        assert "bounds" not in found.certificate.assumption
    else:
        assert isinstance(found, str)
        assert re.search(r"row 3 .*coordinates? \d+.*outside .*bounds", found)
    assert data.tobytes() == before


def test_a_zero_row_has_no_cosine(method: str) -> None:
    data = DATA.copy()
    data[[3, 5]] = 0
    with pytest.raises(ValueError, match=r"cosine.*data row 3 has norm 0.*where="):
        top_k(data=data, method=method, metric="cosine")
    others = np.setdiff1d(np.arange(N_ARMS), [3, 5])
    assert top_k(data=data, method=method, metric="cosine", where=others).indices.shape == (2,)


def arm_3_gives(value: float) -> Callable[[Ints, Ints], Any]:
    return lambda arms, js: np.where(arms[:, None] == 3, value, 0 * js[None, :])


PULLS: dict[str, tuple[Callable[[Ints, Ints], Any], type[Exception], str]] = {
    "flat": (
        lambda arms, js: np.zeros(len(arms)),
        ValueError,
        r"pull must return .*shape \(12, \d+\).*got shape \(12,\)",
    ),
    "transposed": (
        lambda arms, js: np.zeros((len(js) + 1, len(arms))),
        ValueError,
        r"pull must return .*shape \(12, \d+\).*got shape \(\d+, 12\)",
    ),
    "too few": (
        lambda arms, js: np.zeros((len(arms), 0)),
        ValueError,
        r"pull must return .*shape \(12, \d+\).*got shape \(12, 0\)",
    ),
    "nothing": (lambda arms, js: None, ValueError, r"pull must return .*got shape \(\)"),
    "complex": (
        lambda arms, js: np.zeros((len(arms), len(js)), complex),
        TypeError,
        r"pull must return real numbers, got .*complex128",
    ),
    "text": (
        lambda arms, js: np.full((len(arms), len(js)), "a"),
        TypeError,
        r"pull must return real numbers, got .*<U1",
    ),
    "objects": (
        lambda arms, js: np.zeros((len(arms), len(js)), object),
        TypeError,
        r"pull must return real numbers, got .*object",
    ),
    **{
        str(value): (
            arm_3_gives(value),
            sureshot.BoundsError,
            rf"arm 3 has reward {value:g} at coordinate \d+.*outside .*\(0, 1\)",
        )
        for value in (np.nan, np.inf, -0.5, 1.5)
    },
}


@pytest.mark.parametrize("epsilon", [0.0, 0.5])
@pytest.mark.parametrize("kind", PULLS)
def test_rewards_that_break_the_promise_are_refused(kind: str, method: str, epsilon: float) -> None:
    pull, error, message = PULLS[kind]
    with pytest.raises(error, match=message):
        best_arms(pull=pull, method=method, epsilon=epsilon)


def test_an_error_of_pull_and_of_progress_reaches_the_caller(method: str) -> None:
    def broken(*_: object) -> Array:
        raise OSError("the disk is on fire")

    with pytest.raises(sureshot.PullError, match="on fire") as raised:
        best_arms(pull=broken, method=method)
    assert isinstance(raised.value.__cause__, OSError)
    with pytest.raises(OSError, match="on fire"):
        top_k(progress=broken, method=method)


@pytest.mark.parametrize("epsilon", [0.0, BIG])
@pytest.mark.usefixtures("races")
def test_a_search_changes_neither_data_nor_query(method: str, metric: str, epsilon: float) -> None:
    data, query, where = DATA.copy(), QUERY.copy(), np.array([5, 2, 9, 0])
    top_k(data=data, query=query, where=where, method=method, metric=metric, epsilon=epsilon)
    np.testing.assert_array_equal(data, DATA)
    np.testing.assert_array_equal(query, QUERY)
    assert where.tolist() == [5, 2, 9, 0]
    assert data.flags.writeable
    assert query.flags.writeable
