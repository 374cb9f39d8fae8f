"""Draws docs/figures/flipped-labels.svg: what full gradients and projections find, and what they take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sureshot.experiments import drawing

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

NAME = "flipped-labels"
PANELS = (
    ("kept", "of the true top 10, kept (%)"),
    ("precision", "of the 10, wrong labels (%)"),
    ("milliseconds", "milliseconds a query"),
)


def picture(found: list[Row]) -> Any:
    """Draw a bar for each way to search and each of three numbers."""
    figure, axes = drawing.grid(NAME, 1, len(PANELS), 10.5, 3.2)
    names = list(dict.fromkeys(row["by"] for row in found))
    places = {name: place for place, name in enumerate(reversed(names))}
    with drawing.settings(NAME):
        for one, (key, title) in zip(axes[0], PANELS, strict=True):
            for unit_norm in (False, True):
                some = [row for row in found if row["unit_norm"] == unit_norm]
                factor = 1.0 if key == "milliseconds" else 100.0
                one.barh(
                    [places[row["by"]] + (-0.2 if unit_norm else 0.2) for row in some],
                    [factor * row[key] for row in some],
                    height=0.38,
                    color=drawing.COLOURS[2 if unit_norm else 0],
                    label="directions" if unit_norm else "inner products",
                )
            if key == "milliseconds":
                one.set_xscale("log")
                one.set_xlim(left=0.1)
            if key == "precision":
                one.axvline(100 * found[0]["chance"], color="0.3", linewidth=1, linestyle=":")
            one.set_title(title, loc="left", fontsize=9.5)
            one.set_yticks(list(places.values()), list(places))
            one.label_outer()
        axes[0, -1].legend(fontsize=8)
    return figure
