"""Draws docs/figures/pulls.svg: how many pulls each bound needs to drop one arm.

Every method has the same promise and the same advantages: the threshold is known exactly, and an
arm that reaches it is dropped with probability at most DELTA / K. The arm's list is fixed, the
order is random. Run from anywhere; it takes about half a minute, and the rows that are drawn are
saved beside the picture.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from sureshot.search.race import policy
from sureshot.search.race.costs import costs_of
from sureshot.sources.costs import PAID_PULLS
from sureshot.theory import concentration, wealth

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Method = Callable[["Arms"], Floats]

FIGURES = Path(__file__).parent.parent / "docs" / "figures"
SEED = 2019
DELTA, K = 0.05, 10
ARMS = 40  # per point
WIDTH = 2.0  # rewards lie in [-1, 1]
KAPPA = 7 / 3 + 3 / math.sqrt(2)

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
class Row:
    """One point of the picture: steps read until an arm is dropped."""

    kind: str
    method: str
    n_rewards: int
    gap: float
    mean: float
    low: float  # one arm in ten needs fewer
    high: float  # one arm in ten needs more


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


def eliminate(arms: Arms, empirical: bool) -> Floats:
    """Return the steps at which the upper limit of the mean is below the threshold.

    The limit holds at all tests at once: each has an equal part of DELTA / K.
    """
    n_rewards = arms.n_rewards
    tested = [front for front in fronts(n_rewards) if front < n_rewards]
    share = DELTA / K / len(tested)
    at = np.array(tested)
    mean = sums_at(arms.y, tested) / at[:, None]
    if empirical:
        square = sums_at(arms.y**2, tested) / at[:, None]
        deviation = np.sqrt(np.maximum(square - mean**2, 0))
        log_term = math.log(5 / share)
        rho = np.array([concentration.rho(m, n_rewards) for m in tested])
        radius = deviation * np.sqrt(2 * rho * log_term / at)[:, None]
        radius += (KAPPA * WIDTH * log_term / at)[:, None]
    else:
        radius = np.array([concentration.radius(m, n_rewards, WIDTH, share) for m in tested])
        radius = radius[:, None]
    return first_front(mean + radius < arms.theta / n_rewards, tested, n_rewards)


METHODS: dict[str, Method] = dict(
    zip(
        COLOURS,
        (
            lambda arms: eliminate(arms, empirical=False),
            lambda arms: eliminate(arms, empirical=True),
            lambda arms: bet(arms, by_norm=False),
            lambda arms: bet(arms, by_norm=True),
        ),
        strict=True,
    )
)


def simulate() -> list[Row]:
    """Return all the rows."""
    sizes = [(length, FIXED_GAP) for length in LENGTHS]
    sizes += [(FIXED_LENGTH, gap) for gap in GAPS if gap != FIXED_GAP]
    rows = []
    for kind in (QUIET, EXTREME):
        for n_rewards, gap in sizes:
            rng = np.random.default_rng([SEED, n_rewards, round(1000 * gap)])
            arms = draw(kind, n_rewards, gap, rng)
            for name, method in METHODS.items():
                pulls = method(arms)
                low, high = np.quantile(pulls, [0.1, 0.9])
                rows.append(Row(kind, name, n_rewards, gap, float(pulls.mean()), low, high))
    return rows


def draw_lines(axes: Any, rows: list[Row], across: str) -> None:
    """Draw one line per method, with a band that holds eight arms of ten."""
    for name, colour in COLOURS.items():
        mine = sorted(
            (row for row in rows if row.method == name), key=lambda row: float(getattr(row, across))
        )
        x = [getattr(row, across) for row in mine]
        style = "o--" if name == "norm bets" else "o-"  # it may lie on range bets
        axes.plot(x, [row.mean for row in mine], style, color=colour, label=name, lw=1.8, ms=3)
        axes.fill_between(
            x, [row.low for row in mine], [row.high for row in mine], color=colour, alpha=0.15, lw=0
        )


def picture(rows: list[Row]) -> Any:
    """Draw pulls against the length of the lists and against the gap, for both kinds."""
    mpl.use("svg")
    mpl.rcParams.update({"font.size": 10, "svg.hashsalt": "sureshot", "axes.titlesize": 10})
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the choice of backend

    figure, table = plt.subplots(2, 2, figsize=(9.5, 7.6), sharey=True, layout="constrained")
    for (by_length, by_gap), kind in zip(table, (QUIET, EXTREME), strict=True):
        mine = [row for row in rows if row.kind == kind]
        draw_lines(by_length, [row for row in mine if row.gap == FIXED_GAP], "n_rewards")
        draw_lines(by_gap, [row for row in mine if row.n_rewards == FIXED_LENGTH], "gap")
        whole = {"color": "0.5", "ls": ":", "lw": 1.2, "zorder": 0}
        by_length.plot(LENGTHS, LENGTHS, label="the whole list", **whole)
        by_gap.axhline(FIXED_LENGTH, **whole)
        by_length.set_xlabel(f"rewards per arm, N (gap {FIXED_GAP:g})")
        by_gap.set_xlabel(f"gap to the threshold, of a half range of 1 (N = {FIXED_LENGTH:,})")
        by_length.set_ylabel("steps read until dropped")
        by_length.set_title(kind, loc="left", fontweight="bold")
        for axes in (by_length, by_gap):
            axes.set(xscale="log", yscale="log")
            axes.grid(which="major", color="0.9")
            axes.spines[["top", "right"]].set_visible(False)
        by_gap.set_xticks(GAPS, [f"{gap:g}" for gap in GAPS])
        by_gap.minorticks_off()
    handles, labels = table[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, frameon=False)
    return figure


def main() -> None:
    """Simulate, save the rows, draw them."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    rows = simulate()
    about = {"seed": SEED, "delta": DELTA, "k": K, "arms": ARMS, "numpy": np.__version__}
    saved = about | {"rows": [asdict(row) for row in rows]}
    (FIGURES / "pulls.json").write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n")
    picture(rows).savefig(FIGURES / "pulls.svg", metadata={"Date": None})
    for row in rows:
        print(f"{row.n_rewards:>9,} {row.gap:<6g} {row.mean:>9,.0f}  {row.method}; {row.kind}")


if __name__ == "__main__":
    main()
