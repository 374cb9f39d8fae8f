"""The order of a device: Philox, tickets and the law of the first blocks."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.cuda import order, rounding
from tests.guarantee import assert_at_most

if TYPE_CHECKING:
    import numpy.typing as npt

    from sureshot._types import Floats

# Counters, keys and words of the authors of Philox (kat_vectors of Random123).
KNOWN = [
    ("00000000 00000000 00000000 00000000", 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        0x299F31D0A4093822,
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_philox_is_that_of_its_authors(counter: str, key: int, words: str) -> None:
    numbers = np.array([int(word, 16) for word in counter.split()], dtype=np.uint64)
    assert [f"{word:08x}" for word in order.philox(numbers, key).tolist()] == words.split()


def test_a_ticket_is_the_high_half_of_the_product() -> None:
    total = 3 * 2**60 + 12345
    counters = np.zeros((500, 4), dtype=np.uint64)
    counters[:, 0] = np.arange(500)
    words = order.philox(counters, 99)
    products = [((int(w[0]) << 32) + int(w[1])) * total for w in words]
    refused = np.array([p % 2**64 < 2**64 % total for p in products])
    tickets = order.drawn_tickets(total, 99, 500)
    kept = [p >> 64 for p, again in zip(products, refused, strict=True) if not again]
    assert 0 < refused.sum() < 100
    assert tickets[~refused].tolist() == kept
    assert tickets.max() < total


def assert_uniform(tickets: npt.NDArray[np.uint64]) -> None:
    """Fail if a third of the tickets comes too often or too rarely."""
    for rest in range(3):
        count = int(np.count_nonzero(tickets % np.uint64(3) == rest))
        assert_at_most(count, len(tickets), 1 / 3)
        assert_at_most(len(tickets) - count, len(tickets), 2 / 3)


def test_tickets_are_uniform() -> None:
    """With 3 * 2**61 tickets every eighth word is refused; without that a third of them comes less often."""
    total, draws = 3 * 2**61, 20_000
    assert_uniform(order.drawn_tickets(total, 5, draws))
    counters = np.zeros((draws, 4), dtype=np.uint64)
    counters[:, 0] = np.arange(draws)
    words = order.philox(counters, 5)
    planted = [((int(w[0]) << 32) + int(w[1])) * total >> 64 for w in words]
    with pytest.raises(AssertionError, match="promised"):
        assert_uniform(np.array(planted, dtype=np.uint64))


def query_of_weights(weights: list[float], block: int = 16) -> Floats:
    query = np.zeros((len(weights), block))
    query[:, 3] = np.sqrt(weights)
    return query.reshape(-1)


def test_the_law_of_the_order_is_exact() -> None:
    """All orders of four blocks of unequal weight, against successive sampling."""
    weights = [1.0, 2.0, 5.0, 0.5]
    query, trials = query_of_weights(weights), 6000
    drawn = [order.order_of(query, 16, 4, seed, 512) for seed in range(trials)]
    counts, _ = order.tickets_of(order.raised(order.block_squares(query, 16, 4)))
    share = counts.astype(float) / float(counts.sum())
    seen = [tuple(one.blocks.tolist()) for one in drawn]
    for path in permutations(range(4)):
        probability, left = 1.0, 1.0
        for block in path:
            probability *= share[block] / left
            left -= share[block]
        count = seen.count(path)
        assert_at_most(count, trials, probability, str(path))
        assert_at_most(trials - count, trials, 1 - probability, str(path))
    assert all(one.complete for one in drawn)


def test_waiting_tells_nothing_about_the_next_block() -> None:
    """Lemma 23: the second block has the same law however many repeats came before it."""
    query, trials = query_of_weights([6.0, 1.0, 2.0]), 6000
    counts, _ = order.tickets_of(order.raised(order.block_squares(query, 16, 4)))
    ends = np.cumsum(counts)
    late = []
    for seed in range(trials):
        drawn = np.searchsorted(ends, order.drawn_tickets(int(ends[-1]), seed, 8), side="right")
        new = np.flatnonzero(drawn != drawn[0])
        if drawn[0] == 0 and len(new) and new[0] >= 3:
            late.append(int(drawn[new[0]]))
    share = float(counts[1]) / float(counts[1] + counts[2])
    assert len(late) > 800
    assert_at_most(late.count(1), len(late), share)
    assert_at_most(late.count(2), len(late), 1 - share)


@pytest.mark.parametrize("scale", [1.0, 3e-5, 1e12, 1e-140])
def test_weights_are_rounded_up_and_scaled(scale: float) -> None:
    rng = np.random.default_rng(1)
    query = rng.standard_normal(1000) * scale
    query[160:176] = 0
    query[176:192] *= 1e-9
    one = order.order_of(query, 16, 4, 3, 1024)
    scaled = (query * one.scale).astype(np.float32).astype(np.float64)
    squares = np.add.reduceat(scaled**2, np.arange(0, 1000, 16))
    weight = 1 / one.inverse_weight.astype(np.float64)
    assert (weight * (1 + 2 * rounding.U) >= squares[one.blocks]).all()
    assert 0.5 <= weight.max() < 2.1
    assert 10 not in one.blocks
    assert one.complete == (len(one) == 62)
    # What is left falls by the weights, and is that of all blocks in the beginning.
    left = one.left.astype(np.float64)
    np.testing.assert_allclose(left[:-1] - left[1:], weight, rtol=1e-3, atol=left[0] * 1e-6)


def test_an_order_depends_on_seed_and_query_alone() -> None:
    query = np.random.default_rng(2).standard_normal(5000)
    first, again = (order.order_of(query, 16, 4, 7, 1024) for _ in range(2))
    assert first.blocks.tolist() == again.blocks.tolist()
    assert first.blocks.tolist() != order.order_of(query, 16, 4, 8, 1024).blocks.tolist()
    # Multiplied by a power of two, the query has the same order and the same bits.
    larger = order.order_of(query * 2.0**40, 16, 4, 7, 1024)
    assert larger.blocks.tolist() == first.blocks.tolist()
    assert larger.inverse_weight.tobytes() == first.inverse_weight.tobytes()
    assert larger.scale == first.scale * 2.0**-40
