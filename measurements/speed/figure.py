"""Draws docs/figures/speed.svg: speed next to numpy by workload and bounds, and growth with size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from sureshot.experiments import drawing

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

NAME = "speed"
BOUNDS = {
    "scan": ("scan made beforehand", "#0072B2"),
    "limits": ("limits of the values", "#E69F00"),
    "none": ("no bounds", "#999999"),
    "unit": ('bounds="unit"', "#009E73"),
}
ORDERS = {"row": "row-major", "coordinate": "coordinate-major"}
SIDES = {
    "sureshot": ("sureshot, scan made beforehand", "#0072B2"),
    "numpy": ("numpy", "#D55E00"),
    "faiss": ("faiss.knn", "#CC79A7"),
    "usearch": ("usearch, exact", "#56B4E9"),
}
# The workloads that are searched with more and more coordinates.
WIDENED = {"low-rank": "#0072B2", "fashion-gradients": "#D55E00"}


@drawing.settings(NAME)
def picture(found: list[Row], taller: list[Row], wider: list[Row]) -> Any:
    """Draw searches with k = 10 by workload, and those that grow with n and with N."""
    figure: Any = Figure(figsize=(10.5, 12), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[2.2, 1], hspace=0.03)
    for axes, order in zip(above.subplots(1, 2, sharex=True), ORDERS, strict=True):
        draw_bars(axes, [row for row in found if row["order"] == order])
        axes.set_title(f"{ORDERS[order]}, k = 10", loc="left", fontweight="bold")
    handles, labels = legend_of_bars(found)
    above.legend(handles, labels, loc="outside upper center", ncols=4, frameon=False)
    left, right = below.subplots(1, 2)
    of_rows = [row for row in taller if row["order"] == "row"]
    for axes, draw, rows in ((left, draw_times, of_rows), (right, draw_ratios, wider)):
        if rows:
            draw(axes, rows)
            axes.legend(frameon=False, fontsize=7.5)
        else:  # not measured yet
            axes.remove()
    return figure


def draw_bars(axes: Any, rows: list[Row]) -> None:
    """Draw one group of bars per workload, one bar per kind of bounds, from 1 to the ratio."""
    names = list(dict.fromkeys(row["workload"] for row in rows))
    for place, name in enumerate(names):
        mine = {row["bounds"]: row["ratios"]["numpy"] for row in rows if row["workload"] == name}
        height = 0.8 / len(mine)
        kinds = [kind for kind in BOUNDS if kind in mine]
        for number, kind in enumerate(kinds):
            ratio = mine[kind]
            at = place + (number - (len(kinds) - 1) / 2) * height
            axes.barh(at, ratio - 1, 0.9 * height, left=1, color=BOUNDS[kind][1])
            faster = ratio >= 1
            axes.annotate(
                f"{ratio:.2g}",
                (ratio, at),
                (3 if faster else -3, 0),
                textcoords="offset points",
                va="center",
                ha="left" if faster else "right",
                fontsize=7.5,
                color="0.3",
            )
    axes.axvline(1, color="0.3", lw=1)
    axes.set(xscale="log", xlabel="times as fast as numpy (1: the same)")
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.margins(x=0.15)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(axis="x", which="major", color="0.9")
    axes.set_axisbelow(True)
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)


def legend_of_bars(rows: list[Row]) -> tuple[list[Any], list[str]]:
    """Return the handles and the labels of the kinds of bounds that were measured."""
    there = [kind for kind in BOUNDS if any(row["bounds"] == kind for row in rows)]
    return [Patch(color=BOUNDS[kind][1]) for kind in there], [BOUNDS[kind][0] for kind in there]


def draw_times(axes: Any, rows: list[Row]) -> None:
    """Draw the time of each side against n, with a band between the quartiles."""
    for name, (title, colour) in SIDES.items():
        mine = [row for row in rows if name in row["seconds"]]
        if not mine:
            continue
        x = [row["n"] for row in mine]
        y = 1e3 * np.array([row["seconds"][name] for row in mine])
        axes.plot(x, y, "o-", color=colour, label=title, lw=1.8, ms=4)
        low, high = 1e3 * np.array([row["quartiles"][name] for row in mine]).T
        axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
    axes.set_title(f"low-rank, row-major, N = {rows[0]['N']:,}", loc="left", fontweight="bold")
    axes.set_ylabel("milliseconds per query")
    _scale(axes, "rows, n", [row["n"] for row in rows])


def draw_ratios(axes: Any, rows: list[Row]) -> None:
    """Draw how many times as fast as numpy a search is against N, and how many it could be."""
    for name, colour in WIDENED.items():
        mine = [row for row in rows if row["workload"] == name]
        if not mine:
            continue
        x = [row["N"] for row in mine]
        reached = [row["ratios"]["numpy"] for row in mine]
        possible = [row["seconds"]["numpy"] / row["floor_seconds"] for row in mine]
        axes.plot(x, reached, "o-", color=colour, label=name, lw=1.8, ms=4)
        axes.plot(x, possible, "o--", color=colour, label=f"{name}, the floor", lw=1.2, ms=3)
    axes.set_title(f"row-major, scan, n = {rows[0]['n']:,}", loc="left", fontweight="bold")
    axes.set_ylabel("times as fast as numpy")
    _scale(axes, "coordinates, N", [row["asked_N"] for row in rows])


def _scale(axes: Any, label: str, sizes: list[int]) -> None:
    ticks = sorted(set(sizes))
    axes.set(xscale="log", yscale="log", xlabel=label)
    axes.set_xticks(ticks, [f"{size:,}" for size in ticks])
    axes.minorticks_off()
    axes.yaxis.set_major_formatter("{x:g}")
    drawing.tidy(axes)
