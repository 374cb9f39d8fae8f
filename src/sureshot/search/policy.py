"""When to evaluate, suspend, resume and finish: rules of cost, never of correctness.

Whatever these functions return, the guarantee holds; they decide how much is read. The figures
behind the constants are in ``docs/policy.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats


@dataclass(frozen=True, slots=True)
class Policy:
    """The constants of the rules below."""

    first_front: int = 4
    second_front: int = 8
    growth: float = 1.2
    caution: float = 0.5  # standard errors taken off an estimate before it makes a guess
    patience: float = 3.0  # how much likelier than not an evaluation must be needed
    hopeless_after: float = 0.06  # share of the blocks after which giving up is considered
    hopeless_share: float = 0.5  # of the finishing cost that sampling on must save


DEFAULT = Policy()


def next_front(policy: Policy, front: int, length: int) -> int:
    """Return up to which step the next round reads."""
    if front < policy.first_front:
        wanted = policy.first_front
    elif front < policy.second_front:
        wanted = policy.second_front
    else:
        wanted = math.ceil(front * policy.growth)
    return min(wanted, length)


def kth_largest(values: Floats, k: int) -> float:
    """Return the k-th largest of `values`, or minus infinity if there are fewer."""
    if len(values) < k:
        return -math.inf
    return float(np.partition(values, len(values) - k)[len(values) - k])


def evaluation_pays(
    policy: Policy,
    candidates: Floats,
    candidate_errors: Floats,
    runner_up: float,
    runner_up_error: float,
    rest_of_a_row: int,
    next_round: int,
) -> bool:
    """Return whether to evaluate the candidates exactly now.

    Each candidate may turn out not to belong to the top k; the expected number of such wasted
    evaluations, times what one costs, is compared with another round for the other arms.
    """
    spread = np.sqrt(candidate_errors**2 + runner_up_error**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.nan_to_num((candidates - runner_up) / spread, nan=0.0)
    waste = sum(0.5 * math.erfc(value / math.sqrt(2)) for value in z)
    return policy.patience * waste * rest_of_a_row <= next_round


def may_be_hopeless(policy: Policy, front: int, length: int) -> bool:
    """Return whether enough has been read to judge whether sampling on pays."""
    return front >= policy.hopeless_after * length


def finishing_pays(policy: Policy, needed: float, unread: float) -> bool:
    """Return whether to read all undecided arms to the end instead of sampling on.

    `needed` is how many steps they are predicted to need together, `unread` how many are left.
    """
    return needed > policy.hopeless_share * unread
