"""Draws docs/figures/trust.svg: how often hostile searches were wrong, next to what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from measurements.trust.table import title
from sureshot.experiments import drawing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot.experiments.rows import Row

NAME = "trust"


def picture(found: Sequence[Row]) -> Any:
    """Draw a dot for each method, kind of bounds, metric and order: its worst data, as a share of delta."""
    groups: dict[str, list[float]] = {}
    for row in found:
        name = title(row)
        label = f"{name}, {row['bounds']}" if name == "betting" else name
        share = row["worst_wrong"] / row["worst_trials"] / row["delta"]
        groups.setdefault(label, []).append(share)
    figure, ((axes,),) = drawing.grid(NAME, 1, 1, 8, 0.6 + 0.3 * max(len(groups), 1))
    for place, label in enumerate(groups):
        axes.plot(
            groups[label],
            [place] * len(groups[label]),
            "o",
            color=drawing.COLOURS[0],
            alpha=0.5,
            markersize=5,
        )
    axes.axvline(1.0, color=drawing.COLOURS[2])
    axes.set_yticks(range(len(groups)), list(groups))
    axes.invert_yaxis()
    axes.set_xlim(-0.03, 1.25)
    axes.set_xlabel("share of wrong answers on the worst data, over δ")
    return figure
