"""Whole searches of data at the edges: zero, constant, tied, denormal, huge, in one place only.

Each case is searched in many seeded orders, and a wrong answer that the certificate does not excuse is
counted; a correct search fails one of these tests by luck once in a million.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from measurements.trust.racing import racing_to_the_end
from measurements.workloads.hostile import EDGES, UNDEFINED, positive, query_for
from tests.conftest import oracle
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sureshot._types import Array, Floats

ARMS, WIDTH, K, BLOCK = 100, 1024, 4, 8
TRIALS, DELTA = 14, 0.05


BOUNDS: dict[str, Callable[[Array], Any]] = {
    "none": lambda _: None,
    "limits": lambda data: (data.min() - 1e-9, data.max() + 1e-9),
    "limits per row": lambda data: (
        data.min(axis=1, keepdims=True),
        data.max(axis=1, keepdims=True),
    ),
    "norms": lambda data: sureshot.Bounds(norms=sureshot.scan(data).norms),
    "scan": sureshot.scan,
}


@pytest.fixture(autouse=True)
def race_to_the_end() -> Iterator[None]:
    with racing_to_the_end():
        yield


def excused(found: sureshot.TopK, data: Floats, query: Floats) -> bool:
    """Return whether some normalised block sum exceeds the limit that the certificate names."""
    if found.certificate.unconditional:
        return False
    limit = found.certificate.limit
    assert limit  # any reward at all exceeds 0: no excuse
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.add.reduceat(data * query, np.arange(0, WIDTH, BLOCK), axis=1)
        y = sums / np.add.reduceat(np.abs(query), np.arange(0, WIDTH, BLOCK))
    return bool(np.nanmax(np.abs(y)) > limit)


def assert_the_promise(
    data: Floats, query: Floats, metric: str, kinds: Iterable[str], epsilon: float = 0.0
) -> None:
    """Fail if, for some bounds, too many k-th scores are worse than epsilon allows, without an excuse."""
    truth, allowance = oracle(data, query, metric)
    sign = -1.0 if metric in ("sqeuclidean", "l1") else 1.0
    kth = np.sort(sign * truth)[-K]
    for kind, stored in itertools.product(kinds, (data, np.asfortranarray(data))):
        bounds, wrong = BOUNDS[kind](data), 0
        for seed in range(TRIALS):
            found = sureshot.top_k(
                stored,
                query,
                K,
                metric=metric,
                bounds=bounds,
                epsilon=epsilon,
                delta=DELTA,
                block=BLOCK,
                rng=seed,
            )
            last = found.indices[-1]
            loss = kth - sign * truth[last] - (allowance.max() + allowance[last])
            wrong += bool(loss > epsilon) and not excused(found, data, query)
        assert_at_most(wrong, TRIALS, DELTA, f"{kind}, {'C' if stored is data else 'F'}")


CASES = [
    (name, metric)
    for name in EDGES
    for metric in ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")
    if (name, metric) not in UNDEFINED
]


@pytest.mark.parametrize(("name", "metric"), CASES)
def test_the_promise_at_the_edges(name: str, metric: str) -> None:
    rng = np.random.default_rng([1, len(name)])
    data = EDGES[name](rng, (ARMS, WIDTH))
    query = query_for(name, rng, (ARMS, WIDTH))
    assert_the_promise(data, query, metric, BOUNDS)


@pytest.mark.parametrize("name", ["one stretch of 16", "first in one arm", "one value each"])
def test_the_promise_at_the_edges_with_a_loss_allowed(name: str) -> None:
    rng = np.random.default_rng([2, len(name)])
    data, query = EDGES[name](rng, (ARMS, WIDTH)), positive(rng, (WIDTH,))
    epsilon = 0.05 * float((data @ query).max())
    assert_the_promise(data, query, "ip", ("none", "limits", "scan"), epsilon)


def test_a_budget_that_ends_before_anything_is_met_promises_nothing() -> None:
    data = np.zeros((ARMS, WIDTH))
    data[:, 1000] = 1 + np.arange(ARMS)
    found = sureshot.top_k(data, np.ones(WIDTH), K, budget=0.02, block=BLOCK, rng=0)
    assert found.certificate.epsilon == np.inf
    assert found.certificate.delta == 1
    assert not found.certificate.unconditional
    assert "nothing but zeros" in str(found.certificate)
    assert found.to_dict()["certificate"]["epsilon"] is None
