"""How many pulls each method needs as N, n, epsilon and delta vary.

``python -m measurements.bandits.run [--small] [--out DIR]`` measures what has no row yet, then makes
the tables and the figure from the rows. An interrupted run goes on where it stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from measurements.bandits import cases, figure, table
from measurements.harness import page
from sureshot.experiments import rows
from sureshot.experiments.numbers import per_cent

if TYPE_CHECKING:
    from measurements.bandits.cases import Sweep


def measure(sweep: Sweep, path: Path) -> None:
    """Write a row for each case that has none."""
    wanted = rows.missing(sweep.cases(), rows.read(path))
    # Cases that search the same lists after each other: the lists are made once.
    wanted.sort(key=lambda case: (case.seed, case.problem, case.n_arms, case.n_rewards))
    for number, case in enumerate(wanted, 1):
        row = cases.measure(case)
        rows.append(path, row)
        click.echo(
            f"{number}/{len(wanted)} n={case.n_arms} N={case.n_rewards} ε={case.epsilon:g} "
            f"δ={case.delta:g} {table.title(case.method, case.replacement)}: "
            f"{per_cent(row['share'])} ({row['kind']})",
            err=True,
        )


def write_tables(sweep: Sweep, path: Path, document: Path) -> None:
    """Put the tables into a page that has marks for them, or make a page of them."""
    parts = table.sections(rows.read(path), sweep)
    if not document.exists():
        document.parent.mkdir(parents=True, exist_ok=True)
        document.write_text(blank_page(list(parts)), encoding="utf-8")
    page.rewrite(document, parts)


def blank_page(names: list[str]) -> str:
    """Return a page of nothing but marks."""
    marks = [f"<!-- begin {name} -->\n<!-- end {name} -->\n" for name in names]
    return "\n".join(["# Pulls\n", *marks])


@click.command()
@click.option("--small", is_flag=True, help="A few small cases: some seconds.")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="Folder: results/bandits.jsonl, figures/bandits.svg and bandits.md in it.",
)
@click.option(
    "--only",
    type=click.Choice(["rows", "tables", "figure"]),
    help="Do this step and no other.",
)
def main(small: bool, out: Path, only: str | None) -> None:
    """Compare the pulls of all methods as N, n, epsilon and delta vary."""
    sweep = cases.SMALL if small else cases.FULL
    path = out / "results" / "bandits.jsonl"
    if only in (None, "rows"):
        measure(sweep, path)
    if only in (None, "tables"):
        write_tables(sweep, path, out / "bandits.md")
    if only in (None, "figure"):
        figure.save(figure.picture(rows.read(path), sweep), out / "figures" / "bandits.svg")


if __name__ == "__main__":
    main()
