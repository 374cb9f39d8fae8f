"""What a search on a device promises, and what is kept between calls: with the reference as the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sureshot
from tests.cuda.fake_driver import FakeDriver, on_card
from tests.cuda.populations import low_rank


def matrix(unit: bool = False) -> tuple[Any, Any]:
    return low_rank(np.random.default_rng(2), 500, 4000, unit=unit)


def launches(card: FakeDriver, name: str) -> int:
    return card.launched.count(name)


def test_without_bounds_one_pass_finds_norms_and_answer(card: FakeDriver) -> None:
    """Changes of such an array are not seen, so nothing of it is kept: each call is a pass, and exact."""
    rows, query = matrix()
    on_device = on_card(rows)
    for calls in (1, 2):
        found = sureshot.top_k(on_device, query, 5)
        assert launches(card, "measure") == calls
        assert launches(card, "first") == 0
        assert found.certificate.exact
        assert found.certificate.unconditional
        assert found.certificate.delta == 0
        assert found.certificate.assumption == "no assumption is needed"
        assert found.work.numbers_read == rows.size


def test_limits_are_checked_in_that_pass(card: FakeDriver) -> None:
    rows, query = matrix()
    found = sureshot.top_k(on_card(rows), query, 5, bounds=(-100.0, 100.0))
    assert launches(card, "measure") == 1
    assert found.certificate.exact


def test_bounds_of_a_scan(card: FakeDriver) -> None:
    rows, query = matrix()
    on_device = on_card(rows)
    bounds = sureshot.scan(on_device)
    for seed in range(3):
        found = sureshot.top_k(on_device, query, 5, bounds=bounds, delta=0.01, rng=seed)
        assert found.algorithm == "race"
        certificate = found.certificate
        assert (certificate.epsilon, certificate.delta) == (0.0, 0.01)
        assert not certificate.exact
        assert certificate.unconditional
        assert certificate.every_position
        assert certificate.scores == "exact"
        assert "the data is what was scanned" in certificate.assumption
        assert 0 < found.work.share < 1
    assert launches(card, "measure") == 1
    # They are the bounds of a scan on the host, too.
    same = sureshot.top_k(rows, query, 5, bounds=bounds)
    assert same.indices.tolist() == found.indices.tolist()


def test_declared_norms_are_the_assumption(card: FakeDriver) -> None:
    rows, query = matrix(unit=True)
    shorter = on_card(rows * np.float32(0.999))
    found = sureshot.top_k(shorter, query, 5, bounds="unit")
    assert found.algorithm == "race"
    assert "norm" in found.certificate.assumption
    norms = np.linalg.norm(rows.astype(np.float64), axis=1)
    found = sureshot.top_k(on_card(rows), query, 5, bounds=sureshot.Bounds(norms=1.01 * norms))
    assert found.algorithm == "race"
    assert "the data lies within the given bounds" in found.certificate.assumption
    assert launches(card, "measure") == 0


def test_asked_for_exactly(card: FakeDriver) -> None:
    rows, query = matrix()
    on_device = on_card(rows)
    found = sureshot.top_k(on_device, query, 5, bounds=sureshot.scan(on_device), method="exact")
    assert card is not None
    assert found.certificate.exact
    assert found.algorithm == "exact"


def test_epsilon_is_in_the_units_of_the_scores(card: FakeDriver) -> None:
    assert card is not None
    rows, query = matrix()
    on_device = on_card(rows)
    bounds = sureshot.scan(on_device)
    for metric, epsilon in (("ip", 50.0), ("cosine", 0.05), ("sqeuclidean", 200.0)):
        found = sureshot.top_k(on_device, query, 5, metric=metric, bounds=bounds, epsilon=epsilon)
        right = sureshot.top_k(rows, query, 5, metric=metric, method="exact")
        assert found.certificate.epsilon == epsilon
        loss = np.abs(found.scores - right.scores)
        assert (loss <= epsilon).all()


@pytest.mark.parametrize("count", [1, 3, 20])
def test_queries_of_a_batch_get_the_answers_they_get_alone(card: FakeDriver, count: int) -> None:
    assert card is not None
    rows, _ = matrix()
    queries = np.array([matrix()[1] * (j + 1) + rows[j] for j in range(count)])
    on_device = on_card(rows)
    bounds = sureshot.scan(on_device)
    together = sureshot.top_k(on_device, on_card(queries), 5, bounds=bounds, rng=3)
    for j, query in enumerate(queries):
        alone = sureshot.top_k(on_device, query, 5, bounds=bounds, rng=3)
        assert together.indices[j].tolist() == alone.indices.tolist()
        assert together.scores[j].tobytes() == alone.scores.tobytes()


def test_a_generator_draws_another_order_each_time(card: FakeDriver) -> None:
    assert card is not None
    rows, query = matrix()
    on_device = on_card(rows)
    bounds = sureshot.scan(on_device)
    rng = np.random.default_rng(0)
    read = {
        sureshot.top_k(on_device, query, 5, bounds=bounds, rng=rng).work.numbers_read
        for _ in range(4)
    }
    assert len(read) > 1
    same = {
        sureshot.top_k(on_device, query, 5, bounds=bounds, rng=7).work.numbers_read
        for _ in range(3)
    }
    assert len(same) == 1
