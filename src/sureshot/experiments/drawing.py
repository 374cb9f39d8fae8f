"""What all figures share: colours, text that stays text, files without a date."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

# Colours that people with any colour vision tell apart (Okabe and Ito).
COLOURS = (
    "#0072B2",
    "#000000",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#7F7F7F",
    "#8C510A",
)


@contextmanager
def settings(name: str) -> Iterator[None]:
    """Draw a figure of this name with the settings that all figures have."""
    import matplotlib as mpl  # noqa: PLC0415 - an extra

    # The salt makes the ids in the file the same each time, and others than in other figures.
    with mpl.rc_context({"font.size": 10, "svg.fonttype": "none", "svg.hashsalt": name}):
        yield


def grid(name: str, rows: int, columns: int, width: float, height: float, **more: Any) -> Any:
    """Return an empty figure and its axes, shape (rows, columns)."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - an extra

    with settings(name):
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots(rows, columns, squeeze=False, **more)
    for one in axes.flat:
        tidy(one)
    return figure, axes


def tidy(axes: Any) -> None:
    """Draw faint lines behind the data, and no frame above and to the right of it."""
    axes.grid(which="major", color="0.92")
    axes.spines[["top", "right"]].set_visible(False)


def svg(name: str, figure: Any) -> str:
    """Return a figure as SVG; the same rows give the same text with the same matplotlib."""
    written = io.StringIO()
    with settings(name):
        figure.savefig(written, format="svg", metadata={"Date": None})
    lines = (line.rstrip() for line in written.getvalue().splitlines())
    return "\n".join(lines) + "\n"
