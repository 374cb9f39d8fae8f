"""Draws docs/figures/plane.svg: how fast a search is next to the fastest rival, for every size and batch."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from measurements.plane.cases import BATCHES, ROWS, WIDTHS, WORKLOADS
from sureshot.experiments import drawing

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

NAME = "plane"
TITLES = {"gaussian": "Gaussian: no gap, everything is read", "low-rank": "low rank"}
# Ratios beyond these have the same colour.
LARGEST = 20.0


def on_plane(row: Row) -> bool:
    """Return whether a row is of the plane, and not of the small sizes of all metrics."""
    return row["n"] in ROWS and row["N"] in WIDTHS


@drawing.settings(NAME)
def picture(found: list[Row]) -> Any:
    """Draw a square for each size: blue where the library is faster, red where a rival is."""
    figure: Any = Figure(figsize=(10.5, 7), layout="constrained")
    axes = figure.subplots(len(WORKLOADS), len(BATCHES), sharex=True, sharey=True)
    norm, colours = LogNorm(1 / LARGEST, LARGEST), "RdBu"
    for line, workload in zip(axes, WORKLOADS, strict=True):
        for one, batch in zip(line, BATCHES, strict=True):
            ratios = {
                (row["n"], row["N"]): row["ratio"]
                for row in found
                if (row["workload"], row["metric"], row["batch"]) == (workload, "ip", batch)
            }
            values = [[ratios.get((n, N), math.nan) for N in WIDTHS] for n in ROWS]
            image = one.imshow(values, cmap=colours, norm=norm, origin="lower", aspect="auto")
            for y, n in enumerate(ROWS):
                for x, N in enumerate(WIDTHS):
                    if (n, N) in ratios:
                        ratio = ratios[n, N]
                        far = not 1 / 6 < ratio < 6
                        colour = "white" if far else "black"
                        one.text(x, y, f"{ratio:.2g}", ha="center", va="center", color=colour)
            queries = "one query" if batch == 1 else f"{batch:,} queries"
            one.set_title(f"{TITLES[workload]}\n{queries}", loc="left", fontsize=9)
            one.set_xticks(range(len(WIDTHS)), [f"{N:,}" for N in WIDTHS], fontsize=7.5)
            one.set_yticks(range(len(ROWS)), [f"{n:,}" for n in ROWS], fontsize=7.5)
            one.spines[:].set_visible(False)
            one.tick_params(length=0)
            one.set(xlabel="coordinates, N", ylabel="rows, n")
            one.label_outer()
    bar = figure.colorbar(image, ax=axes, shrink=0.7)
    bar.set_label("times as fast as the fastest of numpy, faiss and usearch")
    bar.set_ticks([0.05, 0.2, 0.5, 1, 2, 5, 20], labels=["0.05", "0.2", "0.5", "1", "2", "5", "20"])
    bar.minorticks_off()
    return figure
