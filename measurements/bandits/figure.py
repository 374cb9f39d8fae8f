"""The figure of the pulls of each bandit, from the rows."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from measurements.bandits.cases import COMPARED, VARIED
from measurements.bandits.table import of_method, of_point
from sureshot.experiments import drawing

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from measurements.bandits.cases import Sweep
    from sureshot.experiments.rows import Row

NAME = "bandits"
COLOURS = {
    "median-elimination": "#D55E00",
    "bounded-me": "#000000",
    "successive-elimination": "#E69F00",
    "lucb": "#009E73",
    "lil-ucb": "#CC79A7",
    "betting": "#0072B2",
}
LABELS = {
    "n_rewards": "rewards per arm, N",
    "n_arms": "arms, n",
    "epsilon": "allowed loss, ε",
    "delta": "allowed failures, δ",
}


def picture(found: Sequence[Row], sweep: Sweep) -> Any:
    """Draw the share of pulls against each of the things that are varied."""
    figure, panels = drawing.grid(NAME, 2, 2, 10, 7.6, sharey=True)
    for axes, varied in zip(panels.flat, VARIED, strict=True):
        for method, replacement in COMPARED:
            _line(axes, found, sweep, varied, method, replacement)
        axes.axhline(1, color="0.4", lw=1.2, ls=":", zorder=0)
        axes.set(xscale="log", yscale="log", xlabel=LABELS[varied])
    for axes in panels[:, 0]:
        axes.set_ylabel("pulls, as a share of n·N")
    base = sweep.base
    figure.suptitle(
        f"Pulls to find the best of n lists of zeros and ones; unless varied n = {base.n_arms:,}, "
        f"N = {base.n_rewards:,}, ε = {base.epsilon:g}, δ = {base.delta:g}",
        fontsize=10,
    )
    handles = [Line2D([], [], color=colour, lw=2, label=name) for name, colour in COLOURS.items()]
    handles.append(Line2D([], [], color="0.3", lw=1.4, ls="--", label="with replacement"))
    handles.append(Line2D([], [], color="0.3", lw=1.4, label="without replacement"))
    handles.append(Line2D([], [], color="0.4", lw=1.2, ls=":", label="everything once"))
    figure.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False)
    return figure


def _line(
    axes: Any, found: Sequence[Row], sweep: Sweep, varied: str, method: str, replacement: bool
) -> None:
    points = []
    for value in getattr(sweep, varied):
        mine = of_method(of_point(found, sweep.base, varied, value), method, replacement)
        if mine:
            points.append((value, fmean(row["share"] for row in mine)))
    style = {"ls": "--" if replacement else "-", "lw": 2.4 if method == "betting" else 1.6}
    axes.plot(*zip(*points, strict=True), "o", color=COLOURS[method], ms=3.5, **style)


def save(figure: Any, path: Path) -> None:
    """Write the figure as SVG."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing.svg(NAME, figure), encoding="utf-8")
