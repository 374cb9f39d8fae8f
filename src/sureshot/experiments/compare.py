"""One search method against the exact product on one data set: the harness of Figures 2 to 4.

A method is fitted and asked; both are timed here, its answers are checked here, and their scores are
computed here: of what a method reports itself only the numbers read are used.
"""

from __future__ import annotations

import inspect
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot import baselines
from sureshot.experiments import clock, metrics, rows
from sureshot.experiments.answers import checked, true_scores
from sureshot.experiments.ours import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sureshot._types import Array, Floats
    from sureshot.baselines import Baseline
    from sureshot.experiments.rows import Row
    from sureshot.experiments.sets import DataSet

    Knobs = tuple[tuple[str, Any], ...]

# There is a rest after every fit, and before every timed call where the data has so many numbers: with
# small data everything takes milliseconds, and the rests would take most of the time.
LARGE = 100_000_000
# Seconds; shorter calls are repeated.
SHORT = 0.02
EXACT, METHOD = "exact", "method"


class MissingPart(RuntimeError):
    """A package that an experiment needs is not installed."""


@dataclass(frozen=True, slots=True)
class ComparisonCase:
    """One method with one setting on one data set."""

    figure: str
    data: str
    n: int
    N: int
    k: int
    method: str
    build: Knobs  # what it is made with: another one needs another fit
    knobs: Knobs  # what each query is asked with
    queries: int
    seed: int


def make_method(case: ComparisonCase, known: DataSet) -> Baseline:
    """Return the method of a case, not fitted yet."""
    if case.method in OURS:
        return OURS[case.method](known, case.seed)
    build = dict(case.build)
    found = getattr(baselines, case.method)
    if "rng" in inspect.signature(found).parameters:
        build["rng"] = case.seed
    method: Baseline = found(**build)
    return method


def measure(
    wanted: Sequence[ComparisonCase], load: Callable[[ComparisonCase], DataSet]
) -> Iterator[Row]:
    """Yield the row of each case.

    Data and fitted methods are kept as long as the next case needs the same: the order of the cases
    decides how often they are made.
    """
    data_key = fit_key = None
    found: DataSet | None = None
    method: Baseline | str = ""
    for case in wanted:
        if data_key != (key := (case.data, case.n, case.N, case.queries, case.seed)):
            found = None  # what is large goes before the next comes
            method, fit_key = "", None
            found = load(case)
            data_key, truth = key, true_scores(found.data, found.queries)
            rest = clock.REST if found.data.size >= LARGE else 0.0
        assert found is not None
        if fit_key != (fitted := (case.method, case.build)):
            method = ""
            method, preparation = _fit(case, found, rest)
            fit_key = fitted
        row = asdict(case) | {"rows": len(found.data), "coordinates": found.data.shape[1]}
        if found.origin:
            row["origin"] = found.origin
        if isinstance(method, str):
            row |= {"refused": method}
        else:
            row |= {"preparation_seconds": preparation} | _ask(case, method, found, truth, rest)
        yield row | rows.environment()


def _fit(case: ComparisonCase, found: DataSet, rest: float) -> tuple[Baseline | str, float]:
    """Return the fitted method, or why it refuses this data, and the seconds it took.

    For a method that needs the limits of the values the time to find them is added.
    """
    time.sleep(rest)
    try:
        method, seconds = clock.timed(lambda: make_method(case, found).fit(found.data))
    except ValueError as error:
        return refusal(error), 0.0
    except ImportError as error:
        raise MissingPart(str(error)) from error
    if getattr(method, "needs_limits", False):
        seconds = round(seconds + found.limits_seconds, 7)
    time.sleep(clock.REST)
    return method, seconds


def _ask(case: ComparisonCase, method: Baseline, found: DataSet, truth: Floats, rest: float) -> Row:
    """Time the exact product and the method in turn, so that what slows one slows both."""
    knobs = dict(case.knobs)
    sides = {
        EXACT: lambda i: exact_top(found.data, found.queries[i], case.k),
        METHOD: lambda i: method.query(found.queries[i], case.k, **knobs),
    }
    try:
        times = clock.in_turn(sides, range(len(found.queries)), rest=rest, short=SHORT)
    except ValueError as error:
        return {"refused": refusal(error)}
    answers = times[METHOD].results
    indices = [checked(one.indices, len(found.data), case.k, case.method) for one in answers]
    pairs = list(zip(indices, truth, strict=True))
    # In the mean reward, as the paper's epsilon is.
    width = found.data.shape[1]
    losses = [metrics.suboptimality(*pair, case.k) / width for pair in pairs]
    return {
        "exact_seconds": times[EXACT].seconds,
        "seconds": times[METHOD].seconds,
        "numbers_read": [int(one.numbers_read) for one in answers],
        "precision": [metrics.precision(*pair, case.k) for pair in pairs],
        "suboptimality": [_finite(loss) for loss in losses],
        "promised_epsilon": [_finite(getattr(one, "epsilon", None)) for one in answers],
    }


def refusal(error: ValueError) -> str:
    """Return what a method says that refuses data or a setting.

    Broken limits and linear algebra that fails are errors, not refusals: they are raised again.
    """
    if isinstance(error, (sureshot.BoundsError, np.linalg.LinAlgError)):
        raise error
    return str(error)


def exact_top(data: Array, queries: Array, k: int) -> Array:
    """Return the k best rows by numpy's product: what every speed-up is measured against.

    Of one query, or of each row of a matrix of queries; in no order.

    Examples
    --------
    >>> exact_top(np.array([[1.0], [3.0], [2.0]]), np.array([[1.0], [-1.0]]), 1)
    array([[1],
           [0]])
    """
    return np.argpartition(data @ queries.T, len(data) - k, axis=0)[len(data) - k :].T


def _finite(value: float | None) -> float | None:
    # JSON has no word for infinity.
    return value if value is not None and np.isfinite(value) else None


def describe(row: Row) -> str:
    """Say in a few words what a row found."""
    knobs = ", ".join(f"{name}={value}" for name, value in (*row["build"], *row["knobs"]))
    what = f"{row['data']}, top {row['k']}, {row['method']}({knobs})"
    if "refused" in row:
        return f"{what}: refused, {row['refused']}"
    speed = metrics.online_speed_up(row["exact_seconds"], row["seconds"])
    return f"{what}: precision {np.mean(row['precision']):.2f}, speed-up {speed:.3f}"
