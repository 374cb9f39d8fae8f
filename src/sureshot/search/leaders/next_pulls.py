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
# A round makes what is pulled of an arm so much longer.
GROWTH = 1.15
# What a spread capital loses against the one best stake: logarithms of wealth, roughly.
REGRET = 2.0
# Scores tried between the lowest limit and the last leader.
TRIED = 32


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a prediction is made of: scores as numbers between -1 and 1, in arrays over all arms.

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


def next_steps(outlook: Outlook) -> Ints:
    """Return up to which step each arm is to be pulled now; some go on, whatever is predicted."""
    steps, leaders, arms = outlook.steps, outlook.leaders, outlook.arms
    first = min(FIRST_STEPS, outlook.length)
    if steps.min() < first:
        return np.full(len(steps), first)
    grown = np.minimum(np.ceil(steps * GROWTH).astype(np.int64), outlook.length)
    # One row for each score that is tried.
    lowest, highest = outlook.lower[leaders].min(), outlook.estimates[leaders].min()
    score = np.linspace(lowest, highest, TRIED)[:, None]
    of_leaders = _needed(
        outlook, outlook.estimates[leaders] - score, outlook.variances[leaders], outlook.lower_level
    )
    of_leaders[outlook.lower[leaders] >= score] = 0
    above = score + outlook.epsilon
    of_arms = _needed(
        outlook, above - outlook.estimates[arms], outlook.variances[arms], outlook.upper_level
    )
    of_arms[outlook.upper[arms] <= above] = 0
    by_pair = _pair_steps(outlook)
    paired = by_pair < of_arms
    # The leaders must come along.
    company = np.where(paired, by_pair, 0).max(axis=1, keepdims=True)
    of_leaders = np.maximum(of_leaders, company)
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


def _needed(outlook: Outlook, gaps: Floats, variances: Floats, level: float) -> Floats:
    """Return how many steps it takes in all to prove a gap, from the growth of the best stake."""
    if math.isinf(level):
        return np.full(gaps.shape, float(outlook.length))
    with np.errstate(divide="ignore", over="ignore"):
        endless = 2 * (math.log(level) + REGRET) * (variances / np.maximum(gaps, 0) ** 2 + 1)
        # Of a list that ends: the gap to what is left grows.
        return np.asarray(1 / (1 / endless + 1 / outlook.length))


def _pair_steps(outlook: Outlook) -> Floats:
    """Return how many steps each arm and the last leader need to be told apart as a pair."""
    if math.isinf(outlook.pair_level):
        return np.full(len(outlook.arms), math.inf)
    gaps = outlook.estimates[outlook.leaders].min() - outlook.estimates[outlook.arms]
    return _needed(
        outlook, np.maximum(gaps, 0) + outlook.epsilon, outlook.spreads, outlook.pair_level
    )
