"""What Figure 1 shows, from its rows."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from sureshot.experiments import drawing, metrics
from sureshot.experiments.fig1 import DELTAS, WAYS
from sureshot.experiments.numbers import per_cent
from sureshot.experiments.section import Claim, Picture, Section, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.rows import Row

TITLES = {
    ("bounded-me", "ones first"): "BoundedME, ones first: outside its theorem",
    ("bounded-me", "uniform"): "BoundedME, uniform order",
    ("betting", "uniform"): "betting, uniform order",
}


def of_way(found: Sequence[Row], method: str, order: str) -> list[Row]:
    """Return the rows of one method under one order."""
    return [row for row in found if (row["method"], row["order"]) == (method, order)]


def percentiles(found: Sequence[Row], delta: float) -> dict[float, float]:
    """Return the (1 - delta)-percentile of the losses for each epsilon."""
    mine = [row for row in found if row["delta"] == delta]
    epsilons = mine[0]["epsilons"] if mine else []
    return {
        epsilon: metrics.upper_percentile([row["suboptimality"][at] for row in mine], delta)
        for at, epsilon in enumerate(epsilons)
    }


def averages(found: Sequence[Row]) -> dict[float, float]:
    """Return for each epsilon what the paper plots: the mean over delta of the percentiles."""
    curves = [percentiles(found, delta) for delta in DELTAS]
    curves = [curve for curve in curves if curve]
    return {epsilon: fmean(curve[epsilon] for curve in curves) for epsilon in curves[0]}


def shares(found: Sequence[Row]) -> dict[float, float]:
    """Return for each epsilon the mean share of all rewards that was pulled."""
    return {
        epsilon: metrics.share(
            found[0]["n_arms"],
            found[0]["n_rewards"],
            [row["numbers_read"][at] for row in found],
        )
        for at, epsilon in enumerate(found[0]["epsilons"])
    }


def broken(found: Sequence[Row]) -> tuple[int, int]:
    """Return in how many searches the loss exceeded epsilon, and how many there were."""
    pairs = [
        pair for row in found for pair in zip(row["suboptimality"], row["epsilons"], strict=True)
    ]
    return sum(loss > epsilon for loss, epsilon in pairs), len(pairs)


def picture(found: Sequence[Row]) -> Any:
    """Draw the percentiles against epsilon, a panel for each method and order."""
    ways = [way for way in WAYS if of_way(found, *way)]
    figure, panels = drawing.grid("fig1", 1, len(ways), 3.8 * len(ways), 3.9, sharey=True)
    for axes, way in zip(panels.flat, ways, strict=True):
        mine = of_way(found, *way)
        for delta, colour in zip(DELTAS, drawing.COLOURS[2:], strict=False):
            curve = percentiles(mine, delta)
            axes.plot(
                list(curve), list(curve.values()), "o-", color=colour, lw=1, ms=2.5,
                label=f"δ = {delta:g}",
            )  # fmt: skip
        mean = averages(mine)
        axes.plot(list(mean), list(mean.values()), color="#0072B2", lw=2.4, label="mean over δ")
        axes.plot([0, 0.6], [0, 0.6], ls=":", color="0.3", label="allowed: ε")
        axes.set(title=TITLES[way], xlabel="allowed loss, ε", xlim=(0, 0.62), ylim=(-0.01, 0.62))
        axes.title.set_fontsize(10)
    panels[0, 0].set_ylabel("(1 − δ)-percentile of the loss")
    panels[0, 0].legend(frameon=False, fontsize=8, loc="upper left")
    return figure


def section(found: Sequence[Row]) -> Section:
    """Return the part of the report."""
    first = found[0]
    runs = len({row["seed"] for row in found})
    body = []
    for way in WAYS:
        mine = of_way(found, *way)
        if not mine:
            continue
        read = shares(mine)
        for epsilon, loss in averages(mine).items():
            worst = max(
                percentiles(mine, delta)[epsilon] for delta in DELTAS if percentiles(mine, delta)
            )
            body.append(
                [
                    TITLES[way],
                    f"{epsilon:g}",
                    f"{loss:.4f}",
                    f"{worst:.4f}",
                    per_cent(read[epsilon]),
                ]
            )
    return Section(
        name="fig1",
        title="Figure 1: the guarantee on adversarial lists",
        setting=(
            f"{first['n_arms']:,} arms with {first['n_rewards']:,} zeros and ones each, means uniform "
            f"in [0, 1]; the same {runs} sets of lists for every δ and ε; K = 1."
        ),
        claims=_claims(found),
        pictures=[
            Picture(
                "fig1",
                "The (1 − δ)-percentile of the loss over the sets of lists, and its mean over δ, which "
                "is what the paper plots. Below the dotted line the promise was kept.",
                picture(found),
            )
        ],
        tables=[
            Table(
                "Loss against ε",
                ("method and order", "ε", "mean over δ of the percentiles", "largest percentile",
                 "rewards pulled"),
                body,
            )
        ],
        notes=[
            ("The paper returns the ones of every arm before its zeros. That is not sampling at random: "
            "neither the theorem of BoundedME nor that of betting speaks of it, and a loss below ε there "
            "is an observation, not a check of the theorem. The uniform order is what both theorems are "
            "about. Betting under the order of ones first is left out, because its bets would be void."),
            ("Under ones first an arm shows min(ones, t) ones after t pulls for every seed, so these "
            "rows are counted and no pull is made; a test compares the count with a search that "
            "makes them. Arms that tie, as most do at first, are kept by the smaller index: a random choice, "
            "because the arms are in no order."),
            ("The percentile is rounded up to one of the losses, so with 20 runs it is the largest for "
            "δ = 0.01 and 0.05."),
        ],
    )  # fmt: skip


def _claims(found: Sequence[Row]) -> list[Claim]:
    measured = []
    for way in WAYS:
        mine = of_way(found, *way)
        if mine:
            lost, searches = broken(mine)
            curve = averages(mine)
            ratio = max(loss / epsilon for epsilon, loss in curve.items())
            measured.append(
                f"{TITLES[way]}: the loss exceeded ε in {lost} of {searches:,} searches; the averaged "
                f"percentile is at most {ratio:.2g} ε."
            )
    return [
        Claim(
            "The (1 − δ)-percentile of the loss, averaged over five δ, is below ε for every ε up to "
            "0.6; this is offered as a check of the theorem.",
            tuple(measured),
        )
    ]
