"""Successive elimination with bounds for sampling without replacement: what betting is compared with.

Not the method "successive-elimination" of the library, which is the published one and finds the best arm
alone. The same promise as `sureshot.top_k` with epsilon 0: the exact top k, but for probability delta. Every
arm has a confidence interval of its mean, from Bardenet and Maillard, *Concentration inequalities for
sampling without replacement*, Bernoulli 21 (2015); an arm is dropped when the k-th largest lower end
is above its upper end. Nothing is read twice: what is left of the last arms is read to the end, so
the worst case is the exact product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot._native import Team
from sureshot.blocks import Blocks
from sureshot.search.problem import largest
from sureshot.sources.dense import DenseSource
from sureshot.theory import concentration, intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    # Pulls, rewards per arm, width of their interval, variance of each arm's pulls, delta.
    Radius = Callable[[int, int, float, Floats, float], Floats]

FIRST_LOOK = 8
GROWTH = 1.2
# Block sums in memory at a time: 32 MB.
NUMBERS_PER_PORTION = 1 << 22
# The constant of Theorem 4.3 of Bardenet and Maillard.
KAPPA = 7 / 3 + 3 / math.sqrt(2)


@dataclass(frozen=True)
class Found:
    """The answer, best first, and what it cost."""

    indices: Ints
    scores: Floats
    numbers_read: int
    looks: int
    exact_scores: int


def hoeffding_serfling(
    pulls: int, n_rewards: int, width: float, variance: Floats, delta: float
) -> Floats:
    """Return the radius of Corollary 2.5: the same for every arm."""
    return np.full(len(variance), concentration.radius(pulls, n_rewards, width, delta))


def empirical_bernstein_serfling(
    pulls: int, n_rewards: int, width: float, variance: Floats, delta: float
) -> Floats:
    """Return the radius of Theorem 4.3, which holds but for five times the probability in its log.

    `variance` is the empirical one with divisor `pulls`, as there.
    """
    if pulls >= n_rewards:
        return np.zeros(len(variance))
    log = math.log(5 / delta)
    rho = concentration.rho(pulls, n_rewards)
    return np.sqrt(2 * rho * variance * log / pulls) + KAPPA * width * log / pulls


RADII: dict[str, Radius] = {
    "hoeffding-serfling": hoeffding_serfling,
    "empirical-bernstein-serfling": empirical_bernstein_serfling,
}


def looks(n_rewards: int) -> list[int]:
    """Return after how many pulls the arms are compared; the last time all rewards are known.

    Examples
    --------
    >>> looks(20)
    [8, 10, 12, 15, 18, 20]
    """
    grid = [min(FIRST_LOOK, n_rewards)]
    while grid[-1] < n_rewards:
        grid.append(min(math.ceil(grid[-1] * GROWTH), n_rewards))
    return grid


def search(
    data: NDArray[Any],
    query: NDArray[Any],
    k: int,
    *,
    low: float,
    high: float,
    delta: float,
    radius: str,
    block: int,
    threads: int,
    rng: np.random.Generator,
) -> Found:
    """Find the k rows with the largest inner products by successive elimination.

    Parameters
    ----------
    data, query
        Rows (n, N) and query (N,).
    k
        How many rows to find.
    low, high
        Limits of the data values.
    delta
        Allowed probability of not finding exactly the top k.
    radius
        A key of `RADII`.
    block
        Consecutive coordinates that are read together: their sum is one reward.
    threads
        Threads that read.
    rng
        Draws the uniform order, one for all arms.
    """
    cut = Blocks(data.shape[1], block)
    source = DenseSource(data, np.ascontiguousarray(query, np.float64), "ip", cut, Team(threads))
    known = intervals.from_values(
        "ip", source.query, np.array(low), np.array(high), cut, source.n_arms
    )
    drawable = np.flatnonzero(known.weight > 0)
    n_rewards = len(drawable)
    order = drawable[rng.permutation(n_rewards)]
    # Rewards are centred, so all of them lie within the largest weight of 0.
    width = 2 * float(known.weight.max())
    # The top k is lost only if the upper end of one of its k arms fails, or the lower end of one of
    # the n - k + 1 arms that are not among the k - 1 best: n + 1 one-sided bounds at each look.
    bounds_per_look = source.n_arms + 1

    alive = np.arange(source.n_arms)
    sums, squares = np.zeros((2, source.n_arms))  # of the centred rewards of the alive arms
    pulls = look = numbers_read = 0
    for look, stop in enumerate(looks(n_rewards), 1):
        blocks = np.sort(order[pulls:stop])
        _add_rewards(source, alive, blocks, known.centre[blocks], sums, squares)
        numbers_read += len(alive) * _coordinates(source, blocks)
        pulls = stop
        mean = sums / pulls
        variance = np.maximum(squares / pulls - mean**2, 0)
        # 1 / (l (l + 1)) adds up to 1 over all looks l.
        share = delta / (look * (look + 1) * bounds_per_look)
        reach = RADII[radius](pulls, n_rewards, width, variance, share)
        threshold = np.partition(mean - reach, -k)[-k]
        kept = mean + reach >= threshold
        alive, sums, squares = alive[kept], sums[kept], squares[kept]
        if len(alive) == k:
            break
    rest = np.sort(order[pulls:])
    _add_rewards(source, alive, rest, known.centre[rest], sums, squares)
    numbers_read += len(alive) * _coordinates(source, rest)
    scores = sums + known.centre.sum()
    best = largest(scores, k)
    return Found(alive[best], scores[best], numbers_read, look, len(alive))


def _add_rewards(
    source: DenseSource, arms: Ints, blocks: Ints, centre: Floats, sums: Floats, squares: Floats
) -> None:
    """Add the centred rewards of some arms, and their squares, a portion of the blocks at a time."""
    size = max(1, NUMBERS_PER_PORTION // len(arms))
    for start in range(0, len(blocks), size):
        portion = slice(start, start + size)
        rewards = source.block_sums(arms, blocks[portion])
        rewards -= centre[portion, None]
        sums += rewards.sum(axis=0)
        squares += np.einsum("ba,ba->a", rewards, rewards)


def _coordinates(source: DenseSource, blocks: Ints) -> int:
    """Return how many coordinates the blocks hold; the last block may be shorter."""
    sizes = source.blocks.sums(np.ones(source.n_coordinates))
    return int(sizes[blocks].sum())
