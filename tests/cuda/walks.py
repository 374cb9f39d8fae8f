"""One row in many orders: what the reference's bets do to it, all trials at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sureshot.cuda import bets, rounding
from sureshot.cuda.order import Order, block_squares, order_of, raised, tickets_of
from sureshot.cuda.reference import Question, Search
from tests.cuda.populations import BLOCK, BLOCKS, ROWS, query_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from sureshot._types import Bools, Floats, Ints

    Float32s = npt.NDArray[np.float32]

TRIALS = 4000
STEPS = 64  # every order has as many: 1,024 draws of 120 blocks
CHUNK = 4
DELTAS = (0.3, 0.1, 0.05, 0.01)


@lru_cache(maxsize=1)
def orders() -> tuple[Float32s, list[Order]]:
    """Return a query and its orders, one for each trial."""
    query = query_of(np.random.default_rng(0))
    drawn = [order_of(query, BLOCK, CHUNK, seed, 1024) for seed in range(TRIALS)]
    assert min(map(len, drawn)) >= STEPS
    return query, drawn


@dataclass(frozen=True)
class Walk:
    """A row at the boundary, in all orders."""

    search: Search
    blocks: Ints  # (trials, steps)
    x: Float32s  # of each block
    squares: Float32s
    inverse_weight: Float32s  # (trials, steps)
    inverse_left: Float32s
    theta: np.float32
    limit: np.float32

    def won(self, level: float, theta: Float32s | None = None) -> Bools:
        """Return in which trials the wealth reaches a level, or a drop is certain.

        `theta` has one threshold for each round, if it changes.
        """
        trials = len(self.blocks)
        sums, wealth = bets.Sums.of(trials), np.ones((1, trials), dtype=np.float32)
        won = np.zeros(trials, dtype=bool)
        for begin in range(0, STEPS, rounding.ROUND):
            end = begin + rounding.ROUND
            known = bets.Steps.of(self.search.order, begin, end)
            steps = bets.Steps(
                known.count,
                known.inverse_count,
                known.inverse_rest,
                self.inverse_weight[:, begin:end],
                self.inverse_left[:, begin:end],
            )
            now = self.blocks[:, begin:end]
            tested = self.theta if theta is None else theta[begin // rounding.ROUND]
            with np.errstate(all="ignore"):
                played = bets.play(
                    self.x[now],
                    self.squares[now],
                    sums,
                    wealth,
                    steps,
                    np.full(trials, tested),
                    np.full(trials, self.limit),
                    np.float32(level),
                )
            sums, wealth = played.sums, played.wealth
            won |= played.won[0]
        return won


def walk(row: Float32s, loose: float = 1.0) -> Walk:
    """Return the walk of a row whose norm is known up to a factor."""
    query, drawn = orders()
    searched = boundary(row, query, drawn[0], loose)
    (arm,) = searched.arms
    every = Order(
        blocks=np.arange(BLOCKS),
        inverse_weight=drawn[0].inverse_weight,
        left=drawn[0].left,
        inverse_left=drawn[0].inverse_left,
        scale=drawn[0].scale,
        complete=True,
    )
    searched.order = every
    x, squares = searched.block_sums(searched.arms, 0, BLOCKS)
    theta, limit = searched.thresholds(searched.arms), searched.widened_squares(searched.arms)
    searched.order = drawn[0]
    return Walk(
        searched,
        np.array([order.blocks[:STEPS] for order in drawn]),
        x[arm],
        squares[arm],
        np.array([order.inverse_weight[:STEPS] for order in drawn]),
        np.array([order.inverse_left[:STEPS] for order in drawn]),
        theta[arm],
        limit[arm],
    )


def boundary(row: Float32s, query: Float32s, order: Order, loose: float = 1.0) -> Search:
    """Return a search of one row whose threshold is the row's own score."""
    square = float((row.astype(np.float64) ** 2).sum())
    question = Question(row[None], query, 1, np.array([square]) * loose**2, seed=0)
    searched = Search(question)
    searched.evaluate(searched.arms)
    searched.order = order
    searched.scaled_query = (query * np.float64(order.scale)).astype(np.float32)
    return searched


def population(name: str, loose: float = 1.0) -> Walk:
    """Return the walk of a hostile row."""
    rng = np.random.default_rng([1, len(name)])
    return walk(ROWS[name](rng, orders()[0]), loose)


@dataclass(frozen=True)
class Betting:
    """The bets of some steps: for each block that may be drawn, the factor as computed, and without its rounding."""

    mean: float  # of the factors without rounding, each block with its share of the tickets
    factor: Floats
    unrounded: Floats
    certain: bool
    placed: bool


def bets_on(searched: Search, order: Order, steps: Ints) -> list[Betting]:
    """Return the bets of some steps of an order, for all blocks that are not drawn yet."""
    query = np.asarray(searched.query, dtype=np.float32)
    counts, _ = tickets_of(raised(block_squares(query, BLOCK, CHUNK)))
    searched.order = Order(
        np.arange(len(counts)),
        order.inverse_weight,
        order.left,
        order.inverse_left,
        order.scale,
        True,
    )
    x, squares = (part[0] for part in searched.block_sums(searched.arms, 0, len(counts)))
    inverse = np.zeros(len(counts), dtype=np.float32)
    # What a block's inverse weight is does not depend on the order.
    unit = float(order.left[0]) / float(counts.sum())
    some = counts > 0
    inverse[some] = (1.0 / (counts[some] * unit)).astype(np.float32)
    inverse[order.blocks] = order.inverse_weight
    searched.order = order
    theta, limit = searched.thresholds(searched.arms), searched.widened_squares(searched.arms)
    found = []
    for step in steps.tolist():
        past = _past(x[order.blocks], squares[order.blocks], order, step)
        rest = np.setdiff1d(np.flatnonzero(some), order.blocks[:step])
        y = (x[rest] * inverse[rest])[:, None]
        u = np.fmax((squares[rest] * inverse[rest])[:, None], y * y)
        with np.errstate(all="ignore"):
            bet = bets.factors(y, u, past, bets.Steps.after(order, step), theta, limit)
        size = bet.size.astype(np.float64)
        gap = bet.needed.astype(np.float64) - bet.payoff
        unrounded = (1 + np.where(size > 0, size * gap, 0.0))[:, 0]
        share = counts[rest].astype(np.float64) / float(counts[rest].sum())
        found.append(
            Betting(
                mean=math.fsum(share * unrounded),
                factor=bet.factor[:, 0].astype(np.float64),
                unrounded=unrounded,
                certain=bool(bet.certain.any()),
                placed=bool((size > 0).any()),
            )
        )
    return found


def _past(x: Float32s, squares: Float32s, order: Order, step: int) -> bets.Sums:
    """Return the sums before a step, as rounds of 16 steps make them."""
    y = x * order.inverse_weight
    parts = (x, y, y * y, squares, np.fmax(squares * order.inverse_weight, y * y))
    found = []
    for part in parts:
        base = np.zeros(1, dtype=np.float32)
        for begin in range(0, step + 1, rounding.ROUND):
            now = bets.filled(part[None, begin : begin + rounding.ROUND], 0)
            scan = bets.scanned(now)
            if step < begin + rounding.ROUND:
                found.append(bets.before(scan, base)[:, step - begin : step - begin + 1])
            base = base + scan[:, -1]
    return bets.Sums(*found)
