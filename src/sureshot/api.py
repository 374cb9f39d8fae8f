"""The door: `top_k` for arrays and queries, `best_arms` for any finite lists of rewards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _validate
from sureshot.result import stack
from sureshot.search.problem import Problem, Tally
from sureshot.search.run import run
from sureshot.sources import select
from sureshot.theory.intervals import Intervals, intervals

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from sureshot._types import Array, Floats, Ints
    from sureshot.result import RoundInfo, TopK

    Rng = int | np.random.Generator | np.random.SeedSequence | np.random.BitGenerator | None


def top_k(
    data: Array,
    query: npt.ArrayLike,
    k: int = 10,
    *,
    metric: str = "ip",
    epsilon: float = 0.0,
    delta: float = 0.05,
    bounds: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    method: str = "exact",
    where: npt.ArrayLike | None = None,
    rng: Rng = None,
    threads: int | None = None,
    progress: Callable[[RoundInfo], object] | None = None,
) -> TopK:
    """Find the k best rows of `data` for `query`, with a certificate.

    Parameters
    ----------
    data
        Array or memory map of shape (n, N), of float32, float64, int8, uint8, int16 or bool, in any
        memory order. It is never copied, and only the rows and coordinates needed are read.
    query
        Shape (N,), or (queries, N) for several queries with one row of results each.
    k
        How many rows to return.
    metric
        ``"ip"`` (inner product, largest first), ``"cosine"`` (largest first; row norms cost one
        pass over the data), ``"sqeuclidean"`` or ``"l1"`` (distances, smallest first).
    epsilon
        Allowed loss in the units of the returned scores: how much worse than the true k-th best
        the k-th returned row may be. 0 asks for the exact top k.
    delta
        Allowed probability of missing that, for each query.
    bounds
        ``(low, high)``: limits of the data values, scalars or one entry per coordinate.
        `method="bounded-me"` needs them. A value met outside raises `BoundsError`. On float data a
        limit means the nearest number of the data's type.
    method
        ``"exact"`` reads everything; ``"bounded-me"`` is the paper's BoundedME.
    where
        Boolean mask or array of indices without duplicates: search only these rows.
    rng
        Seed or numpy Generator of the random order. Queries chosen in the light of earlier answers
        must not reuse one integer seed: pass a Generator.
    threads
        Threads to use; all by default. The result never depends on it.
    progress
        Called with a `RoundInfo` after each round.

    Returns
    -------
    TopK
        ``scores, indices = result``, ``result.certificate``, ``result.work``, ``result.rounds``.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> data = rng.random((1000, 2000), dtype=np.float32)
    >>> scores, indices = top_k(data, data[7] - 0.5, k=3)
    >>> int(indices[0])
    7
    """
    request = _validate.top_k_request(
        data, query, k, metric, epsilon, delta, bounds, method, where, rng, threads, progress
    )
    scale = select.inverse_norms(request)
    results = []
    for position, one_query in enumerate(request.queries):
        source = select.dense_source(request, one_query)
        tally = Tally(position, request.progress)
        if request.metric == "cosine" and position == 0:
            tally.numbers_read += len(request.arms) * source.n_coordinates
        problem = Problem(
            source=source,
            arms=request.arms,
            scale=scale / np.linalg.norm(one_query) if request.metric == "cosine" else scale,
            k=request.k,
            epsilon=request.epsilon,
            delta=request.delta,
            intervals=_intervals(request, one_query),
            exact_answer=True,
        )
        negate = request.metric in _validate.DISTANCES
        results.append(run(problem, request.method, request.seed, tally, negate=negate))
    return results[0] if request.single else stack(results)


def best_arms(
    pull: Callable[[Ints, Ints], Array],
    n_arms: int,
    n_rewards: int,
    k: int = 1,
    *,
    epsilon: float,
    delta: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    method: str = "exact",
    where: npt.ArrayLike | None = None,
    rng: Rng = None,
    progress: Callable[[RoundInfo], object] | None = None,
) -> TopK:
    """Find the k arms with the largest mean reward over finite lists of rewards.

    Parameters
    ----------
    pull
        ``pull(arms, coordinates)`` gets two int64 arrays and returns the rewards f(arm, coordinate)
        as an array of shape (len(arms), len(coordinates)). The same arguments must always give the
        same rewards.
    n_arms, n_rewards
        Number of arms, and of rewards in the list of each.
    k
        How many arms to return.
    epsilon
        Allowed loss in the mean reward.
    delta
        Allowed probability of missing that.
    bounds
        Limits of every reward. A reward outside raises `BoundsError`.
    method, where, rng, progress
        As in `top_k`.

    Returns
    -------
    TopK
        Its scores are mean rewards.

    Examples
    --------
    >>> import numpy as np
    >>> table = np.random.default_rng(0).random((20, 5000)) < np.linspace(0.1, 0.9, 20)[:, None]
    >>> found = best_arms(
    ...     lambda arms, coordinates: table[np.ix_(arms, coordinates)],
    ...     20, 5000, epsilon=0.3, delta=0.05, method="bounded-me", rng=0,
    ... )
    >>> int(found.indices[0]) >= 12
    True
    """
    request = _validate.best_arms_request(
        pull, n_arms, n_rewards, k, epsilon, delta, bounds, method, where, rng, progress
    )
    half_width = (request.high - request.low) / 2
    problem = Problem(
        source=select.function_source(request),
        arms=request.arms,
        scale=np.full(len(request.arms), 1 / request.n_rewards),
        k=request.k,
        epsilon=request.epsilon,
        delta=request.delta,
        intervals=Intervals(
            centre=np.full(request.n_rewards, request.low + half_width),
            weight=np.full(request.n_rewards, half_width),
        ),
        # A pull may be expensive: the answers are evaluated exactly only where that is asked for.
        exact_answer=False,
    )
    return run(problem, request.method, request.seed, Tally(0, request.progress), negate=False)


def _intervals(request: _validate.TopKRequest, query: Floats) -> Intervals | None:
    if request.limits is None:
        return None
    reward = "ip" if request.metric == "cosine" else request.metric
    return intervals(reward, query, request.limits.low, request.limits.high)
