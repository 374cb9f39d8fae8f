"""Draws docs/figures/gpu.svg: how many times as fast as torch a search on a card is, by data set, size and type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from sureshot.experiments import drawing

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

NAME = "gpu"
# Of most data sets.
COLUMNS = 100_000
COLOURS = {
    "low rank": "#0072B2",
    "unit": "#009E73",
    "gradients": "#D55E00",
    "planted": "#CC79A7",
    "gaussian": "#999999",
}
LINES = {"float32": "o-", "bfloat16": "s--"}


@drawing.settings(NAME)
def picture(found: list[Row]) -> Any:
    """Draw single queries on the left and batches on the right, of rows of the usual width."""
    found = [row for row in found if row["columns"] == COLUMNS]
    figure: Any = Figure(figsize=(10, 4.2), layout="constrained")
    batches = sorted({row["batch"] for row in found})
    for axes, batch in zip(
        figure.subplots(1, len(batches), squeeze=False)[0], batches, strict=True
    ):
        draw(axes, [row for row in found if row["batch"] == batch])
        title = "one query" if batch == 1 else f"{batch} queries together"
        axes.set_title(title, loc="left", fontweight="bold")
    return figure


def draw(axes: Any, found: list[Row]) -> None:
    """Draw a line for each data set and type against the size of the data."""
    for name, colour in COLOURS.items():
        for dtype, line in LINES.items():
            mine = [row for row in found if (row["set"], row["dtype"]) == (name, dtype)]
            mine.sort(key=lambda row: float(row["gigabytes"]))
            if mine:
                size = [row["gigabytes"] for row in mine]
                ratio = [row["torch_wall"] / row["wall"] for row in mine]
                axes.plot(size, ratio, line, color=colour, label=f"{name}, {dtype}", lw=1.8, ms=4)
    axes.axhline(1, color="0.3", lw=1)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="GB of data",
        ylabel="times as fast as torch, by the clock",
    )
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:g}")
    axes.grid(which="major", color="0.9")
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7.5)
