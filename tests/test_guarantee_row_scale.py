"""Known factors of rows: the theorem about them, tested, and an error planted.

Scaled scores lie close together while the inner products are far apart, and the best rows owe theirs to
a few blocks, so that they seem worse than they are until one of these is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from measurements.trust.racing import racing_to_the_end
from sureshot import Bounds, _native
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sureshot import TopK
    from sureshot._types import Floats

TRIALS, DELTA, K = 250, 0.3, 3
N_ARMS, WIDTH = 40, 768


@pytest.fixture(autouse=True)
def race_to_the_end() -> Iterator[None]:
    with racing_to_the_end():
        yield


def population(seed: int) -> tuple[Floats, Floats, Floats]:
    """Return rows, a query and the factors of the rows, from e^-2 to e^2."""
    rng = np.random.default_rng([21, seed])
    factors = np.exp(rng.uniform(-2, 2, N_ARMS))
    scores = np.append(rng.uniform(-40, 35, N_ARMS - 4), [50.0, 51.0, 52.0, 60.0])
    query = rng.choice([-1.0, 1.0], WIDTH) * rng.uniform(0.5, 1.5, WIDTH)
    rows = 0.05 * rng.standard_normal((N_ARMS, WIDTH))
    rows -= np.outer(rows @ query / (query @ query), query)
    for row, score in zip(rows, scores, strict=True):
        share = 0.06 if score >= 50 else 1.0
        where = np.repeat(rng.random(WIDTH // 8) < share, 8)
        where[:8] = True
        row[where] += score * query[where] / (query[where] @ query[where])
    mixed = rng.permutation(N_ARMS)
    return (rows / factors[:, None])[mixed], query, factors[mixed]


def bounds_of(kind: str, data: Floats) -> Any:
    if kind == "limits":
        return float(data.min()), float(data.max())
    norms = np.linalg.norm(data, axis=1)
    kinds = {"norms": Bounds(norms=norms), "scan": sureshot.scan(data), "none": None}
    return kinds[kind]


def search(seed: int, kind: str, metric: str, epsilon: float) -> tuple[TopK, float]:
    """Return the answer, and by how much its last score falls short of the true one."""
    data, query, factors = population(seed)
    found = sureshot.top_k(
        data,
        query,
        K,
        metric=metric,
        row_scale=factors,
        bounds=bounds_of(kind, data),
        epsilon=epsilon,
        delta=DELTA,
        block=8,
        rng=seed,
    )
    truth = factors * (data @ query)
    scores = np.sort(np.abs(truth) if metric == "abs-ip" else truth)
    return found, float(scores[-K] - found.scores[-1])


@pytest.mark.parametrize("epsilon", [0.0, 4.0])
@pytest.mark.parametrize("metric", ["ip", "abs-ip"])
@pytest.mark.parametrize("kind", ["limits", "norms", "scan", "none"])
def test_how_often_a_search_with_factors_is_wrong(kind: str, metric: str, epsilon: float) -> None:
    wrong = certain = 0
    for seed in range(TRIALS):
        found, loss = search(seed, kind, metric, epsilon)
        wrong += loss > epsilon + 1e-9
        certain += found.certificate.exact
    assert_at_most(wrong, TRIALS, DELTA)
    assert certain < TRIALS / 2  # they were races


def test_planted_a_threshold_that_forgets_the_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = _native.Ledger

    def forgetful(scale: Floats, *others: Any, **more: Any) -> Any:
        return honest(np.ones_like(scale), *others, **more)

    monkeypatch.setattr(_native, "Ledger", forgetful)
    wrong = sum(search(seed, "norms", "ip", 0.0)[1] > 1e-9 for seed in range(TRIALS))
    with pytest.raises(AssertionError, match=r"promised 0\.3"):
        assert_at_most(wrong, TRIALS, DELTA)


@pytest.mark.parametrize("epsilon", [0.0, 0.02])
@pytest.mark.parametrize("kind", ["given", "scan", "limits and norms"])
def test_how_often_a_search_by_cosine_is_wrong(kind: str, epsilon: float) -> None:
    wrong = certain = 0
    for seed in range(TRIALS):
        data, query, _ = population(seed)
        norms = np.linalg.norm(data, axis=1)
        low, high = float(data.min()), float(data.max())
        bounds = {
            "given": Bounds(norms=norms, norms_exact=True),
            "scan": sureshot.scan(data),
            "limits and norms": Bounds(low, high, norms, norms_exact=True),
        }[kind]
        found = sureshot.top_k(
            data,
            query,
            K,
            metric="cosine",
            bounds=bounds,
            epsilon=epsilon,
            delta=DELTA,
            block=8,
            rng=seed,
        )
        truth = np.sort(data @ query / norms / np.linalg.norm(query))[-K]
        wrong += found.scores[-1] < truth - epsilon - 1e-9
        certain += found.certificate.exact
    assert_at_most(wrong, TRIALS, DELTA)
    assert certain < TRIALS / 2
