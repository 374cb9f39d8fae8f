"""Arguments of the public functions as hypothesis draws them: most of them valid, some of them anything."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import sureshot
from measurements.trust.verdict import WrongAnswer, outcome, refuse_wrong
from sureshot._elements import ELEMENTS
from sureshot._validate.request import METRICS
from sureshot.search.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

# A wrong answer at this delta is a bug, not bad luck.
CERTAIN = 1e-12

ANYTHING: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 5),
    st.sampled_from([2**31, 2**63, -(2**63), 2**64, 10**30]),
    st.floats(),
    st.complex_numbers(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.lists(st.integers(-2, 9), max_size=4),
    st.sampled_from(
        [
            (),
            {},
            object,
            np.nan,
            np.float16(1),
            np.int8(-1),
            np.array(3),
            np.array([]),
            "scan",
            "unit",
        ]
    ),
)


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy that draws something else once in a while."""
    return st.integers(0, 39).flatmap(lambda number: ANYTHING if number == 0 else usual)


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """Draw a small matrix of any type and memory order, sometimes with numbers at the edges."""
    shape = draw(st.tuples(st.integers(1, 12), st.integers(1, 40)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    name = draw(st.sampled_from([*ELEMENTS, "int64", "float128", "complex64", "object"]))
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = np.dtype(np.float32)
    scale = draw(st.sampled_from([1.0, 0.0, 1e-3, 1e30, 1e-310, 1e200]))
    with np.errstate(all="ignore"):
        data = (scale * rng.standard_normal(shape)).astype(dtype)
        if draw(st.integers(0, 9)) == 0 and dtype.kind not in "iub":
            data[int(rng.integers(shape[0])), int(rng.integers(shape[1]))] = draw(
                st.sampled_from([np.nan, np.inf, 0.0])
            )
    order = draw(st.sampled_from(["C", "F", "stepped", "reversed", "transposed"]))
    if order == "F":
        return np.asfortranarray(data)
    if order == "stepped":
        return np.repeat(data, 2, axis=0)[::2]
    if order == "reversed":
        return data[::-1, ::-1].copy()[::-1, ::-1]
    return data.T.copy().T if order == "transposed" else data


@st.composite
def searches(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the arguments of `top_k`."""
    data = draw(matrices())
    n, width = data.shape
    numbers = st.floats(-1e3, 1e3) | st.sampled_from([0.0, 1e-300, 1e150, 1.0])
    query = mostly(
        arrays.arrays(np.float64, width, elements=numbers)
        | arrays.arrays(np.float32, (2, width), elements=st.floats(-8, 8, width=32))
    )
    choices: dict[str, st.SearchStrategy[Any]] = {
        "query": query,
        "k": mostly(st.integers(1, n)),
        "metric": mostly(st.sampled_from(METRICS)),
        "epsilon": mostly(st.sampled_from([0.0, 1e-9, 0.5, 1e6])),
        "delta": mostly(st.just(CERTAIN)),
        "bounds": mostly(
            st.sampled_from([None, "scan", "unit", (-6.0, 6.0), (0.0, 1.0), (1e300, 1e308)])
            | st.just((np.full(width, -9.0), np.full(width, 9.0)))
            | st.just(sureshot.Bounds(norms=1e3))
        ),
        "method": mostly(st.sampled_from(list(METHODS))),
        "replacement": mostly(st.none()),
        "budget": mostly(st.none() | st.sampled_from([1e-3, 0.5, 1.0])),
        "budget_seconds": mostly(st.none()),
        "where": mostly(
            st.none()
            | arrays.arrays(bool, n)
            | st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
        ),
        "row_scale": mostly(st.none() | arrays.arrays(np.float64, n, elements=st.floats(0.1, 10))),
        "expected_score": mostly(st.none() | st.floats(-10, 10)),
        "rng": mostly(st.integers(0, 100)),
        "threads": mostly(st.sampled_from([1, 2])),
        "block": mostly(st.none() | st.integers(1, width)),
    }
    some = draw(st.sets(st.sampled_from(sorted(choices)), max_size=8)) | {"query", "delta", "rng"}
    return {"data": data} | {name: draw(choices[name]) for name in sorted(some)}


def holds(bounds: Any, data: Any) -> bool:
    """Return whether what a caller says of the data is true."""
    if isinstance(bounds, tuple):
        low, high = bounds
        return bool(((low <= data) & (data <= high)).all())
    if bounds is None or bounds == "scan":
        return True
    most = 1.0 if isinstance(bounds, str) else float(bounds.norms)
    with np.errstate(over="ignore"):
        return bool((np.linalg.norm(data, axis=1) <= most).all())


def search(arguments: dict[str, Any]) -> None:
    """Call `top_k`, and compare each answer with the scores of all rows."""
    asked: dict[str, Any] = {"metric": "ip", "row_scale": None, "where": None, "method": "betting"}
    asked |= arguments
    if asked["method"] in ("lucb", "lil-ucb", "exponential-gap", "median-elimination"):
        # As published these pull with replacement until the gaps are resolved: a few numbers take minutes.
        arguments = {"budget": 0.5} | arguments
    found = sureshot.top_k(**arguments)
    queries = np.asarray(asked["query"], np.float64)
    if asked["where"] is not None or (
        np.ndim(asked["row_scale"]) != 1 and asked["row_scale"] is not None
    ):
        return
    scale = None if asked["row_scale"] is None else np.asarray(asked["row_scale"], np.float64)
    if asked.get("delta") != CERTAIN or queries.ndim != 1:
        return
    if not holds(asked.get("bounds"), np.asarray(asked["data"], np.float64)):
        return  # what the certificate assumes is not so
    refuse_wrong(found, asked["data"], queries, asked["metric"], scale)


@st.composite
def choices_of_arms(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the arguments of `best_arms`, with the rewards in place of the pull function."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, 30)))
    kinds = [np.float64, np.float32, np.int64, bool, object, complex]
    rewards = draw(
        arrays.arrays(
            np.float64, shape, elements=st.floats(0, 1) | st.sampled_from([0, 1, 1, 0, 2.0, np.nan])
        )
    )
    drawn: dict[str, Any] = {
        "rewards": rewards,
        "kind": draw(st.sampled_from([kinds[0]] * 8 + kinds)),
        "n_arms": draw(mostly(st.just(shape[0]))),
        "n_rewards": draw(mostly(st.just(shape[1]))),
        "epsilon": draw(mostly(st.sampled_from([0.0, 0.1, 0.5]))),
        "delta": draw(mostly(st.just(CERTAIN))),
        "rng": draw(mostly(st.integers(0, 100))),
    }
    for name, usual in {
        "k": st.integers(1, shape[0]),
        "bounds": st.sampled_from([(0.0, 1.0), (-1.0, 2.0)]),
        "budget": st.sampled_from([None, 0.3]),
        "pulls_per_call": st.sampled_from([None, 1, 3]),
        "concurrency": st.sampled_from([None, 1, 2]),
        "retries": st.sampled_from([0, 1]),
    }.items():
        if draw(st.booleans()):
            drawn[name] = draw(mostly(usual))
    return drawn


def choose(arguments: dict[str, Any]) -> None:
    """Call `best_arms` with a table of rewards, and compare the answer with its means."""
    arguments = dict(arguments)
    with np.errstate(invalid="ignore"):  # a NaN becomes some integer
        rewards = arguments.pop("rewards").astype(arguments.pop("kind"))
    n_arms, n_rewards = arguments.pop("n_arms"), arguments.pop("n_rewards")
    found = sureshot.best_arms(
        lambda arms, coordinates: rewards[np.ix_(arms, coordinates)], n_arms, n_rewards, **arguments
    )
    rewards = rewards[: int(n_arms), : int(n_rewards)]  # perhaps fewer than there are
    low, high = arguments.get("bounds", (0.0, 1.0))
    if rewards.dtype == float and ((low <= rewards) & (rewards <= high)).all():
        means = np.array([math.fsum(row) / len(row) for row in rewards])
        if arguments["delta"] == CERTAIN and found.certificate.delta != 1:
            kth = np.sort(means)[::-1][len(found.indices) - 1]
            if kth - means[found.indices].min() > found.certificate.epsilon + 1e-12:
                raise WrongAnswer(f"{found.indices}, means {means}; {found.certificate}")


def fuzz(seed: int, count: int, note: Callable[[str], None], report: Callable[[str], None]) -> int:
    """Try so many arguments, drawn with a seed.

    `note` is given each of them before it is tried, `report` what is wrong. Returns how many were answered.
    """
    answered = 0

    def attempt(
        name: str, call: Callable[[dict[str, Any]], None], arguments: dict[str, Any]
    ) -> None:
        nonlocal answered
        shown = f"{name} {arguments!r}"
        note(shown)
        said = outcome(lambda: call(arguments))
        answered += said == "answer"
        if said not in ("answer", "error"):
            report(f"{said}\n{shown}")

    quiet = settings(
        max_examples=count // 2,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    seeded(seed)(quiet(given(searches())(lambda drawn: attempt("top_k", search, drawn))))()
    seeded(seed)(
        quiet(given(choices_of_arms())(lambda drawn: attempt("best_arms", choose, drawn)))
    )()
    return answered
