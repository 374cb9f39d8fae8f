"""Rows that are all evaluated, on a card: in one launch, as a product of a batch, short ones, and the widest and longest data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.cuda import driver, plan, reference, rounding
from sureshot.cuda.arrays import device_array
from sureshot.cuda.layout import ASKED, SMALL_DATA
from sureshot.cuda.matrix import DeviceMatrix, Norms
from sureshot.cuda.search import Search, SearchKind

torch = pytest.importorskip("torch", reason="torch brings arrays on a card")
pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")

METRICS: tuple[reference.Metric, ...] = ("ip", "abs-ip", "cosine", "sqeuclidean")


class Whole:
    """A search of which it is known beforehand that every arm is evaluated, next to the reference."""

    def __init__(
        self, tensor: Any, queries: Any, k: int, metric: reference.Metric = "ip", arms: Any = None
    ) -> None:
        self.values = tensor.float().cpu().numpy().astype(np.float64)
        self.itemsize, self.k, self.metric, self.arms = tensor.element_size(), k, metric, arms
        self.queries = queries.cpu().numpy()
        self.squares = (self.values * self.values).sum(axis=1)
        self.tops = np.abs(self.values).max(axis=1)
        matrix = DeviceMatrix(device_array(tensor, "data"))
        with matrix.device.current():
            norms = Norms(
                self.squares,
                matrix.device,
                "",
                exact=True,
                equal=False,
                rounding=0.0,
                tops=self.tops,
            )
            kind = SearchKind(
                k=k,
                metric=metric,
                delta=0.05,
                query_type=str(queries.dtype).removeprefix("torch."),
                query_aligned=queries.data_ptr() % 16 == 0 and queries.shape[1] % 4 == 0,
                n_queries=len(queries),
                whole=ASKED if len(queries) == 1 else SMALL_DATA,
            )
            self.search = Search(matrix, norms, kind, arms=arms)
            torch.cuda.synchronize()
            for _ in range(2):  # the second time with what the first one has left behind
                where = queries.data_ptr(), queries.shape[1], len(queries)
                self.search.begin(*where, 1, 0.0, driver.stream(0))
                self.search.wait(len(queries), driver.stream(0))
            torch.cuda.synchronize()

    def compare(self) -> None:
        """Compare rows, and scores bit for bit."""
        own = np.arange(len(self.values)) if self.arms is None else self.arms
        plan_of_all = plan.plan_of(len(own), self.values.shape[1], self.k, self.itemsize)
        for at, query in enumerate(self.queries):
            searched = reference.Search(
                reference.Question(
                    self.values, query, self.k, self.squares, 1, metric=self.metric, arms=self.arms
                ),
                plan_of_all,
            )
            searched.evaluate(own)
            right = searched.answer("")
            assert own[self.search.positions[at]].tolist() == right.indices.tolist()
            assert self.search.scores[at].tobytes() == right.scores.tobytes()
            assert self.search.work["square"][at] == searched.query_square

    def totals(self) -> Any:
        """Return the sums of whole numbers of every query and row."""
        out = np.empty((len(self.queries), self.search.n), dtype=np.int64)
        on = self.search.device
        driver.download(on, self.search.params.totals, out, driver.stream(0))
        return out


def made(n: int, width: int, dtype: str = "float32", queries: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng([n, width])
    data = torch.from_numpy(rng.standard_normal((n, width)).astype(np.float32)).cuda()
    asked = torch.from_numpy(rng.standard_normal((queries, width)).astype(np.float32)).cuda()
    return data.to(getattr(torch, dtype)), asked


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("n", "width"), [(20, 90_000), (300, 100), (1000, 2500), (3000, 2049), (16_000, 300), (40, 16)]
)
def test_one_launch(n: int, width: int, metric: reference.Metric) -> None:
    whole = Whole(*made(n, width), min(10, n), metric)
    assert whole.search.alone
    whole.compare()


def test_one_launch_with_ties_and_some_rows() -> None:
    data, query = made(500, 3000)
    Whole(data.repeat_interleave(7, 0), query, 300).compare()
    Whole(torch.zeros_like(data), query, 5).compare()
    Whole(data, query.double(), 20, arms=np.arange(3, 480, 2)).compare()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("queries", [3, 8, 9, 16])
def test_products_of_whole_numbers(dtype: str, queries: int, metric: reference.Metric) -> None:
    whole = Whole(*made(1500, 3000, dtype, queries), 10, metric)
    assert whole.search.product.integers
    whole.compare()
    grids = np.minimum(rounding.MOST_NUMBER / whole.tops, rounding.MOST_GRID).astype(np.float32)
    rows = np.rint(whole.values * grids.astype(np.float64)[:, None])
    units = whole.search.work["grid_of_query"][:, None]
    asked = np.rint(whole.queries.astype(np.float64) * units)
    assert (whole.totals() == (asked @ rows.T).astype(np.int64)).all()
    assert (whole.search.work["size"] == np.abs(asked).sum(axis=1)).all()


@pytest.mark.parametrize("width", [3001, 70_000])
def test_products_of_other_widths_and_some_rows(width: int) -> None:
    arms = np.arange(5, 690, 3)
    Whole(*made(700, width, "bfloat16", 5), 10, arms=arms).compare()
    Whole(*made(700, width, "float32", 5), 10, arms=arms).compare()


def test_values_that_float32_sums_cannot_hold() -> None:
    """A product in float32 would overflow: each query has a pass of its own."""
    data, queries = made(300, 3000, "float32", 3)
    data *= 3e37
    Whole(data, queries, 5).compare()
    Whole(data / 3e37, queries.double() * 1e140, 5).compare()


def test_small_products() -> None:
    """All these kernels on little data: what the checkers of memory and races run."""
    Whole(*made(60, 5000), 3).compare()
    Whole(*made(600, 2500), 3).compare()
    Whole(*made(300, 50), 3).compare()
    Whole(*made(200, 601, "bfloat16", 3), 3).compare()
    data, query = made(300, 40)
    assert sureshot.scan(data).norms is not None
    assert len(sureshot.top_k(data, query[0], 3).indices) == 3


def test_small_data_is_read_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "SMALL_BYTES", 1 << 29)
    data, queries = made(2000, 9600, "float32", 5)
    right = torch.topk(data.double() @ queries.double().T, 10, dim=0).indices.T.tolist()
    bounds = sureshot.scan(data)
    for _ in range(3):
        one = sureshot.top_k(data, queries[0], 10, bounds=bounds)
        all_of_them = sureshot.top_k(data, queries, 10, bounds=bounds)
        assert one.certificate.exact
        assert one.indices.tolist() == right[0]
        assert all_of_them.indices.tolist() == right


@pytest.mark.parametrize(
    ("n", "width"), [(10**7, 100), (10**6, 16), (3 * 10**6, 257), (10**6, 1024)]
)
def test_many_rows(n: int, width: int) -> None:
    data = torch.randn(n, width, device="cuda")
    query = torch.randn(width, device="cuda")
    scores = torch.cat([part.double() @ query.double() for part in data.split(1 << 20)])
    right = torch.topk(scores, 10).indices.tolist()
    bounds = sureshot.scan(data)
    norms = torch.linalg.vector_norm(data[:1000].double(), dim=1).cpu().numpy()
    np.testing.assert_allclose(np.asarray(bounds.norms)[:1000], norms)
    assert sureshot.top_k(data, query, 10, bounds=bounds).indices.tolist() == right
    assert sureshot.top_k(data, query[None], 10, bounds=bounds).indices[0].tolist() == right


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("n", "width"), [(400, 10**6), (200, 10**7), (200, 10**7 - 3)])
def test_wide_rows(n: int, width: int, dtype: str) -> None:
    """Rows of a low rank with noise: those that are not like the query are dropped by races."""
    torch.manual_seed(n + width)
    parts = torch.randn(5, width, device="cuda")
    data = torch.empty(n, width, device="cuda", dtype=getattr(torch, dtype))
    for row in data:
        row.copy_(torch.randn(5, device="cuda") @ parts + 0.3 * torch.randn(width, device="cuda"))
    query = torch.randn(5, device="cuda") @ parts + 0.3 * torch.randn(width, device="cuda")
    scores = torch.stack([row.double() @ query.double() for row in data])
    right = torch.topk(scores, 5).indices.tolist()
    found = sureshot.top_k(data, query, 5, bounds=sureshot.scan(data), rng=3)
    assert found.indices.tolist() == right
    assert found.work.share < 1
    np.testing.assert_allclose(found.scores, scores[right].cpu().numpy(), rtol=1e-9)
