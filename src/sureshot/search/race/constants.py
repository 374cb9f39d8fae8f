"""What the native ledger is given of constants: the native code has none of its own.

Those of the mathematics are defined in ``theory/wealth.py``, those of policy in ``policy.py``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from sureshot import _native
from sureshot.theory import wealth

if TYPE_CHECKING:
    from sureshot.search.race.policy import Policy

BET_CONSTANTS = _native.BetConstants(
    largest_loss=wealth.C,
    softening=wealth.SOFTENING,
    first_stake=wealth.FIRST_STAKE,
    halvings=wealth.HALVINGS,
)


@lru_cache(maxsize=8)  # to make them takes longer than to look them up
def prediction_rules(policy: Policy) -> _native.PredictionRules:
    """Return those constants of policy by which the ledger predicts."""
    return _native.PredictionRules(
        eagerness=policy.eagerness,
        longest_wait=policy.longest_wait,
        least_wealth=policy.least_wealth,
        trend_steps=policy.trend_steps,
        trend_start=policy.trend_start,
        trend_renewal=policy.trend_renewal,
        least_growth=policy.least_growth,
        sampled_arms=policy.predicted_arms,
    )
