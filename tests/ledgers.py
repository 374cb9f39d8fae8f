"""Ledgers of arms whose rewards are given, in blocks of weight 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot.search.race import policy
from sureshot.search.race.constants import BET_CONSTANTS, prediction_rules

if TYPE_CHECKING:
    from sureshot._types import Floats


def empty_ledger(
    n_arms: int,
    blocks: int,
    *,
    limit: float = 1.0,
    square_limit: float | None = None,
    centres: float = 0.0,
) -> _native.Ledger:
    """Return a ledger of arms of which nothing has been read, with so many blocks."""
    return _native.Ledger(
        np.ones(n_arms),
        np.full(n_arms, limit),
        None if square_limit is None else np.full(n_arms, square_limit),
        centres=centres,
        magnitude=centres,
        weights=float(blocks),
        rounding=1e-11,
        floor=0.0,
        estimated=False,
        two_sided=True,
        both_signs=False,
        constants=BET_CONSTANTS,
        rules=prediction_rules(policy.DEFAULT),
    )


def ledger_of(
    rewards: Floats,
    blocks: int,
    *,
    guess: float,
    limit: float = 1.0,
    centre: float = 0.0,
    stakes: bool = True,
    squares: Floats | None = None,
    square_limit: float | None = None,
) -> _native.Ledger:
    """Return a ledger in which every arm has read its rewards, (steps, arms), of so many blocks.

    All bets were placed with the same guess of the threshold: norm bets if there is a `square_limit`.
    """
    steps, n_arms = rewards.shape
    centres = np.full(blocks, centre)
    order = _native.Order(np.ones(blocks), 0)
    order.draw(steps)
    total = float(centres.sum())
    ledger = empty_ledger(n_arms, blocks, limit=limit, square_limit=square_limit, centres=total)
    ledger.record(order, centres, 0, steps, guess, stakes=stakes)
    ledger.add(_native.Team(2), rewards, np.arange(n_arms), 0, steps, squares)
    return ledger
