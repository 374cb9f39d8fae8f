"""Figure 1: whether the loss stays below epsilon on lists made to be hard.

The paper's lists have zeros and ones, with means spread over [0, 1], and are pulled with all the ones
first. That order is not random, so it is outside the theorems of BoundedME and of betting alike;
both are therefore run under a uniformly random order, too.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

import sureshot
from sureshot.experiments import clock, metrics, rows
from sureshot.experiments.answers import checked
from sureshot.theory.schedule import bounded_me

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from sureshot._types import Array, Ints
    from sureshot.experiments.rows import Row

# Method, and order in which an arm's rewards come.
WAYS = (("bounded-me", "ones first"), ("bounded-me", "uniform"), ("betting", "uniform"))
DELTAS = (0.01, 0.05, 0.1, 0.2, 0.3)
# Rewards made at a time, as float32: 64 MB.
REWARDS_PER_CHUNK = 1 << 24


@dataclass(frozen=True, slots=True)
class LossCase:
    """One method on one set of lists, for one delta and every epsilon."""

    figure: str
    n_arms: int
    n_rewards: int
    method: str
    order: str
    delta: float
    epsilons: tuple[float, ...]
    seed: int


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the lists are, what is asked, and of how many sets of lists."""

    n_arms: int
    n_rewards: int
    epsilons: tuple[float, ...]
    runs: int


SCALES = {
    "small": Scale(1_000, 4_000, (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), 20),
    "paper": Scale(10_000, 100_000, tuple(step / 20 for step in range(1, 13)), 20),
}


def cases(scale: str) -> list[LossCase]:
    """Return the cases of a scale, those on the same lists after each other."""
    sizes = SCALES[scale]
    return [
        LossCase("fig1", sizes.n_arms, sizes.n_rewards, method, order, delta, sizes.epsilons, seed)
        for seed in range(sizes.runs)
        for method, order in WAYS
        for delta in DELTAS
    ]


def measure(wanted: Sequence[LossCase], folder: Path | None = None) -> Iterator[Row]:  # noqa: ARG001
    """Yield the row of each case; lists are made once for all the cases that search them."""
    made, lists = None, np.empty((0, 0), dtype=bool)
    for case in wanted:
        key = case.seed, case.n_arms, case.n_rewards
        if made != key:
            del lists  # before the next ones are made: they are large
            made, lists = key, make_lists(*key)
            ones = count_ones(lists)
        yield _row(case, lists, ones)


def make_lists(seed: int, n_arms: int, n_rewards: int) -> Array:
    """Return lists of zeros and ones whose means are drawn uniformly from [0, 1].

    Shape (arms, rewards), bool, with the rewards of one coordinate next to each other.
    """
    rng = np.random.default_rng([seed, n_arms, n_rewards])
    means = rng.random(n_arms, dtype=np.float32)
    by_coordinate = np.empty((n_rewards, n_arms), dtype=bool)
    step = max(1, REWARDS_PER_CHUNK // n_arms)
    for start in range(0, n_rewards, step):
        some = by_coordinate[start : start + step]
        np.less(rng.random(some.shape, dtype=np.float32), means, out=some)
    return by_coordinate.T


def count_ones(lists: Array) -> Ints:
    """Return the number of ones of each arm."""
    total = np.zeros(len(lists), dtype=np.int64)
    step = max(1, REWARDS_PER_CHUNK // len(lists))
    for start in range(0, lists.shape[1], step):
        total += np.count_nonzero(lists[:, start : start + step], axis=1)
    return total


def ones_first(
    ones: Ints, n_rewards: int, epsilon: float, delta: float, k: int = 1
) -> tuple[Ints, int]:
    """Return what BoundedME finds if every arm returns its ones first, and the pulls it makes.

    After t pulls an arm has shown min(ones, t) ones, for every seed: so the pulls are counted
    rather than made.

    Examples
    --------
    >>> ones_first(np.array([10, 900, 500]), n_rewards=1000, epsilon=0.5, delta=0.1)
    (array([1]), 1322)
    """
    alive = np.arange(len(ones))
    pulls = numbers = 0
    for this in bounded_me(len(ones), n_rewards, k, epsilon, delta, width=1.0):
        numbers += len(alive) * (this.pulls - pulls)
        pulls = this.pulls
        seen = np.minimum(ones[alive], pulls)
        best = np.lexsort((alive, -seen))[: this.keep]  # ties by the smaller index
        alive = np.sort(alive[best])
    return alive, numbers


def _row(case: LossCase, lists: Array, ones: Ints) -> Row:
    means = ones / case.n_rewards
    found: dict[str, list[float]] = {"suboptimality": [], "numbers_read": [], "seconds": []}
    for position in range(len(case.epsilons)):
        (answer, numbers), seconds = clock.timed(partial(_search, case, lists, ones, position))
        found["seconds"].append(seconds)
        answer = checked(answer, case.n_arms, 1, case.method)
        found["suboptimality"].append(metrics.suboptimality(answer, means, 1))
        found["numbers_read"].append(numbers)
    kind = "counted" if case.order == "ones first" else "run"
    return asdict(case) | {"kind": kind} | found | rows.environment()


def _search(case: LossCase, lists: Array, ones: Ints, position: int) -> tuple[Ints, int]:
    """Return what is found for one of the epsilons, and the numbers read."""
    epsilon = case.epsilons[position]
    if case.order == "ones first":
        return ones_first(ones, case.n_rewards, epsilon, case.delta)
    result = sureshot.top_k(
        lists,
        np.full(case.n_rewards, 1 / case.n_rewards),  # so that scores are means
        k=1,
        epsilon=epsilon,
        delta=case.delta,
        method=case.method,
        rng=np.random.default_rng([case.seed, position, round(1000 * case.delta)]),
    )
    return result.indices, result.work.numbers_read


def describe(row: Row) -> str:
    """Say in a few words what a row found."""
    worst = max(row["suboptimality"])
    return f"{row['method']}, {row['order']}, δ={row['delta']:g}: largest loss {worst:.4f}"
