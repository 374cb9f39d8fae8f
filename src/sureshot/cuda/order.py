"""The random order of the blocks of a query, by whole tickets: its law is exact."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot.cuda import rounding
from sureshot.cuda.plan import LANES, THREADS, WARPS

if TYPE_CHECKING:
    import numpy.typing as npt

    from sureshot._types import Array, Floats, Ints
    from sureshot.cuda.bets import Float32s

    Words = npt.NDArray[np.uint64]

# The heaviest block has at most this many bits of tickets: 2**20 blocks have fewer than 2**61 tickets.
TICKET_BITS = 40

# Philox4x32-10: multipliers and the steps of the keys.
_MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
_KEYS = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


@dataclass(frozen=True, slots=True)
class Order:
    """Blocks in the order in which they are drawn, with what a bet needs of each step.

    Query and weights are scaled by a power of two: `scale` times the query, its square times the weights. The
    arrays `left` and `inverse_left` have one entry more than there are steps: what is left after the last.
    """

    blocks: Ints
    inverse_weight: Float32s
    left: Float32s
    inverse_left: Float32s
    scale: float
    complete: bool  # every block with a weight was drawn

    def __len__(self) -> int:
        return len(self.blocks)


def block_squares(query: Array, block: int, chunk: int) -> Floats:
    """Return |q_b|**2 of each block in float64.

    A chunk adds its squares in the order of columns, and the chunks are added in pairs, the upper half to the
    lower: (c0 + c2) + (c1 + c3). Columns beyond the last are zero.
    """
    n_blocks = -(-len(query) // block)
    padded = np.zeros(n_blocks * block)
    padded[: len(query)] = query
    squares = (padded * padded).reshape(n_blocks, block // chunk, chunk)
    sums: Floats = folded(in_sequence(squares))
    return sums


def square_of(squares: Floats) -> float:
    """Return |q|**2 from those of the blocks.

    Each thread adds its blocks one after the other, an odd number of them, the lanes of a warp are folded, and the
    warps are added one after the other.
    """
    each = -(-len(squares) // THREADS) | 1
    filled = np.zeros(THREADS * each)
    filled[: len(squares)] = squares
    threads = in_sequence(filled.reshape(WARPS, LANES, each))
    return float(in_sequence(folded(threads)))


def raised(squares: Floats) -> Floats:
    """Return the weights of blocks: their squares and what the rounding of the query may add."""
    return squares * (1 + rounding.WEIGHT_SHARE)


def in_sequence(terms: Array) -> Array:
    """Return the sums over the last axis, one term after the other."""
    total = terms[..., 0]
    for j in range(1, terms.shape[-1]):
        total = total + terms[..., j]
    return total


def folded(terms: Array) -> Array:
    """Return the sums over the last axis, the upper half added to the lower until one is left."""
    while terms.shape[-1] > 1:
        half = terms.shape[-1] // 2
        terms = terms[..., :half] + terms[..., half:]
    return terms[..., 0]


def tickets_of(weight: Floats) -> tuple[Words, int]:
    """Return the tickets of each block and the exponent of what one of them weighs.

    Weights are rounded up: ``floor(w / unit) + 1``, none for a weight of 0.
    """
    _, exponent = math.frexp(float(weight.max()))
    unit = exponent - TICKET_BITS
    counts = np.floor(np.ldexp(weight, -unit)).astype(np.uint64) + np.uint64(1)
    return np.where(weight > 0, counts, np.uint64(0)), unit


def philox(counters: Words, key: int) -> Words:
    """Return the four words of each counter, (..., 4), as Philox4x32-10 makes them with a key of 64 bits."""
    c = [counters[..., j].astype(np.uint64) & _LOW for j in range(4)]
    k = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(_ROUNDS):
        products = [c[2 * j] * np.uint64(_MULTIPLIERS[j]) for j in range(2)]
        high, low = [p >> _HALF for p in products], [p & _LOW for p in products]
        c = [high[1] ^ c[1] ^ np.uint64(k[0]), low[1], high[0] ^ c[3] ^ np.uint64(k[1]), low[0]]
        k = [(k[j] + _KEYS[j]) & 0xFFFFFFFF for j in range(2)]
    return np.stack(c, axis=-1)


def drawn_tickets(total: int, seed: int, draws: int) -> Words:
    """Return uniform tickets below `total`: Lemire's multiplication, with rejection, so exactly uniform.

    Draw d tries the counters (d, 0, 0, 0), (d, 1, 0, 0), ... The words x, y make r = 2**32 x + y; the ticket is
    the high half of r * total, unless the low half is below ``2**64 mod total``.
    """
    refused_below = 2**64 % total
    found = np.zeros(draws, dtype=np.uint64)
    waiting = np.arange(draws)
    attempt = 0
    while len(waiting):
        counters = np.zeros((len(waiting), 4), dtype=np.uint64)
        counters[:, 0], counters[:, 1] = waiting, attempt
        words = philox(counters, seed)
        high, low = _product(words[:, 0] << _HALF | words[:, 1], total)
        taken = low >= np.uint64(refused_below)
        found[waiting[taken]] = high[taken]
        waiting = waiting[~taken]
        attempt += 1
    return found


def _product(words: Words, total: int) -> tuple[Words, Words]:
    """Return the high and the low 64 bits of words times a number below 2**64."""
    a, b = words >> _HALF, words & _LOW
    c, d = np.uint64(total >> 32), np.uint64(total & 0xFFFFFFFF)
    low = b * d
    middle = (low >> _HALF) + (a * d & _LOW) + (b * c & _LOW)
    high = a * c + (a * d >> _HALF) + (b * c >> _HALF) + (middle >> _HALF)
    return high, (middle << _HALF) | (low & _LOW)


def order_of(query: Array, block: int, chunk: int, seed: int, draws: int) -> Order:
    """Draw the order of a query that is not zero."""
    counts, unit = tickets_of(raised(block_squares(query, block, chunk)))
    ends = np.cumsum(counts)
    total = int(ends[-1])
    drawn = np.searchsorted(ends, drawn_tickets(total, seed, draws), side="right")
    blocks = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    # The exponent of the scale: half of that of the heaviest block, rounded down.
    half = (unit + TICKET_BITS) // 2
    ticket = math.ldexp(1.0, unit - 2 * half)
    seen = np.concatenate([np.zeros(1, np.uint64), np.cumsum(counts[blocks])])
    left = (np.uint64(total) - seen).astype(np.float64) * ticket
    with np.errstate(divide="ignore"):
        inverse_left = (1.0 / left).astype(np.float32)
    inverse_left[left == 0] = 0
    return Order(
        blocks=blocks,
        inverse_weight=(1.0 / (counts[blocks].astype(np.float64) * ticket)).astype(np.float32),
        left=left.astype(np.float32),
        inverse_left=inverse_left,
        scale=math.ldexp(1.0, -half),
        complete=len(blocks) == int(np.count_nonzero(counts)),
    )
