"""Products that list the arms which may be among the best, on a card: short rows, batches of them, ties, and too many for a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.cuda import plan, reference
from sureshot.cuda.arrays import device_array
from sureshot.cuda.layout import MULTIPLIED, SKIMMED
from sureshot.cuda.matrix import matrix_of
from tests.cuda.test_device import Ask, in_type
from tests.cuda.test_device_whole import METRICS, Whole, made, torch

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA card")


@pytest.fixture
def many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let some hundred rows count as many."""
    monkeypatch.setattr(plan, "WHOLE_ARMS", 500)
    monkeypatch.setattr(plan, "MANY_FIRST_ROWS", 100)


@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("n", "width", "dtype"),
    [
        (3000, 100, "float32"),
        (1500, 1000, "float32"),
        (2001, 37, "float32"),
        (1100, 3001, "bfloat16"),
        (1200, 300, "float16"),
    ],
)
def test_one_query_and_many_short_rows(
    n: int, width: int, dtype: str, metric: reference.Metric
) -> None:
    whole = Whole(*made(n, width, dtype), 10, metric)
    assert whole.search.multiplies
    assert whole.search.work["reason"][0] == SKIMMED
    assert whole.search.work["rows"][0] < n + 200
    whole.compare()


@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("dtype", "width"), [("float32", 500), ("bfloat16", 500), ("float32", 77)])
def test_batches_of_many_short_rows(dtype: str, width: int, metric: reference.Metric) -> None:
    """More than a list keeps: products of whole rows go to the lists at once."""
    data, queries = made(140_000, width, dtype, 5)
    bounds = sureshot.scan(data)
    found = sureshot.top_k(data, queries, 10, metric=metric, bounds=bounds)
    assert "multiplied" in found.work.choice
    for at, query in enumerate(queries):
        alone = sureshot.top_k(data, query, 10, metric=metric, bounds=bounds, method="exact")
        assert alone.certificate.exact
        assert found.indices[at].tolist() == alone.indices.tolist()
        assert found.scores[at].tobytes() == alone.scores.tobytes()


@pytest.mark.parametrize("k", [1, 10, 100, 128, 129, 400])
def test_many_rows_that_are_evaluated_first(monkeypatch: pytest.MonkeyPatch, k: int) -> None:
    """Of more than a thousand scores those are ranked that may be among the best, ties with them."""
    monkeypatch.setattr(plan, "WHOLE_ARMS", 500)
    data, query = made(3000, 100)
    Whole(data, query, k).compare()
    Whole(data[:300].repeat_interleave(9, 0), query, k).compare()
    Whole(torch.ones_like(data), query, k).compare()


@pytest.mark.usefixtures("many_rows")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_short_rows_do_not_race_in_vain(name: str, metric: str) -> None:
    rng = np.random.default_rng(3)
    data, query = rng.standard_normal((3000, 1200)), rng.standard_normal(1200).astype(np.float32)
    hopeless = Ask(*in_type(data, name), query, 5, metric=metric)
    *_, work = hopeless.on_card()
    assert work["blocks"] == 0
    assert work["reason"] == SKIMMED
    hopeless.compare()
    data[:100] += 0.3 * query
    data[600:] *= 0.01
    raced = Ask(*in_type(data, name), query, 5, metric=metric)
    *_, work = raced.on_card()
    if metric in ("ip", "abs-ip"):  # what norms decide
        assert work["blocks"] > 0
        assert work["reason"] == 0
    raced.compare()


@pytest.mark.usefixtures("many_rows")
def test_small_lists() -> None:
    """The kernels of lists on little data: what the checkers of memory and races run."""
    Whole(*made(700, 100), 3).compare()
    Whole(*made(600, 1030), 3).compare()
    Whole(*made(600, 90, "float32", 3), 3).compare()


@pytest.mark.usefixtures("many_rows")
def test_ties_and_zeros() -> None:
    data, query = made(200, 300)
    Whole(data.repeat_interleave(11, 0), query, 100).compare()
    Whole(torch.zeros(2000, 100, device="cuda"), query[:, :100].contiguous(), 5).compare()
    Whole(data.repeat_interleave(9, 0), torch.zeros_like(query), 5).compare()


@pytest.mark.usefixtures("many_rows")
def test_scale_and_where_of_short_rows() -> None:
    data, query = made(4000, 120)
    values = data.cpu().numpy().astype(np.float64)
    scale = np.linspace(0.5, 2, 4000)
    where = np.arange(3, 3900, 2)
    scores = (values @ query[0].cpu().numpy().astype(np.float64))[where] * scale[where]
    right = where[np.argsort(-scores, kind="stable")[:7]]
    found = sureshot.top_k(
        data, query[0], 7, bounds=sureshot.scan(data), where=where, row_scale=scale
    )
    assert found.indices.tolist() == right.tolist()


@pytest.mark.usefixtures("many_rows")
def test_too_many_for_the_lists_of_a_batch_are_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan, "SHORTEST_LIST", 50)
    monkeypatch.setattr(plan, "LIST_ROOM", 0)
    data, queries = made(3000, 60, "float32", 3)
    data[:] = data[0].clone()
    data[2700:] *= 0.5
    found = sureshot.top_k(data, queries, 4, bounds=sureshot.scan(data))
    for at, query in enumerate(queries):
        ahead = float(data[0] @ query) > 0
        assert found.indices[at].tolist() == (np.arange(4) + (0 if ahead else 2700)).tolist()


def test_a_hopeless_query_takes_the_others_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan, "CHANCE_BYTES", 1 << 40)
    data, queries = made(3000, 20_000, "float32", 4)
    parts = torch.randn(3, 20_000, device="cuda")
    data[:1500] += torch.randn(1500, 3, device="cuda") @ parts
    queries[1] = parts[0]
    bounds = sureshot.scan(data)
    found = sureshot.top_k(data, queries, 5, bounds=bounds, rng=1)
    (search,) = matrix_of(data, device_array(data, "data")).searches.values()
    assert MULTIPLIED in search.work["reason"]
    scores = data.double() @ queries.double().T
    right: Any = torch.topk(scores, 5, dim=0).indices.T.tolist()
    assert found.indices.tolist() == right
