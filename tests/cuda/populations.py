"""Hostile rows for searches on a device: each is at the boundary, its score is the threshold.

`ROWS` are rows of float32 for one query, as a device reads them. `tied_rows` makes a data set in which the best
rows are hard to keep, `low_rank` an easy one: the tests of the reference and those on a card search the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

BLOCK = 16
BLOCKS = 120


def query_of(rng: np.random.Generator, n_blocks: int = BLOCKS) -> Rows:
    """Return a query whose blocks have unequal weights."""
    sizes = np.exp(0.5 * rng.standard_normal((n_blocks, 1)))
    values = rng.standard_normal((n_blocks, BLOCK)) * sizes
    return values.astype(np.float32).reshape(-1)


def _blocks(query: Rows) -> Rows:
    return query.reshape(-1, BLOCK)


def _signed(rng: np.random.Generator, query: Rows, share: float = 0.5) -> Rows:
    signs = np.where(rng.random((len(query) // BLOCK, 1)) < share, 1, -1)
    return (_blocks(query) * signs).astype(np.float32).reshape(-1)


def _rare(rng: np.random.Generator, query: Rows) -> Rows:
    """Lose a little nearly everywhere, and win it back in a few blocks."""
    blocks = _blocks(query).astype(np.float64)
    factors = np.full((len(blocks), 1), -0.1)
    factors[rng.choice(len(blocks), 4, replace=False)] = 3.0
    row: Rows = (blocks * factors).astype(np.float32)
    return row.reshape(-1)


def _one_block(rng: np.random.Generator, query: Rows) -> Rows:
    row = rng.standard_normal(len(query)) * 1e-3
    row[:BLOCK] = query[:BLOCK]
    return row.astype(np.float32)


def _light_block(rng: np.random.Generator, query: Rows) -> Rows:
    """Hold most of the norm where the query has hardly any weight."""
    row = query.astype(np.float64) * 0.1
    weights = (_blocks(query) ** 2).sum(axis=1)
    least = int(weights.argmin())
    row[least * BLOCK : (least + 1) * BLOCK] *= 100
    row += 1e-3 * rng.standard_normal(len(row))
    return row.astype(np.float32)


ROWS: dict[str, Callable[[np.random.Generator, Rows], Rows]] = {
    "dense": lambda rng, query: rng.standard_normal(len(query)).astype(np.float32),
    "fair coin": _signed,
    "uneven coin": lambda rng, query: _signed(rng, query, 0.7),
    "rare wins": _rare,
    "one block holds all": _one_block,
    "light block holds most": _light_block,
    "heavy tails": lambda rng, query: rng.standard_t(1.5, len(query)).astype(np.float32),
    "along the query": lambda rng, query: (
        (_blocks(query) * rng.uniform(0.8, 1.2, (len(query) // BLOCK, 1)))
        .astype(np.float32)
        .reshape(-1)
    ),
    "the query itself": lambda _, query: query.copy(),
    "a third of the query": lambda _, query: (query / np.float32(3)).astype(np.float32),
    "tiny values": lambda rng, query: (1e-9 * rng.standard_normal(len(query))).astype(np.float32),
    "large values": lambda rng, query: (1e7 * rng.standard_normal(len(query))).astype(np.float32),
}


def tied_rows(
    rng: np.random.Generator, n_rows: int, k: int, others: int = 0, n_blocks: int = BLOCKS
) -> tuple[Rows, Rows]:
    """Return rows and a query such that the k best are coins with nearly the same score as 2 k long rivals.

    The rivals have the largest norms, so they are evaluated first, and every threshold is just below the scores
    of the k best: each of these may be dropped by mistake. `others` is how many more coins have the rivals' score:
    among many of them the best cannot be found by their estimates.
    """
    query = query_of(rng, n_blocks)
    weight = float(query.astype(np.float64) @ query)
    rows = rng.standard_normal((n_rows, len(query))) * 0.3
    rows -= np.outer(rows @ query / weight, query)  # scores of about 0
    best = rng.permutation(n_rows)[: 3 * k + others]
    for place, row in enumerate(best):
        coin = _signed(rng, query).astype(np.float64)
        share = 0.2 - 1e-4 * (place >= k)
        coin += (share - coin @ query / weight) * query
        if k <= place < 3 * k:  # rivals: longer by what is at right angles to the query
            coin += 8 * rows[row]
        rows[row] = coin
    return rows.astype(np.float32), query


def copies(rng: np.random.Generator, name: str, n_blocks: int = 1000) -> tuple[Rows, Rows]:
    """Return copies of a hostile row with nearly the same score among many short rows, and a query.

    The better ones are the shorter ones, so that they are not evaluated first. They are so few that a search races
    on, and so many that their scores are the threshold for each other.
    """
    query = query_of(rng, n_blocks)
    row = ROWS[name](rng, query).astype(np.float64)
    row *= np.sign(row @ query)
    rows = rng.standard_normal((3200, len(row))) * (0.03 * np.sqrt(np.mean(row**2)))
    rows -= np.outer(rows @ query / (query.astype(np.float64) @ query), query)
    rank = np.linspace(1, 0, 400)[:, None]
    rows[::8] = row * (1 - 1e-6 * rank) + rank * rows[::8]
    return rng.permutation(rows.astype(np.float32)), query


def low_rank(
    rng: np.random.Generator, n_rows: int, n_columns: int, *, unit: bool = False
) -> tuple[Rows, Rows]:
    """Return rows of rank 8 with noise and log-normal norms, or norms of 1, and a query like them."""
    factors = rng.standard_normal((8, n_columns)) / np.sqrt(8)
    rows = rng.standard_normal((n_rows, 8)) @ factors
    rows += 0.3 * rng.standard_normal(rows.shape)
    if unit:
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    else:
        rows *= np.exp(0.6 * rng.standard_normal((n_rows, 1)))
    query = rng.standard_normal(8) @ factors + 0.3 * rng.standard_normal(n_columns)
    return rows.astype(np.float32), query.astype(np.float32)
