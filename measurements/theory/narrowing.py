"""How much a schedule of narrowing finds of scores that are independent and Gaussian: simulated, nothing is read.

python -m measurements.theory.narrowing

The sum over a share of the coordinates is a Brownian motion at that time, so a schedule needs no data. The
evaluation of the k answers is part of the budget. `SPACING`, the powers and `WIDE_ROUNDS` of `sureshot.theory.narrowing` were
chosen by it. By column the time of reading everything is a limit, too.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from measurements.harness import page
from sureshot.search.problem import largest
from sureshot.search.race import policy
from sureshot.search.race.costs import SLABS_OF_COLUMNS
from sureshot.sources.costs import in_memory
from sureshot.theory.narrowing import MOST_ROUNDS, WIDE_ROUNDS, Limit, narrowing

if TYPE_CHECKING:
    from numpy.random import Generator

    from sureshot._types import Floats

REWARDS = 10_000
COLUMNS_OF_REWARD = 10  # by column a reward is so many of them, next to which a round costs less
SHARES = (0.05, 0.1, 0.2, 0.4, 0.8)


@dataclass(frozen=True, slots=True)
class Setting:
    """Arms, answers, and rounds at most."""

    n_arms: int
    k: int
    rounds: int
    trials: int
    by_column: bool = False


SETTINGS = (
    *(Setting(2_000, 5, rounds, 200) for rounds in (2, 4, 6, 9, 14, MOST_ROUNDS)),
    Setting(1_000, 5, MOST_ROUNDS, 200),
    Setting(2_000, 1, MOST_ROUNDS, 200),
    Setting(2_000, 100, MOST_ROUNDS, 20),
    Setting(10_000, 5, MOST_ROUNDS, 100),
    Setting(100_000, 10, MOST_ROUNDS, 10),
    *(Setting(10_000, 5, rounds, 100, by_column=True) for rounds in (WIDE_ROUNDS, MOST_ROUNDS)),
)


def limits(setting: Setting, pulls: float) -> list[Limit]:
    """Return so many pulls, and by column the time that they may take."""
    if not setting.by_column:
        return [Limit(pulls)]
    costs, n_arms = in_memory(1, 4, coordinate_major=True), setting.n_arms

    def price(arms: Floats) -> Floats:
        return np.minimum(SLABS_OF_COLUMNS * costs.everything * n_arms, costs.lone_block * arms)

    most = policy.DEFAULT.most_cost * costs.everything * n_arms * REWARDS
    return [Limit(pulls), Limit(most, price, round=costs.round / COLUMNS_OF_REWARD)]


def found(setting: Setting, share: float, rng: Generator) -> float:
    """Return the share of the k best arms that is found, in one simulated search."""
    n_arms, k = setting.n_arms, setting.k
    pulls = (share * n_arms - k) * REWARDS
    alive, sums, read = np.arange(n_arms), np.zeros(n_arms), np.zeros(n_arms)
    for this in narrowing(n_arms, REWARDS, k, limits(setting, pulls), rounds=setting.rounds):
        alive = alive[largest(sums[alive], this.arms)]
        fresh = this.pulls / REWARDS - read[alive]
        sums[alive] += rng.standard_normal(this.arms) * np.sqrt(fresh)
        read[alive] += fresh
    answer = alive[largest(sums[alive], k)]
    scores = sums + rng.standard_normal(n_arms) * np.sqrt(np.maximum(1 - read, 0.0))
    return len(np.intersect1d(answer, largest(scores, k))) / k


def lines() -> list[str]:
    """Return the table in Markdown; a budget of less than twice the evaluation is left out."""
    titles = ["arms", "order", "k", "rounds", *(f"{share:.0%}" for share in SHARES)]
    body = []
    for setting in SETTINGS:
        rng = np.random.default_rng([7, setting.n_arms, setting.k, setting.rounds])
        means = [
            f"{np.mean([found(setting, share, rng) for _ in range(setting.trials)]):.2f}"
            if share * setting.n_arms >= 2 * setting.k
            else "–"
            for share in SHARES
        ]
        order = "column" if setting.by_column else "row"
        body.append([f"{setting.n_arms:,}", order, str(setting.k), str(setting.rounds), *means])
    return page.table(titles, body)


def main() -> None:
    """Simulate and print."""
    argparse.ArgumentParser(
        prog="python -m measurements.theory.narrowing", description=__doc__
    ).parse_args()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
