"""The kernels on a card, next to the reference: the same answers, and the same arms left after each race."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.cuda import reference
from sureshot.cuda.arrays import device_array
from sureshot.cuda.driver import stream
from sureshot.cuda.matrix import DeviceMatrix, Norms
from sureshot.cuda.search import Search, SearchKind
from tests.cuda import populations

torch = pytest.importorskip("torch", reason="torch brings arrays on a card")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")


def low_rank(n: int, width: int, seed: int, *, unit: bool = False, noise: float = 0.3) -> Any:
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((10, width)) / math.sqrt(10)
    data = rng.standard_normal((n, 10)) @ parts + noise * rng.standard_normal((n, width))
    if unit:
        data /= np.linalg.norm(data, axis=1, keepdims=True)
    else:
        data *= np.exp(0.6 * rng.standard_normal((n, 1)))
    query = rng.standard_normal(10) @ parts + noise * rng.standard_normal(width)
    return data, query


def gaussian(n: int, width: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, width)), rng.standard_normal(width)


def spiky(n: int, width: int, seed: int) -> Any:
    """Rows whose mass lies in few columns, and a query of most unequal values."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((n, width)) * np.exp(2 * rng.standard_normal((1, width)))
    return data, rng.standard_normal(width) * np.exp(2 * rng.standard_normal(width))


POPULATIONS = {
    "low rank": low_rank,
    "unit": lambda n, width, seed: low_rank(n, width, seed, unit=True),
    "gaussian": gaussian,
    "spiky": spiky,
}


def in_type(values: Any, name: str) -> tuple[Any, Any]:
    """Return numbers of a type that numpy knows, and the tensor on the card."""
    if name in ("int8", "uint8"):
        top = 127 if name == "int8" else 255
        scaled = values / np.abs(values).max() * top
        whole = np.clip(np.abs(scaled) if name == "uint8" else scaled, -top, top).astype(name)
        return whole, torch.from_numpy(whole).cuda()
    tensor = torch.from_numpy(values.astype(np.float32)).to(getattr(torch, name)).cuda()
    if name == "bfloat16":
        ml_dtypes = pytest.importorskip("ml_dtypes")
        return tensor.float().cpu().numpy().astype(ml_dtypes.bfloat16), tensor
    return tensor.cpu().numpy(), tensor


class Ask:
    """A search of a card, with its record, and the same question for the reference."""

    def __init__(self, values: Any, tensor: Any, query: Any, k: int, **options: Any) -> None:
        self.metric = options.pop("metric", "ip")
        self.arms = options.pop("arms", None)
        self.row_scale = options.pop("row_scale", None)
        self.epsilon = options.pop("epsilon", 0.0)
        self.delta = options.pop("delta", 0.05)
        self.seed = options.pop("seed", 11)
        self.values, self.tensor, self.query, self.k = values, tensor, query, k
        wide = values.astype(np.float64)
        self.squares = (wide * wide).sum(axis=1)

    def on_card(self) -> tuple[Any, Any, Any]:
        matrix = DeviceMatrix(device_array(self.tensor, "data"))
        on = matrix.device
        with on.current():
            norms = Norms(self.squares, on, "", exact=True, equal=False, rounding=0.0)
            query = torch.from_numpy(self.query).cuda()
            search = Search(
                matrix,
                norms,
                SearchKind(
                    k=self.k,
                    metric=self.metric,
                    delta=self.delta,
                    query_type=str(query.dtype).removeprefix("torch."),
                    query_aligned=query.data_ptr() % 16 == 0,
                    n_queries=1,
                ),
                arms=self.arms,
                row_scale=self.row_scale,
            )
            torch.cuda.synchronize()
            for _ in range(2):  # the second time with what the first one has left behind
                search.begin(query.data_ptr(), 0, 1, self.seed, self.epsilon, stream(0))
                search.wait(1, stream(0))
            torch.cuda.synchronize()
        positions = search.positions[0].astype(np.int64)
        rows = positions if self.arms is None else self.arms[positions]
        return rows, search.scores[0].copy(), search.work[0].copy()

    def by_reference(self) -> reference.Found:
        epsilon = self.epsilon
        if self.metric == "cosine":
            epsilon *= float(np.linalg.norm(self.query.astype(np.float64)))
        return reference.search(
            reference.Question(
                data=self.values,
                query=self.query,
                k=self.k,
                squares=self.squares,
                seed=self.seed,
                metric=self.metric,
                epsilon=epsilon,
                delta=self.delta,
                row_scale=self.row_scale,
                arms=self.arms,
            )
        )

    def compare(self) -> None:
        rows, scores, work = self.on_card()
        right = self.by_reference()
        assert rows.tolist() == right.indices.tolist()
        assert scores.tobytes() == right.scores.tobytes()
        left = [len(stage.left) for stage in right.stages]
        assert work["count"][1 : 1 + len(left)].tolist() == left, (work, right.stages)
        assert work["bad_query"] == work["bad_norm"] == work["bad_score"] == 0


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("k", [1, 10, 150])
def test_populations(population: str, k: int) -> None:
    data, query = POPULATIONS[population](2500, 9600, k)
    Ask(*in_type(data, "float32"), query.astype(np.float32), k).compare()


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int8", "uint8"])
def test_types_and_metrics(name: str, metric: str) -> None:
    data, query = low_rank(1500, 9600, 5)
    Ask(*in_type(data, name), query.astype(np.float32), 5, metric=metric).compare()


@pytest.mark.parametrize("width", [2049, 3000, 9601, 20_000])
@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8"])
def test_odd_widths(name: str, width: int) -> None:
    data, query = low_rank(700, width, width)
    Ask(*in_type(data, name), query.astype(np.float32), 3).compare()


@pytest.mark.parametrize("width", [2100, 2101])
def test_small_cases(width: int) -> None:
    """All kernels on little data: what the checkers of memory and races run."""
    data, query = low_rank(300, width, 1)
    values, tensor = in_type(data, "float32")
    Ask(values, tensor, query.astype(np.float32), 3).compare()
    found = sureshot.top_k(tensor, query, 3)
    data, queries = gaussian(300, width, 1)[0], gaussian(5, width, 2)[0]
    values, tensor = in_type(data, "float32")
    batch = sureshot.top_k(tensor, queries, 3, bounds=sureshot.scan(tensor), rng=1)
    right = np.argsort(-(queries @ values.astype(np.float64).T), axis=1)[:, :3]
    assert batch.indices.tolist() == right.tolist()
    assert found.certificate.exact


@pytest.mark.parametrize("metric", ["ip", "abs-ip", "cosine", "sqeuclidean"])
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_batches_that_share_a_pass(name: str, metric: str) -> None:
    data, _ = gaussian(3000, 9600, 4)
    values, tensor = in_type(data, name)
    queries = np.random.default_rng(5).standard_normal((9, 9600))
    bounds = sureshot.scan(tensor)
    for method in ("betting", "exact"):
        asked: dict[str, Any] = {"metric": metric, "method": method, "rng": 2}
        found = sureshot.top_k(tensor, torch.from_numpy(queries).cuda(), 7, bounds=bounds, **asked)
        right = sureshot.top_k(values.astype(np.float32), queries, 7, metric=metric, method="exact")
        assert found.indices.tolist() == right.indices.tolist()
        np.testing.assert_allclose(found.scores, right.scores, rtol=1e-9)
        assert found.certificate.exact
        assert "multiplied" in found.work.choice
        assert found.queries[3].indices.tolist() == right.indices[3].tolist()


@pytest.mark.parametrize("width", [150_000, 300_003])
def test_wide_rows(width: int) -> None:
    """Rows of more blocks than one block of threads counts one by one."""
    data, query = low_rank(200, width, 6)
    Ask(*in_type(data, "float32"), query.astype(np.float32), 3).compare()


@pytest.mark.parametrize("name", populations.ROWS)
def test_hostile_rows(name: str) -> None:
    rows, query = populations.copies(np.random.default_rng(3), name)
    Ask(rows, torch.from_numpy(rows).cuda(), query, 5).compare()


def test_rows_that_are_not_aligned() -> None:
    data, query = low_rank(800, 4001, 3)
    values, tensor = in_type(data, "float32")
    Ask(values[:, 1:], tensor[:, 1:], query[1:].astype(np.float32), 3).compare()


def test_double_queries_where_and_factors() -> None:
    data, query = low_rank(1600, 9600, 8)
    values, tensor = in_type(data, "float32")
    arms = np.flatnonzero(np.arange(1600) % 3)
    scale = np.random.default_rng(0).random(1600) + 0.1
    Ask(values, tensor, query, 6).compare()
    Ask(values, tensor, query, 6, arms=arms).compare()
    Ask(values, tensor, query.astype(np.float32), 6, row_scale=scale).compare()
    Ask(values, tensor, query, 6, arms=arms, row_scale=scale, metric="abs-ip").compare()


def test_epsilon_ties_sparse_and_scaled_queries() -> None:
    data, query = low_rank(1500, 9600, 9)
    values, tensor = in_type(data, "float32")
    single = query.astype(np.float32)
    Ask(values, tensor, single, 10, epsilon=20.0).compare()
    Ask(values, tensor, single, 10, delta=1e-9).compare()
    Ask(values, tensor, single * np.float32(1e-12), 10).compare()
    Ask(values, tensor, query * 1e100, 10).compare()
    Ask(values, tensor, query * 1e-140, 10).compare()
    Ask(values, tensor, query * 1e140, 10).compare()
    sparse = np.zeros_like(single)
    sparse[[3, 777, 9599]] = [1.0, -2.0, 0.5]
    Ask(values, tensor, sparse, 10).compare()
    twice = np.concatenate([values, values[::-1]])
    Ask(twice, torch.from_numpy(twice).cuda(), single, 15).compare()


def test_many_ties_and_the_largest_answer() -> None:
    data, query = gaussian(1000, 3000, 1)
    values = np.repeat(data.astype(np.float32), 4, axis=0)
    Ask(values, torch.from_numpy(values).cuda(), query.astype(np.float32), 1000).compare()
    same = np.tile(values[:1], (6000, 1))
    Ask(same, torch.from_numpy(same).cuda(), query.astype(np.float32), 300).compare()


def test_the_public_door() -> None:
    data, query = low_rank(3000, 9600, 2)
    values, tensor = in_type(data, "float32")
    on_card = torch.from_numpy(query.astype(np.float32)).cuda()
    for metric in ("ip", "abs-ip", "cosine", "sqeuclidean"):
        right = sureshot.top_k(values, query.astype(np.float32), 10, metric=metric, method="exact")
        for bounds in (None, None, sureshot.scan(tensor)):
            found = sureshot.top_k(tensor, on_card, 10, metric=metric, bounds=bounds)
            assert found.indices.tolist() == right.indices.tolist()
            np.testing.assert_allclose(found.scores, right.scores, rtol=1e-10)
        asked = sureshot.top_k(tensor, on_card, 10, metric=metric, method="exact")
        assert asked.indices.tolist() == right.indices.tolist()
        assert asked.certificate.exact


def test_batches() -> None:
    data, _ = low_rank(3000, 9600, 2)
    values, tensor = in_type(data, "float32")
    queries = np.random.default_rng(3).standard_normal((37, 9600)).astype(np.float32)
    queries[::2] += values[:19] * 3
    bounds = sureshot.scan(tensor)
    found = sureshot.top_k(tensor, torch.from_numpy(queries).cuda(), 10, bounds=bounds, rng=4)
    right = np.argsort(-(queries.astype(np.float64) @ values.astype(np.float64).T), axis=1)[:, :10]
    assert found.indices.tolist() == right.tolist()
    for at in (0, 5, 36):
        alone = sureshot.top_k(
            tensor, torch.from_numpy(queries[at]).cuda(), 10, bounds=bounds, rng=4
        )
        assert alone.indices.tolist() == found.indices[at].tolist()
        assert alone.scores.tobytes() == found.scores[at].tobytes()


def test_changes_are_seen_and_bad_numbers_are_errors() -> None:
    data, query = low_rank(2000, 9600, 2)
    _, tensor = in_type(data, "float32")
    on_card = torch.from_numpy(query.astype(np.float32)).cuda()
    sureshot.top_k(tensor, on_card)
    assert not sureshot.top_k(tensor, on_card).certificate.exact
    tensor[17] = on_card * 100
    found = sureshot.top_k(tensor, on_card)
    assert found.certificate.exact
    assert found.indices[0] == 17
    tensor[3, 5] = float("nan")
    with pytest.raises(ValueError, match="not finite"):
        sureshot.top_k(tensor, on_card)
    with pytest.raises(ValueError, match="query"):
        sureshot.top_k(tensor, on_card * float("inf"), bounds=sureshot.Bounds(norms=1e4))
    with pytest.raises(sureshot.BoundsError, match="longer than its norm"):
        sureshot.top_k(torch.from_numpy(data.astype(np.float32)).cuda(), on_card, bounds="unit")


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("metric", ["ip", "cosine", "sqeuclidean"])
def test_columns_that_lie_side_by_side(name: str, metric: str) -> None:
    data, query = low_rank(700, 3001, 2)
    values, tensor = in_type(data, name)
    by_column = tensor.T.contiguous().T
    wide = values.astype(np.float32)
    right = sureshot.top_k(wide, query, 10, metric=metric, method="exact")
    found = sureshot.top_k(by_column, query, 10, metric=metric)
    assert found.indices.tolist() == right.indices.tolist()
    np.testing.assert_allclose(found.scores, right.scores, rtol=1e-9)
    norms = np.asarray(sureshot.scan(by_column).norms)
    np.testing.assert_allclose(norms, np.linalg.norm(wide.astype(np.float64), axis=1))


@pytest.mark.parametrize("library", ["cupy", "jax"])
def test_other_libraries(library: str) -> None:
    data, query = low_rank(1000, 4000, 2)
    data, query = data.astype(np.float32), query.astype(np.float32)
    if library == "cupy":
        cupy = pytest.importorskip("cupy")
        array, asked = cupy.asarray(data), cupy.asarray(query)
    else:
        jax = pytest.importorskip("jax")
        array, asked = jax.numpy.asarray(data), jax.numpy.asarray(query)
    right = sureshot.top_k(data, query, 10, method="exact")
    for bounds in (None, None, sureshot.scan(array)):
        found = sureshot.top_k(array, asked, 10, bounds=bounds)
        assert found.indices.tolist() == right.indices.tolist()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
