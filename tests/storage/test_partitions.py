"""Matrices in other processes: the answer of one machine, even if a worker is killed."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import StorageError, partitioned
from sureshot.sources.costs import in_memory
from sureshot.storage.dask import DaskMatrix
from sureshot.storage.file import FileMatrix
from sureshot.storage.kept import KeptPartitions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sureshot._types import Array, Floats
    from sureshot.result import RoundInfo, TopK


def made_data() -> Array:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((600, 4)) @ rng.standard_normal((4, 9000))
    return rows.astype(np.float32)


@pytest.fixture(scope="module")
def data() -> Array:
    """Rows that are cut into partitions."""
    return made_data()


@pytest.fixture(scope="module")
def query(data: Array) -> Floats:
    """A query that some rows resemble."""
    return np.asarray(data[11], np.float64)


def assert_same(found: TopK, expected: TopK) -> None:
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.scores, expected.scores)
    assert found.certificate == expected.certificate


@pytest.fixture
def race(monkeypatch: pytest.MonkeyPatch) -> None:
    """Race although so few numbers are not worth it."""
    monkeypatch.setattr("sureshot.storage.dask.ROUND_OF_THREADS", 1.0)
    monkeypatch.setattr("sureshot.storage.dask.ROUND_OF_SCHEDULER", 1.0)
    monkeypatch.setattr("sureshot.storage.dask.TASK_OF_SCHEDULER", 0.0)
    monkeypatch.setattr("sureshot.storage.dask.ROUND_OF_CALLS", 1.0)
    monkeypatch.setattr("sureshot.storage.dask.CALL_OF_WORKER", 0.0)
    monkeypatch.setattr("sureshot.storage.executors.ROUND", 1.0)
    monkeypatch.setattr("sureshot.sources.costs.ROUND", 1.0)
    monkeypatch.setattr("sureshot.sources.costs.VISIT_OF_ROW", 1.0)
    in_memory.cache_clear()


@pytest.fixture(autouse=True)
def forget_costs() -> Iterator[None]:
    """Forget costs that a test has changed."""
    yield
    in_memory.cache_clear()


@pytest.mark.usefixtures("race")
@pytest.mark.parametrize("metric", ["ip", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("bounds", [None, "scan"])
def test_a_dask_array_gives_the_answer_of_one_machine(
    data: Array, query: Floats, metric: str, bounds: str | None
) -> None:
    da = pytest.importorskip("dask.array")
    array = da.from_array(data, chunks=(250, -1))
    expected, found = (
        sureshot.top_k(rows, query, metric=metric, bounds=bounds, rng=5, block=16)
        for rows in (data, array)
    )
    assert_same(found, expected)
    # Columns in several partitions are added up in another order.
    parts = da.from_array(data, chunks=(250, 2001))
    found = sureshot.top_k(parts, query, metric=metric, bounds=bounds, rng=5, block=16)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("kind", ["file", "dask"])
def test_zeros_of_a_query_change_no_bit(
    data: Array, query: Floats, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whole blocks of zeros are never drawn, but an exact score is that of memory.
    monkeypatch.setattr("sureshot.search.race.choice.cost_of_everything", lambda _: 1e18)
    sparse = query.copy()
    sparse[1000:5003] = 0
    sparse[::3] = 0
    if kind == "dask":
        stored = pytest.importorskip("dask.array").from_array(data, chunks=(250, -1))
    else:
        data.tofile(tmp_path / "rows")
        stored = FileMatrix(tmp_path / "rows", data.dtype, data.shape)
    expected = sureshot.top_k(data, sparse, k=5, method="exact")
    found = sureshot.top_k(stored, sparse, k=5, block=16, rng=0)
    assert found.algorithm == "race"
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_scan_of_partitions_is_that_of_one_array(data: Array) -> None:
    da = pytest.importorskip("dask.array")
    expected = sureshot.scan(data)
    found = sureshot.scan(da.from_array(data, chunks=(99, 5000)))
    for name in ("middle", "scale", "reach"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_allclose(np.asarray(found.norms), np.asarray(expected.norms), rtol=1e-15)


@pytest.fixture(scope="module")
def files(data: Array, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The rows in three files."""
    folder = tmp_path_factory.mktemp("parts")
    paths = [folder / f"{at}.npy" for at in range(3)]
    for path, part in zip(paths, np.array_split(data, 3), strict=True):
        np.save(path, part)
    return paths


@pytest.mark.usefixtures("race")
def test_an_executor_gives_the_answer_of_one_machine(
    data: Array, query: Floats, files: list[Path]
) -> None:
    openers = [partial(np.load, path, mmap_mode="r") for path in files]
    expected = sureshot.top_k(data, query, rng=5, block=16)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        found = sureshot.top_k(partitioned(openers, executor), query, rng=5, block=16)
    assert_same(found, expected)


def test_bad_partitions(data: Array) -> None:
    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(ValueError, match="at least one function"):
            partitioned([], executor)
        with pytest.raises(TypeError, match="functions without arguments, got"):
            partitioned([data], executor)  # type: ignore[list-item]
        with pytest.raises(ValueError, match=r"equally wide matrices, got shapes"):
            partitioned([lambda: data, lambda: data[:, 1:]], executor)
        with pytest.raises(TypeError, match=r"one type, got float32, float64"):
            partitioned([lambda: data, lambda: data.astype(np.float64)], executor)
        calls = iter([data, data[:5]])
        shrinking = partitioned([lambda: next(calls)], executor)
        with pytest.raises(StorageError, match=r"a partition must be a numpy array of float32"):
            sureshot.top_k(shrinking, np.ones(9000))
    with pytest.raises(TypeError, match="client computes dask arrays, got data of type ndarray"):
        sureshot.top_k(data, np.ones(9000), client=object())


def test_a_dask_array_of_unknown_sizes_is_refused(data: Array) -> None:
    da = pytest.importorskip("dask.array")
    array = da.from_array(data, chunks=(250, -1))
    with pytest.raises(ValueError, match="of known sizes"):
        sureshot.top_k(array[array[:, 0] > 0], np.ones(9000))


def test_a_round_of_a_cluster_costs_more_with_more_partitions(data: Array) -> None:
    da = pytest.importorskip("dask.array")
    unused = SimpleNamespace(compute=None, gather=None)
    rounds = [
        DaskMatrix(da.from_array(data, chunks=(height, -1)), client=unused).round
        for height in (600, 60, 6)
    ]
    more, many = np.diff(rounds)  # for 9 and 90 more
    assert more > 0
    assert many == pytest.approx(10 * more)


def test_odd_dask_arrays(data: Array, query: Floats, monkeypatch: pytest.MonkeyPatch) -> None:
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    expected = sureshot.top_k(data, query, k=3)
    monkeypatch.setattr("sureshot.search.exact.NUMBERS_PER_ROUND", 1)
    for chunks in (-1, ((1, 0, 599), (9000,)), ((600,), (5000, 0, 4000))):
        found = sureshot.top_k(da.from_array(data, chunks=chunks), query, k=3)
        np.testing.assert_array_equal(found.indices, expected.indices)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-12)
        exact = sureshot.top_k(da.from_array(data, chunks=chunks), query, k=3, method="exact")
        assert len(exact.rounds) == 1  # all partitions are read at the same time
    masked = da.ma.masked_array(da.from_array(data, chunks=(300, -1)), mask=data > 0)
    with pytest.raises(StorageError, match="got MaskedArray float32"):
        sureshot.top_k(masked, query)
    with pytest.raises(TypeError, match="an array of dask, got Delayed"):
        sureshot.top_k(dask.delayed(data), query)
    with pytest.raises(TypeError, match=r"one of dask.distributed, got object"):
        sureshot.top_k(da.from_array(data, chunks=-1), query, client=object())
    broken = data.copy()
    broken[411, 7] = np.nan
    with pytest.raises(sureshot.BoundsError, match="row 411 has the value nan at coordinate 7"):
        sureshot.top_k(da.from_array(broken, chunks=(200, 5000)), query, method="exact")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes."""
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with cluster, distributed.Client(cluster) as client:
        yield client


def part_of_data(block_info: Any = None) -> Array:
    first, last = block_info[None]["array-location"][0]
    return made_data()[first:last]


def kept_array(data: Array, client: Any) -> Any:
    da = pytest.importorskip("dask.array")
    array = da.map_blocks(
        part_of_data, chunks=((200, 200, 200), (9000,)), dtype=np.float32, meta=data[:0]
    )
    return client.persist(array)


@pytest.mark.usefixtures("race")
@pytest.mark.parametrize("known", [True, False])
def test_partitions_that_workers_keep_are_read_without_tasks(
    data: Array, query: Floats, client: Any, known: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = kept_array(data, client)
    pytest.importorskip("distributed").wait(array)
    tasks: list[Any] = []
    compute = DaskMatrix._compute

    def computed(self: DaskMatrix, calls: Any) -> list[Any]:
        tasks.extend(calls)
        return compute(self, calls)

    monkeypatch.setattr(DaskMatrix, "_compute", computed)
    if not known:  # as if all partitions had moved since it was asked where they are
        owners, workers = KeptPartitions.owners, list(client.nthreads())

        def others(self: KeptPartitions) -> dict[Any, str]:
            return {key: workers[worker == workers[0]] for key, worker in owners(self).items()}

        monkeypatch.setattr(KeptPartitions, "owners", others)
    expected = sureshot.top_k(data, query, rng=5, block=16)
    assert_same(sureshot.top_k(array, query, rng=5, block=16, client=client), expected)
    assert bool(tasks) is not known


@pytest.mark.usefixtures("race")
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_worker_costs_time_and_not_the_answer(
    data: Array, query: Floats, client: Any
) -> None:
    array = kept_array(data, client)
    expected = sureshot.top_k(data, query, rng=5, block=16)
    victims = list(client.run(os.getpid).values())

    def kill(_: RoundInfo) -> None:
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    found = sureshot.top_k(array, query, rng=5, block=16, client=client, progress=kill)
    assert victims == []
    assert len(found.rounds) > 2
    assert_same(found, expected)


def test_a_partition_that_cannot_be_computed_again_is_an_error(data: Array, client: Any) -> None:
    da = pytest.importorskip("dask.array")

    def lost(block_info: Any = None) -> Array:
        raise OSError("the disk is gone")

    array = da.map_blocks(lost, chunks=((600,), (9000,)), dtype=np.float32, meta=data[:0])
    with pytest.raises(OSError, match="the disk is gone"):
        sureshot.top_k(array, np.ones(9000), client=client)
