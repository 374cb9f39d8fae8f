"""What to pull next when pulls are expensive: a matter of cost, never of correctness.

A score between the leaders and the others is chosen so that to prove the leaders above it and the
others below it, with epsilon between, is predicted to cost the fewest pulls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints

# All arms are pulled this often before anything is predicted.
FIRST_STEPS = 8
# A round multiplies the pulls of an arm by this.
GROWTH = 1.15
# What wealth spread over many stakes loses against the one best stake, as a logarithm, roughly.
REGRET = 2.0
# Scores tried between the lowest limit and the last leader.
TRIED = 32


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a search stands, as predictions need it: scores from -1 to 1, in arrays over all arms.

    Only the spreads have one entry for each of `arms`.
    """

    length: int
    epsilon: float
    steps: Ints
    estimates: Floats
    variances: Floats
    lower: Floats
    upper: Floats
    leaders: Ints  # those that some arm is not yet proved to be behind, best first
    arms: Ints  # those that are not yet proved to be behind every leader
    spreads: Floats  # for each of these, the variance of its difference from the last leader
    upper_level: float
    lower_level: float
    pair_level: float


def next_steps(now: Standing) -> Ints:
    """Return up to which step each arm is to be pulled now: at least one further than before."""
    steps, leaders, arms = now.steps, now.leaders, now.arms
    first = min(FIRST_STEPS, now.length)
    if steps.min() < first:
        return np.full(len(steps), first)
    grown = np.minimum(np.ceil(steps * GROWTH).astype(np.int64), now.length)
    # One row for each score that is tried.
    lowest, highest = now.lower[leaders].min(), now.estimates[leaders].min()
    score = np.linspace(lowest, highest, TRIED)[:, None]
    of_leaders = _needed(
        now, now.estimates[leaders] - score, now.variances[leaders], now.lower_level
    )
    of_leaders[now.lower[leaders] >= score] = 0
    above = score + now.epsilon
    of_arms = _needed(now, above - now.estimates[arms], now.variances[arms], now.upper_level)
    of_arms[now.upper[arms] <= above] = 0
    by_pair = _pair_steps(now)
    paired = by_pair < of_arms
    # A pair is compared on what both have pulled: the leaders are pulled as far as the arms.
    with_pairs = np.where(paired, by_pair, 0).max(axis=1, keepdims=True)
    of_leaders = np.maximum(of_leaders, with_pairs)
    of_arms = np.minimum(of_arms, by_pair)
    cost = np.maximum(of_leaders - steps[leaders], 0).sum(axis=1)
    cost += np.maximum(of_arms - steps[arms], 0).sum(axis=1)
    best = int(cost.argmin())

    targets = steps.copy()
    for some in (leaders[of_leaders[best] > 0], arms[of_arms[best] > 0]):
        targets[some] = grown[some]
    if paired[best].any():
        targets[leaders] = np.maximum(targets[leaders], targets[arms[paired[best]]].max())
    for some in (leaders, arms):
        if (targets == steps).all():
            targets[some] = grown[some]
    return targets


def _needed(now: Standing, gaps: Floats, variances: Floats, level: float) -> Floats:
    """Return how many steps it takes in all to prove a gap, from the growth of the best stake."""
    if math.isinf(level):
        return np.full(gaps.shape, float(now.length))
    with np.errstate(divide="ignore", over="ignore"):
        endless = 2 * (math.log(level) + REGRET) * (variances / np.maximum(gaps, 0) ** 2 + 1)
        # The list is finite: the fewer rewards are left, the larger is the gap that they would need.
        return np.asarray(1 / (1 / endless + 1 / now.length))


def _pair_steps(now: Standing) -> Floats:
    """Return how many steps it takes to prove as a pair that each arm is behind the last leader."""
    if math.isinf(now.pair_level):
        return np.full(len(now.arms), math.inf)
    gaps = now.estimates[now.leaders].min() - now.estimates[now.arms]
    return _needed(now, np.maximum(gaps, 0) + now.epsilon, now.spreads, now.pair_level)
