"""Ledgers of arms of which nothing has been read, for the measurements of costs."""

from __future__ import annotations

import numpy as np

from sureshot import _native
from sureshot.search.race import policy
from sureshot.search.race.constants import BET_CONSTANTS, prediction_rules


def empty_ledger(
    n_arms: int, weights: float, limit: float, square_limit: float | None = None
) -> _native.Ledger:
    """Return a ledger of so many arms, all with these limits, and blocks of so much weight together."""
    return _native.Ledger(
        np.ones(n_arms),
        np.full(n_arms, limit),
        None if square_limit is None else np.full(n_arms, square_limit),
        centres=0.0,
        magnitude=0.0,
        rounding=1e-11,
        weights=weights,
        floor=0.0,
        estimated=False,
        two_sided=True,
        both_signs=False,
        constants=BET_CONSTANTS,
        rules=prediction_rules(policy.DEFAULT),
    )
