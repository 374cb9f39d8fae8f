"""How many steps each bound reads until it drops one arm: docs/figures/steps-to-drop.svg.

Every method has the same promise and the same advantages: the threshold is known exactly, and an
arm that reaches it is dropped with probability at most DELTA / K. The arm's list is fixed, the
order is random. ``python -m measurements.theory.steps_to_drop`` takes about half a minute, and writes the rows that
are drawn to docs/results/steps-to-drop.jsonl.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from measurements.harness import machine, page
from measurements.rivals.elimination import RADII
from sureshot.experiments import drawing, rows
from sureshot.search.race import policy
from sureshot.search.race.costs import costs_of
from sureshot.sources.costs import PAID_PULLS
from sureshot.theory import wealth

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sureshot._types import Floats
    from sureshot.experiments.rows import Row

    Method = Callable[["Arms"], Floats]

NAME = "steps-to-drop"
SEED = 2019
DELTA, K = 0.05, 10
ARMS = 40  # per point
WIDTH = 2.0  # rewards lie in [-1, 1]

LENGTHS = [1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000]
GAPS = [0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32]
FIXED_LENGTH, FIXED_GAP = 100_000, 0.05

QUIET = "Values far inside their limits: rms 0.1 in [−1, 1]"
EXTREME = "Two values, −1 and 1: no variance to save"
COLOURS = {
    "successive elimination, Hoeffding–Serfling": "#D55E00",
    "successive elimination, empirical Bernstein–Serfling": "#E69F00",
    "range bets": "#0072B2",
    "norm bets": "#009E73",
}


@dataclass(frozen=True)
class Arms:
    """Drawn rewards of some arms, (n_rewards, arms), and the score they are tested at."""

    y: Floats
    theta: Floats

    @property
    def n_rewards(self) -> int:
        """Length of the reward lists."""
        return len(self.y)


def draw(kind: str, n_rewards: int, gap: float, rng: np.random.Generator) -> Arms:
    """Make arms whose mean is `gap` below a threshold near 0, and draw them to the end."""
    if kind == QUIET:
        y = np.clip(rng.laplace(-gap, 0.1 / math.sqrt(2), (n_rewards, ARMS)), -1, 1)
    else:
        y = np.full((n_rewards, ARMS), -1.0)
        y[: round(n_rewards * (1 - gap) / 2)] = 1.0
    y = rng.permuted(y, axis=0)
    return Arms(y, y.sum(axis=0) + gap * n_rewards)


def fronts(n_rewards: int) -> list[int]:
    """Return the steps after which the arms are tested, the same for every method."""
    pulls = costs_of(PAID_PULLS, n_arms=1)
    steps = [policy.next_front(policy.DEFAULT, pulls, 0, n_rewards, 1)]
    while steps[-1] < n_rewards:
        steps.append(policy.next_front(policy.DEFAULT, pulls, steps[-1], n_rewards, 1))
    return steps


def first_front(dropped: NDArray[np.bool_], tested: list[int], n_rewards: int) -> Floats:
    """Return where each arm is dropped, (tests, arms) given; the whole list drops every arm."""
    first = np.array([*tested, n_rewards], dtype=np.float64)
    return first[np.where(dropped.any(axis=0), dropped.argmax(axis=0), len(tested))]


def bet(arms: Arms, by_norm: bool) -> Floats:
    """Return the steps at which the wealth has reached K / DELTA."""
    n_rewards, level = arms.n_rewards, math.log(K / DELTA)
    tested = fronts(n_rewards)
    steps = min(1024, n_rewards)
    while True:
        y = arms.y[:steps]
        left = (n_rewards - np.arange(steps, dtype=np.float64))[:, None]
        known = wealth.before(y)
        guess = np.broadcast_to(arms.theta, y.shape)
        if by_norm:
            norms = np.einsum("sa,sa->a", arms.y, arms.y) * (1 + 1e-9)
            weight = np.ones((steps, 1))
            bets = wealth.norm_bets(y, known, left, guess, y**2, weight, norms)
        else:
            bets = wealth.range_bets(y, known, left, guess, np.ones(y.shape[1]))
        theta = arms.theta - 1e-11 * n_rewards
        won = np.maximum.accumulate(wealth.log_wealth(bets, theta), axis=0) >= level
        if won[-1].all() or steps == n_rewards:
            seen = [front for front in tested if front <= steps]
            return first_front(won[np.array(seen) - 1], seen, n_rewards)
        steps = min(4 * steps, n_rewards)


def sums_at(values: Floats, tested: list[int]) -> Floats:
    """Return the sums of the first rows up to each of the tested steps."""
    starts = np.array([0, *tested[:-1]])
    sums: Floats = np.cumsum(np.add.reduceat(values[: tested[-1]], starts, axis=0), axis=0)
    return sums


def eliminate(arms: Arms, radius: str) -> Floats:
    """Return the steps at which the upper limit of the mean is below the threshold.

    The limit holds at all tests at once: each has an equal part of DELTA / K.
    """
    n_rewards = arms.n_rewards
    tested = [front for front in fronts(n_rewards) if front < n_rewards]
    share = DELTA / K / len(tested)
    at = np.array(tested)
    mean = sums_at(arms.y, tested) / at[:, None]
    variance = np.maximum(sums_at(arms.y**2, tested) / at[:, None] - mean**2, 0)
    reach = np.stack(
        [
            RADII[radius](pulls, n_rewards, WIDTH, of_arms, share)
            for pulls, of_arms in zip(tested, variance, strict=True)
        ]
    )
    return first_front(mean + reach < arms.theta / n_rewards, tested, n_rewards)


METHODS: dict[str, Method] = dict(
    zip(
        COLOURS,
        (
            lambda arms: eliminate(arms, "hoeffding-serfling"),
            lambda arms: eliminate(arms, "empirical-bernstein-serfling"),
            lambda arms: bet(arms, by_norm=False),
            lambda arms: bet(arms, by_norm=True),
        ),
        strict=True,
    )
)


def simulate() -> list[Row]:
    """Return all the rows: steps read until an arm is dropped, and what one arm in ten does not need or exceeds."""
    sizes = [(length, FIXED_GAP) for length in LENGTHS]
    sizes += [(FIXED_LENGTH, gap) for gap in GAPS if gap != FIXED_GAP]
    found = []
    about = {"seed": SEED, "delta": DELTA, "k": K, "arms": ARMS} | machine.environment()
    for kind in (QUIET, EXTREME):
        for n_rewards, gap in sizes:
            rng = np.random.default_rng([SEED, n_rewards, round(1000 * gap)])
            arms = draw(kind, n_rewards, gap, rng)
            for name, method in METHODS.items():
                steps = method(arms)
                low, high = map(float, np.quantile(steps, [0.1, 0.9]))
                row = {"kind": kind, "method": name, "n_rewards": n_rewards, "gap": gap}
                found.append(row | {"mean": float(steps.mean()), "low": low, "high": high} | about)
    return found


def draw_lines(axes: Any, found: list[Row], across: str) -> None:
    """Draw one line per method, with a band that holds eight arms of ten."""
    for name, colour in COLOURS.items():
        mine = [row for row in found if row["method"] == name]
        mine.sort(key=lambda row: float(row[across]))
        x, mean, low, high = ([row[key] for row in mine] for key in (across, "mean", "low", "high"))
        style = "o--" if name == "norm bets" else "o-"  # it may lie on range bets
        axes.plot(x, mean, style, color=colour, label=name, lw=1.8, ms=3)
        axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)


def picture(found: list[Row]) -> Any:
    """Draw steps against the length of the lists and against the gap, for both kinds."""
    figure, panels = drawing.grid(NAME, 2, 2, 9.5, 7.6, sharey=True)
    for (by_length, by_gap), kind in zip(panels, (QUIET, EXTREME), strict=True):
        mine = [row for row in found if row["kind"] == kind]
        draw_lines(by_length, [row for row in mine if row["gap"] == FIXED_GAP], "n_rewards")
        draw_lines(by_gap, [row for row in mine if row["n_rewards"] == FIXED_LENGTH], "gap")
        whole = {"color": "0.5", "ls": ":", "lw": 1.2, "zorder": 0}
        by_length.plot(LENGTHS, LENGTHS, label="the whole list", **whole)
        by_gap.axhline(FIXED_LENGTH, **whole)
        by_length.set_xlabel(f"rewards per arm, N (gap {FIXED_GAP:g})")
        by_gap.set_xlabel(f"gap to the threshold, of a half range of 1 (N = {FIXED_LENGTH:,})")
        by_length.set_ylabel("steps read until dropped")
        by_length.set_title(kind, loc="left", fontweight="bold", fontsize=10)
        for axes in (by_length, by_gap):
            axes.set(xscale="log", yscale="log")
        by_gap.set_xticks(GAPS, [f"{gap:g}" for gap in GAPS])
        by_gap.minorticks_off()
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def main() -> None:
    """Simulate, write the rows, draw them."""
    found = simulate()
    rows.write(page.DOCS / "results" / f"{NAME}.jsonl", found)
    drawn = drawing.svg(NAME, picture(found))
    (page.DOCS / "figures" / f"{NAME}.svg").write_text(drawn, encoding="utf-8")
    for row in found:
        size = f"{row['n_rewards']:>9,} {row['gap']:<6g} {row['mean']:>9,.0f}"
        print(f"{size}  {row['method']}; {row['kind']}")


if __name__ == "__main__":
    main()
