"""The figure of the comparison of pulls, from its rows."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

from sureshot.experiments.pulls_cases import COMPARED, VARIED
from sureshot.experiments.pulls_table import of_method, of_point

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sureshot.experiments.pulls_cases import Plan
    from sureshot.experiments.rows import Row

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


def picture(found: Sequence[Row], plan: Plan) -> Any:
    """Draw the share of pulls against each of the things that are varied."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra
    from matplotlib.figure import Figure  # noqa: PLC0415
    from matplotlib.lines import Line2D  # noqa: PLC0415

    mpl.rcParams.update({"font.size": 10, "svg.hashsalt": "sureshot"})
    figure = Figure(figsize=(10, 7.6), layout="constrained")
    panels = figure.subplots(2, 2, sharey=True)
    for axes, varied in zip(panels.flat, VARIED, strict=True):
        for method, replacement in COMPARED:
            _line(axes, found, plan, varied, method, replacement)
        axes.axhline(1, color="0.4", lw=1.2, ls=":", zorder=0)
        axes.set(xscale="log", yscale="log", xlabel=LABELS[varied])
        axes.grid(which="major", color="0.92")
        axes.spines[["top", "right"]].set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel("pulls, as a share of n·N")
    base = plan.base
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
    axes: Any, found: Sequence[Row], plan: Plan, varied: str, method: str, replacement: bool
) -> None:
    points = []
    for value in getattr(plan, varied):
        mine = of_method(of_point(found, plan.base, varied, value), method, replacement)
        if mine:
            points.append((value, fmean(row["share"] for row in mine)))
    style = {"ls": "--" if replacement else "-", "lw": 2.4 if method == "betting" else 1.6}
    axes.plot(*zip(*points, strict=True), "o", color=COLOURS[method], ms=3.5, **style)


def save(figure: Any, path: Path) -> None:
    """Write the figure, without the date, so that the same rows give the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
