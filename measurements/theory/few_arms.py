"""What limits and pairs are worth for few arms: pulls of `search/leaders/leaders.py` next to those of the race.

``python -m measurements.theory.few_arms`` measures what is not in the rows yet, docs/results/few-arms.jsonl, and
puts the table of section 13 into docs/theory.md. Some ten minutes from nothing; ``--populations 1``
takes two.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from measurements.harness import machine, page
from measurements.harness.command import report
from sureshot.experiments import metrics, rows
from sureshot.experiments.numbers import per_cent
from sureshot.search.leaders import leaders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sureshot._types import Floats
    from sureshot.experiments.rows import Row

DELTA = 0.05
SEED = 13
# The best two means; the others are evenly spread between these two.
BEST, WORST, MIDDLING = (0.80, 0.77), 0.40, 0.75
KINDS = ("two-valued", "beta")
SHAPES = ((20, 500), (20, 2_000), (20, 20_000), (100, 500), (100, 2_000), (100, 20_000))
PROMISES = ((1, 0.0), (1, 0.01), (1, 0.05), (5, 0.0), (5, 0.01), (5, 0.05))
POPULATIONS = 5
# One case is looked at more closely.
CLOSELY = (20, 2_000, "two-valued", 1, 0.01)
POPULATIONS_CLOSELY = 50
# The most arms of which limits and pairs are proved: none, so that they are raced.
MOST_ARMS = {"race": 0, "leaders": leaders.MOST_ARMS}


@dataclass(frozen=True)
class FewArmsCase:
    """A population of arms, what is asked of it, and how it is searched."""

    n_arms: int
    n_rewards: int
    rewards: str
    k: int
    epsilon: float
    delta: float
    population: int
    method: str


def cases(populations: int) -> list[FewArmsCase]:
    """Return everything that is measured."""
    found = []
    for (n_arms, n_rewards), kind, (k, epsilon) in product(SHAPES, KINDS, PROMISES):
        closely = (n_arms, n_rewards, kind, k, epsilon) == CLOSELY
        count = POPULATIONS_CLOSELY * populations // POPULATIONS if closely else populations
        found += [
            FewArmsCase(n_arms, n_rewards, kind, k, epsilon, DELTA, population, method)
            for population, method in product(range(count), MOST_ARMS)
        ]
    return found


def make(case: FewArmsCase) -> Floats:
    """Return the rewards of a population, shape (n_arms, n_rewards)."""
    rng = np.random.default_rng([SEED, case.n_arms, case.n_rewards, case.population])
    means = np.append(np.linspace(WORST, MIDDLING, case.n_arms - 2), BEST)
    means = rng.permutation(means)[:, None]
    shape = (case.n_arms, case.n_rewards)
    if case.rewards == "two-valued":
        return (rng.random(shape) < means).astype(np.float64)
    # The variance of Beta(4 m, 4 (1 - m)) is m (1 - m) / 5.
    return rng.beta(4 * means, 4 * (1 - means), shape)


def measure(case: FewArmsCase) -> Row:
    """Search one population and return its row."""
    table = make(case)
    most_arms = leaders.MOST_ARMS
    leaders.MOST_ARMS = MOST_ARMS[case.method]
    try:
        found = sureshot.best_arms(
            lambda arms, coordinates: table[np.ix_(arms, coordinates)],
            case.n_arms,
            case.n_rewards,
            case.k,
            epsilon=case.epsilon,
            delta=case.delta,
            rng=case.population,
        )
    finally:
        leaders.MOST_ARMS = most_arms
    means = table.mean(axis=1)
    lost = metrics.suboptimality(found.indices, means, case.k)
    return {**asdict(case), "share": found.work.share, "suboptimality": lost}


def lines(found: Sequence[Row]) -> list[str]:
    """Return the table, and the case that was looked at closely, in Markdown."""
    shares: dict[tuple[Any, ...], list[float]] = {}
    for row in found:
        names = ("n_arms", "n_rewards", "rewards", "k", "epsilon", "method")
        shares.setdefault(tuple(row[name] for name in names), []).append(row["share"])

    def cell(*case: Any) -> str:
        return " → ".join(f"{100 * np.mean(shares[*case, method]):.1f}" for method in MOST_ARMS)

    titles = ["$n$", "$N$", "rewards", *(f"$K = {k}$, ε = {epsilon:g}" for k, epsilon in PROMISES)]
    body = [
        [str(n), str(length), kind, *(cell(n, length, kind, *promise) for promise in PROMISES)]
        for (n, length), kind in product(SHAPES, KINDS)
    ]
    race, ours = (np.array(shares[*CLOSELY, method]) for method in MOST_ARMS)
    lost = sum(row["suboptimality"] > row["epsilon"] for row in found)
    closely = (
        f"Means over {POPULATIONS} populations; {lost} of all {len(found):,} answers lost more than ε. "
        f"For {CLOSELY[0]} arms, $N = {CLOSELY[1]}$, $K = {CLOSELY[3]}$ and ε = {CLOSELY[4]:g}, over "
        f"{len(ours)} populations: {per_cent(ours.mean())} on average and "
        f"{per_cent(ours.max())} at most, where the race takes {per_cent(race.mean())} and "
        f"{per_cent(race.max())}."
    )
    return [*page.table(titles, body, words=len(titles) - 1), "", closely]


def write(found: Sequence[Row], document: Path = page.DOCS / "theory.md") -> None:
    """Put the table of the rows into the page."""
    page.rewrite(document, {"few arms": lines(found)})


def run(wanted: Iterable[FewArmsCase], out: Path) -> None:
    """Measure some cases, and keep each row as soon as it is there."""
    environment = machine.environment()
    for case in wanted:
        rows.append(out, {**measure(case), **environment})
        report(f"{case}: done")


def main() -> None:
    """Measure what is missing and write the table."""
    parser = argparse.ArgumentParser(
        prog="python -m measurements.theory.few_arms", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=page.DOCS / "results" / "few-arms.jsonl")
    parser.add_argument("--populations", type=int, default=POPULATIONS, help="of each case; 5")
    settings = parser.parse_args()
    wanted = cases(settings.populations)
    run(rows.missing(wanted, rows.read(settings.out)), settings.out)
    found = rows.belonging(wanted, rows.read(settings.out))
    if settings.populations == POPULATIONS:
        write(found)
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
