"""The public functions: `top_k` for arrays and queries, `best_arms` for any finite lists of rewards."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sureshot._validate.request import best_arms_request, scan_request, top_k_request
from sureshot.at_once import answer_at_once
from sureshot.cuda.arrays import is_on_device
from sureshot.cuda.known import TENSORS
from sureshot.prepare.best_arms import prepare_best_arms
from sureshot.prepare.top_k import prepare_top_k
from sureshot.prepare.whole_scan import scan_all
from sureshot.queries import run_queries
from sureshot.result import share_time
from sureshot.search.problem import Tally
from sureshot.search.run import run
from sureshot.storage.matrix import Matrix
from sureshot.storage.opening import opened

if TYPE_CHECKING:
    import os
    from collections.abc import Awaitable, Callable
    from concurrent.futures import Executor

    import numpy as np
    import numpy.typing as npt

    from sureshot._types import Array, Ints
    from sureshot.bounds import Bounds
    from sureshot.result import RoundInfo, ScanInfo, TopK
    from sureshot.storage.matrix import Matrix

    Rng = int | np.random.Generator | np.random.SeedSequence | np.random.BitGenerator | None


def top_k(
    data: Array | Matrix,
    query: npt.ArrayLike,
    k: int = 10,
    *,
    metric: str = "ip",
    epsilon: float = 0.0,
    delta: float = 0.05,
    bounds: tuple[npt.ArrayLike, npt.ArrayLike] | Bounds | str | None = None,
    method: str = "betting",
    replacement: bool | None = None,
    budget: float | None = None,
    budget_seconds: float | None = None,
    where: npt.ArrayLike | None = None,
    row_scale: npt.ArrayLike | None = None,
    expected_score: float | None = None,
    rng: Rng = None,
    threads: int | None = None,
    block: int | None = None,
    progress: Callable[[RoundInfo], object] | None = None,
    client: Any = None,
) -> TopK:
    """Find the k best rows of `data` for `query`, with a certificate.

    Parameters
    ----------
    data
        Array or memory map of shape (n, N), of float16, float32, float64, bfloat16 (of ml_dtypes),
        int8, uint8, int16 or bool, in any memory order. It is never copied, and only the rows and
        coordinates needed are read. Or what `open_matrix`, `vstack`, `hstack` and `partitioned` return; an
        array of zarr, h5py or dask; a column of pyarrow with lists of one length; a tensor in this machine's
        memory. See ``docs/scale.md``. Or an array of torch, CuPy or JAX on a CUDA device, of float32, float16,
        bfloat16, int8 or uint8, which is searched there: ``docs/gpu.md`` says with which arguments.
    query
        Shape (N,), or (queries, N) for several queries with one row of results each.
    k
        How many rows to return.
    metric
        ``"ip"`` (inner product, largest first), ``"abs-ip"`` (its absolute value), ``"cosine"``
        (largest first), ``"sqeuclidean"`` or ``"l1"`` (distances, smallest first). A cosine needs the
        norms of the rows: from ``scan(data)``, or as ``Bounds(norms=..., norms_exact=True)``. Without
        them one pass over the searched rows computes them and answers the first query exactly; the
        other queries of the call are searched with them.
    epsilon
        Allowed loss in the units of the returned scores: how much worse than the true k-th best
        the k-th returned row may be. 0 asks for the exact top k.
    delta
        Allowed probability of missing that, for each query.
    bounds
        What is known of the data, which decides what kind of guarantee there is. ``(low, high)``:
        limits of its values, scalars, or arrays of shape (N,) per coordinate or (n, 1) per row.
        ``"unit"``: no row has a norm above 1. `Bounds`: any of these, or larger norms. ``scan(data)``:
        limits found by reading the data once. ``"scan"``: the same for the searched rows inside this
        call, counted in ``work``; it pays for several queries, since a single one is known exactly after
        one pass. None: integers have the limits of their type, distances need none, and inner
        products of floats get a guarantee under a condition that the certificate states. A value that is
        read and lies outside its bounds raises `BoundsError`. On float data a limit means the nearest
        number of the data's type.
    method
        ``"betting"`` reads what it needs, ``"bounded-me"`` is the paper's BoundedME and reads a
        schedule fixed by (n, N, k, epsilon, delta), ``"exact"`` reads everything. The bandits of the
        literature, for comparison, need limits of the values: ``"lucb"`` for any k;
        ``"median-elimination"``, ``"successive-elimination"``, ``"lil-ucb"`` and ``"exponential-gap"``
        for k = 1; ``"successive-rejects"`` for any k and ``"successive-halving"`` for k = 1 spend
        `budget` and promise neither epsilon nor delta. See ``docs/bandits.md``.
    replacement
        Whether a coordinate may be pulled again. None: as the method was published, which is with
        replacement for the bandits of the literature (they may then pull an arm more often than it
        has coordinates) and without for the others. False makes the former pull each coordinate
        at most once.
    budget, budget_seconds
        Stop after this share of all numbers, or this time; the certificate then says which epsilon
        was proved. The k answers are evaluated exactly, which may come on top of it. A budget of 1 is
        no limit, and neither is a time that is surely enough to evaluate every row. Not for
        ``"bounded-me"`` and ``"exact"``.
    where
        Boolean mask or array of indices without duplicates: search only these rows.
    row_scale
        A known factor of each row, shape (n,), finite and above 0: the score is the inner product times
        it, for stored weights, say, or rows kept with a scale. For ``"ip"`` and ``"abs-ip"``; epsilon is
        in units of these scores, and `bounds` are those of the data without the factor.
    expected_score
        About what the k-th best score will be, if that is known: from the last of many similar queries, say, as in a
        solver. It helps to decide whether to sample or to read everything, where few rows stand out among many, and where
        norms are known it is bet on from the first block on; the guarantee does not depend on it.
    rng
        Seed or numpy Generator of the random order. Queries that depend on earlier answers must not
        reuse one integer seed: pass a Generator.
    threads
        Threads to use; all by default. The result never depends on it.
    block
        Consecutive coordinates that are read together. By default one where the columns of `data`
        are contiguous (16 if nothing but norms is known), else a cache line. For experiments.
    progress
        Called with a `RoundInfo` after each round.
    client
        Of ``dask.distributed``: where the partitions of a dask array are searched. By default the current
        client, if there is one, else the threads of this process.

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
    started = time.perf_counter()
    arguments: dict[str, Any] = {
        "query": query,
        "k": k,
        "metric": metric,
        "epsilon": epsilon,
        "delta": delta,
        "bounds": bounds,
        "method": method,
        "replacement": replacement,
        "budget": budget,
        "budget_seconds": budget_seconds,
        "where": where,
        "row_scale": row_scale,
        "expected_score": expected_score,
        "rng": rng,
        "threads": threads,
        "block": block,
        "progress": progress,
    }
    found: TopK | None = None
    if TENSORS and client is None and id(data) in TENSORS:
        found = TENSORS[id(data)].top_k(data, arguments, started)
    if found is None and is_on_device(data):
        from sureshot.cuda import request as checks  # noqa: PLC0415 - small calls of the host pay for it
        from sureshot.cuda import top_k as device  # noqa: PLC0415

        found = device.top_k(checks.device_request(data, client=client, **arguments), started)
    if found is not None:
        return found
    request = top_k_request(data=opened(data, client), **arguments)
    found = answer_at_once(request, started)
    return run_queries(prepare_top_k(request), started) if found is None else found


def best_arms(
    pull: Callable[[Ints, Ints], npt.ArrayLike | Awaitable[npt.ArrayLike]],
    n_arms: int,
    n_rewards: int,
    k: int = 1,
    *,
    epsilon: float,
    delta: float = 0.05,
    bounds: tuple[float, float] = (0.0, 1.0),
    method: str = "betting",
    replacement: bool | None = None,
    budget: float | None = None,
    budget_seconds: float | None = None,
    where: npt.ArrayLike | None = None,
    rng: Rng = None,
    progress: Callable[[RoundInfo], object] | None = None,
    executor: Executor | None = None,
    pulls_per_call: int | None = None,
    concurrency: int | None = None,
    retries: int = 0,
    journal: str | os.PathLike[str] | None = None,
) -> TopK:
    """Find the k arms with the largest mean reward over finite lists of rewards.

    Parameters
    ----------
    pull
        ``pull(arms, coordinates)`` gets two int64 arrays and returns the rewards f(arm, coordinate)
        as an array of shape (len(arms), len(coordinates)). The same arguments must always give the
        same rewards. An ordinary function, or a coroutine function (``async def``): that is run in
        an event loop of its own in another thread, so it works in a notebook, too.
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
    method, replacement, budget, budget_seconds, where, rng, progress
        As in `top_k`; but the answers of the bandits of the literature are not evaluated on top of a
        budget, and are estimates unless the certificate says otherwise.
    executor
        Any ``concurrent.futures.Executor``, to call an ordinary `pull` in its threads, processes or
        machines.
    pulls_per_call
        The most coordinates that a call of `pull` asks for; it then asks for a single arm. By
        default 1 with an executor or a coroutine function; without, a call asks for all the arms and
        coordinates that the search wants next.
    concurrency
        The most calls in progress at once with an executor or a coroutine function, 16 by default.
        The result never depends on it, nor on which call returns first.
    retries
        How many more times a call that raises an exception is tried, at once. Then `PullError` is
        raised, with arm and coordinate.
    journal
        File that keeps every reward as it is returned, in SQLite. The same call with the same file
        goes on where an error, Ctrl-C or a crash has stopped it, and does not pull a stored reward
        again. It keeps the seed, too, so `rng` may be left out. A journal of other `n_arms`, `n_rewards`,
        `bounds` or `rng`, and one in use, is refused with `JournalError`. See ``docs/expensive-pulls.md``.

    Returns
    -------
    TopK
        Its scores are mean rewards. With few arms and ``epsilon`` above 0 the best arms are not
        pulled to the end where less is enough; then they are estimates, and the certificate says so.
        ``work.pulls_paid`` is how many rewards were pulled and not found in the journal.

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

    Pulls that take their time, eight at once:

    >>> import asyncio
    >>> async def ask(arms, coordinates):
    ...     await asyncio.sleep(0.001)
    ...     return table[np.ix_(arms, coordinates)]
    >>> found = best_arms(
    ...     ask, 20, 5000, epsilon=0.3, delta=0.05, pulls_per_call=100, concurrency=8, rng=0
    ... )
    >>> int(found.indices[0]) >= 12
    True
    """
    started = time.perf_counter()
    request = best_arms_request(
        pull=pull,
        n_arms=n_arms,
        n_rewards=n_rewards,
        k=k,
        epsilon=epsilon,
        delta=delta,
        bounds=bounds,
        method=method,
        replacement=replacement,
        budget=budget,
        budget_seconds=budget_seconds,
        where=where,
        rng=rng,
        progress=progress,
        executor=executor,
        pulls_per_call=pulls_per_call,
        concurrency=concurrency,
        retries=retries,
        journal=journal,
    )
    with prepare_best_arms(request) as prepared:
        tally = Tally(0, request.progress)
        found = run(prepared.problem, request.method, prepared.seed, tally)
    (found,) = share_time([found], time.perf_counter() - started)
    return replace(found, work=replace(found.work, pulls_paid=prepared.rewards.paid))


def scan(
    data: Array | Matrix,
    *,
    threads: int | None = None,
    save: str | os.PathLike[str] | bool | None = None,
    progress: Callable[[ScanInfo], object] | None = None,
) -> Bounds:
    """Read `data` once for what bounds it, for use in every later search of the same data.

    Takes a scale for each coordinate from a sample of rows, then the largest scaled value and the
    norm of every row.

    Parameters
    ----------
    data
        As in `top_k`.
    threads
        Threads to use; all by default.
    save
        File that the bounds are written to at the end, for ``Bounds.load``. True: beside the file of the
        data, where ``Bounds.beside`` says. Every few seconds what is known so far is kept in a file of
        the same name with ``.partial`` at its end: the same call goes on where an error, Ctrl-C or a crash
        has stopped it, if the files of the data have not changed. A scan of an array in memory, or of
        partitions in other processes, begins anew.
    progress
        Called with a `ScanInfo` after each piece of the data.

    Returns
    -------
    Bounds
        Pass it as ``top_k(..., bounds=...)``; keep it with ``save`` and ``Bounds.load``. If the data lies
        in files, they must stay as they are: `top_k` refuses bounds of files that have changed since.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.random.default_rng(0).standard_normal((500, 3000), dtype=np.float32)
    >>> scan(data)
    Bounds(scan of 500 rows of 3000 coordinates)
    """
    if is_on_device(data):
        from sureshot.cuda import top_k as device  # noqa: PLC0415

        return device.scan(data, threads=threads, save=save, progress=progress)
    return scan_all(scan_request(data=opened(data), threads=threads, save=save, progress=progress))
