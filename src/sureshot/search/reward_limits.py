"""Stops a search that meets rewards outside the limits its guarantee rests on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from sureshot.errors import BoundsError
from sureshot.sources.base import QuerySource

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem
    from sureshot.sources.base import Totals


def checked_totals(problem: Problem, positions: Ints, blocks: Ints, limit: Floats) -> Totals:
    """Return the totals of some arms over some blocks, each block sum within centre ± limit w.

    `limit` has one entry per arm.
    """
    intervals = problem.intervals
    found = problem.source.totals(
        problem.arms[positions],
        blocks,
        intervals.centre[blocks],
        intervals.weight[blocks],
    )
    refuse_outside(problem, positions, blocks, found, limit)
    return found


def refuse_outside(
    problem: Problem, positions: Ints, blocks: Ints, found: Totals, limit: Floats
) -> None:
    """Raise the error for the first of some arms with a block sum outside centre ± limit w."""
    outside = found.largest > limit
    if outside.any():
        at = int(np.argmax(outside))
        refuse_rewards(problem, int(positions[at]), blocks, float(limit[at]))


def refuse_longer(problem: Problem, positions: Ints) -> None:
    """Raise the error for the first of some arms that is longer than its norm, in one more pass over them."""
    limit, source = problem.intervals.square_limit, problem.source
    if limit is None or len(positions) == 0:
        return
    assert isinstance(source, QuerySource), "rows have norms where there is data"
    arms = problem.arms[positions]
    _, norms = source.exact_scores_and_norms(source.query[None], arms, problem.team)
    longer = norms > np.sqrt(limit[positions])
    if longer.any():
        everything = np.arange(source.blocks.count)
        refuse_arm(problem, int(positions[np.argmax(longer)]), everything, 0)


def refuse_arm(problem: Problem, position: int, blocks: Ints, start: int) -> NoReturn:
    """Raise the error for an arm that breaks its limits in the blocks that it has read, from `start` on."""
    intervals, fresh = problem.intervals, blocks[start:]
    if intervals.square_limit is None:
        refuse_rewards(problem, position, fresh, float(intervals.limit[position]))
    arm, source = problem.arms[position : position + 1], problem.source
    assert isinstance(source, QuerySource), "rows have norms where there is data"
    _, squares = source.sums_and_squares(arm, blocks)
    norm, limit = math.sqrt(squares.sum()), math.sqrt(intervals.square_limit[position])
    message = (
        f"data row {arm[0]} has a norm of at least {norm:.9g}, more than the {limit:.9g} which "
        f"the bounds promise, seen in the blocks {fresh[0]} to {fresh[-1]} of the search: "
        "pass larger norms, or bounds='scan'"
    )
    raise BoundsError(message)


def refuse_rewards(problem: Problem, position: int, blocks: Ints, limit: float) -> NoReturn:
    """Raise the error that names the arm and the first of the blocks outside its interval."""
    source, intervals = problem.source, problem.intervals
    arm = problem.arms[position : position + 1]
    centre, weight = intervals.centre[blocks], intervals.weight[blocks] * limit
    sums = source.block_sums(arm, blocks)[:, 0]
    first = int(np.argmax(np.abs(sums - centre) / weight))
    start, stop = source.blocks.span(int(blocks[first]))
    where = f"coordinate {start}" if stop == start + 1 else f"coordinates {start} to {stop - 1}"
    low, high = centre[first] - weight[first], centre[first] + weight[first]
    message = (
        f"data row {arm[0]} has reward {sums[first]:.6g} in block {blocks[first]} ({where}), "
        f"outside [{low:.6g}, {high:.6g}] which the bounds promise: pass wider bounds, or "
        "bounds='scan'"
    )
    raise BoundsError(message)
