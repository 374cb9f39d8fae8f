"""The tables and the figure of docs/solvers.md, from rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from measurements.harness import page
from measurements.solvers.cases import COPT, EXACT, ORDERS, OURS, SKLEARN
from sureshot.experiments import drawing, rows

if TYPE_CHECKING:
    from pathlib import Path

    from sureshot.experiments.rows import Row

NAME = "pursuits"
FIGURE = f"![Time of orthogonal matching pursuit against the number of atoms](figures/{NAME}.svg)"
LAYOUTS = {"C": "samples in rows", "F": "atoms in one piece"}
LABELS = {
    OURS: "sureshot",
    EXACT: "sureshot, exact oracle",
    SKLEARN: "scikit-learn, no Gram matrix",
}


def pursuits(found: list[Row]) -> list[str]:
    """Return the table of orthogonal matching pursuit."""
    body = [
        [
            LAYOUTS[row["order"]],
            f"{row['n']:,} × {row['N']:,}",
            *(f"{1e3 * row['seconds'][name]:.0f}" for name in LABELS),
            f"{row['seconds'][SKLEARN] / row['seconds'][OURS]:.2f} ×",
            f"{row['share']:.1%}",
            "yes" if row["same_support"] else "no",
        ]
        for row in found
        if row["task"] == "omp"
    ]
    titles = ["dictionary", "atoms × samples", *(f"{label}, ms" for label in LABELS.values())]
    return page.table([*titles, "ratio", "read, with the scan", "same support"], body)


def minimisers(found: list[Row]) -> list[str]:
    """Return the table of Frank–Wolfe."""
    body = [
        [
            f"{row['structure']}, {row['variant']}",
            f"{row['n']:,} × {row['N']:,}",
            *(_milliseconds(row, name) for name in (OURS, EXACT, COPT)),
            " / ".join(
                str(row["steps"][name]) for name in (OURS, EXACT, COPT) if name in row["steps"]
            ),
            f"{row['seconds'][OURS] / row['seconds'][EXACT]:.2f}",
            f"{row['share']:.1%}",
            f"{max(row['values'].values()) / min(row['values'].values()) - 1:.1e}",
        ]
        for row in found
        if row["task"] == "frank-wolfe"
    ]
    titles = [
        "dictionary, variant",
        "atoms × samples",
        "sureshot, ms",
        "exact oracle, ms",
        "copt, ms",
    ]
    ends = ["steps of each", "cost of the exact oracle", "read, with the scan", "values differ by"]
    return page.table([*titles, *ends], body)


def _milliseconds(row: Row, name: str) -> str:
    return f"{1e3 * row['seconds'][name]:.0f}" if name in row["seconds"] else "–"


def about(found: list[Row]) -> list[str]:
    """Return on what the rows were measured."""
    last = found[-1]
    words = (
        f"{last['threads']} threads on {last['cpu']}; sureshot {last['library']} ({last['library_digest']}); "
        f"seed {last['seed']}."
    )
    return [words]


def picture(found: list[Row]) -> Any:
    """Draw the time of orthogonal matching pursuit against the number of atoms, for each memory order."""
    figure, panels = drawing.grid(NAME, 1, len(ORDERS), 9, 3.8, sharey=True)
    for axes, order in zip(panels[0], ORDERS, strict=True):
        mine = [row for row in found if row["task"] == "omp" and row["order"] == order]
        for (name, label), colour in zip(LABELS.items(), drawing.COLOURS, strict=False):
            axes.plot(
                [row["n"] for row in mine],
                [row["seconds"][name] for row in mine],
                marker="o",
                color=colour,
                label=label,
            )
        axes.set(xscale="log", yscale="log", xlabel="atoms", title=LAYOUTS[order])
    panels[0, 0].set_ylabel("seconds for 20 atoms, with the scan")
    panels[0, 0].legend(frameon=False)
    return figure


TABLES = {
    "solvers about": about,
    "pursuits": lambda found: [*pursuits(found), "", FIGURE],
    "minimisers": minimisers,
}


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the tables into docs/solvers.md, and the rows and the figure beside it."""
    parts = {name: lines(found) for name, lines in TABLES.items()}
    page.rewrite(docs / "solvers.md", parts)
    rows.write(docs / "results" / "solvers.jsonl", found)
    path = docs / "figures" / f"{NAME}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing.svg(NAME, picture(found)), encoding="utf-8")
