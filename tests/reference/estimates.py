"""Estimates of the scores from what was read, in plain numpy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._native import Order
    from sureshot._types import Floats, Ints
    from tests.reference.tables import Table


def estimates_of(table: Table, order: Order, positions: Ints, steps: Ints) -> tuple[Floats, Floats]:
    """Return estimates of the scores of some arms, and their standard errors.

    `steps` is how many blocks of the order each of them has read, at least one.
    """
    problem = table.problem
    centre, base = problem.intervals.centre, problem.intervals.centre.sum()
    raw, errors = np.empty(len(positions)), np.empty(len(positions))
    for front in np.unique(steps):
        some = np.flatnonzero(steps == front)
        blocks = order.blocks[:front]
        drawn = table.sums[np.ix_(blocks, positions[some])] - centre[blocks, None]
        y = drawn / -np.diff(order.left[: front + 1])[:, None]
        left = order.left[front]
        raw[some] = base + drawn.sum(axis=0) + y.mean(axis=0) * left
        errors[some] = left * y.std(axis=0) / np.sqrt(front)
    scale = problem.scale[positions]
    return problem.as_scores(scale * raw), scale * errors
