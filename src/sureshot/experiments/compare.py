"""One search method against the exact product on one data set: the harness of Figures 2 to 4.

A method is fitted and asked; both are timed here, its answers are checked here, and their scores are
computed here: what a method says of itself is not used, but for the numbers it read.
"""

from __future__ import annotations

import inspect
import time
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

import sureshot
from sureshot import baselines
from sureshot.experiments import metrics, rows
from sureshot.experiments.check import checked, true_scores
from sureshot.experiments.ours import OURS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sureshot._types import Array, Floats
    from sureshot.baselines import Baseline
    from sureshot.experiments.rows import Row
    from sureshot.experiments.sets import DataSet

    Knobs = tuple[tuple[str, Any], ...]

# Seconds of rest after every fit, and where the data is large before every timed call: the threads of
# numpy's product wait for more work for a tenth of a second, busily, and would take a core from the next.
# With small data, where everything takes milliseconds, nobody wants to wait that long.
REST = 0.15
LARGE = 100_000_000  # numbers
# A call shorter than this is made three times, and the median counts: a busy machine takes a core away
# for some milliseconds now and then.
SHORT = 0.02


Result = TypeVar("Result")


class MissingPart(RuntimeError):
    """A package that an experiment needs is not installed."""


@dataclass(frozen=True, slots=True)
class Case:
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


def make_method(case: Case, known: DataSet) -> Baseline:
    """Return the method of a case, not fitted yet."""
    if case.method in OURS:
        return OURS[case.method](known, case.seed)
    build = dict(case.build)
    found = getattr(baselines, case.method)
    if "rng" in inspect.signature(found).parameters:
        build["rng"] = case.seed
    method: Baseline = found(**build)
    return method


def measure(wanted: Sequence[Case], load: Callable[[Case], DataSet]) -> Iterator[Row]:
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
            rest = REST if found.data.size >= LARGE else 0.0
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


def _fit(case: Case, found: DataSet, rest: float) -> tuple[Baseline | str, float]:
    """Return the fitted method, or why it refuses this data, and the seconds it took.

    A method that is told the limits of the values is charged with finding them.
    """
    time.sleep(rest)
    started = time.perf_counter()
    try:
        method = make_method(case, found)
        method.fit(found.data)
    except ValueError as error:
        return refusal(error), 0.0
    except ImportError as error:
        raise MissingPart(str(error)) from error
    seconds = rows.seconds_since(started)
    if getattr(method, "is_told_limits", False):
        seconds = round(seconds + found.limits_seconds, 7)
    time.sleep(REST)
    return method, seconds


def _ask(case: Case, method: Baseline, found: DataSet, truth: Floats, rest: float) -> Row:
    """Time the exact product and the method in turn, so that what slows one slows both."""
    row: dict[str, list[Any]] = {
        name: []
        for name in (
            "exact_seconds", "seconds", "numbers_read", "precision", "suboptimality", "promised_epsilon",
        )
    }  # fmt: skip
    for query, scores in zip(found.queries, truth, strict=True):
        _, seconds = timed(partial(exact_top, found.data, query, case.k), rest)
        row["exact_seconds"].append(seconds)
        ask = partial(method.query, query, case.k, **dict(case.knobs))
        try:
            answer, seconds = timed(ask, rest)
        except ValueError as error:
            return {"refused": refusal(error)}
        row["seconds"].append(seconds)
        indices = checked(answer.indices, len(found.data), case.k, case.method)
        row["numbers_read"].append(int(answer.numbers_read))
        row["precision"].append(metrics.precision(indices, scores, case.k))
        # In the mean reward, as the paper's epsilon is.
        loss = metrics.suboptimality(indices, scores, case.k) / found.data.shape[1]
        row["suboptimality"].append(_finite(loss))
        row["promised_epsilon"].append(_finite(getattr(answer, "epsilon", None)))
    return row


def refusal(error: ValueError) -> str:
    """Return what a method says that refuses data or a setting.

    Broken limits and linear algebra that fails are no refusals, but errors of somebody: raised again.
    """
    if isinstance(error, (sureshot.BoundsError, np.linalg.LinAlgError)):
        raise error
    return str(error)


def timed(call: Callable[[], Result], rest: float) -> tuple[Result, float]:
    """Return what a call returns the first time, and its seconds: the median of three if short."""
    time.sleep(rest)
    started = time.perf_counter()
    result = call()
    seconds = [rows.seconds_since(started)]
    if seconds[0] < SHORT:
        for _ in range(2):
            started = time.perf_counter()
            call()
            seconds.append(rows.seconds_since(started))
    return result, sorted(seconds)[len(seconds) // 2]


def exact_top(data: Array, query: Array, k: int) -> Array:
    """Return the k best rows by numpy's product: what every speed-up is measured against."""
    scores = data @ query
    return np.argpartition(scores, len(scores) - k)[len(scores) - k :]


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
