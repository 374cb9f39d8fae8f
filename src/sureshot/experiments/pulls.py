"""How many pulls each method needs as N, n, epsilon and delta vary.

``python -m sureshot.experiments.pulls [--small] [--out DIR]`` measures what has no row yet, then makes
the tables and the figure from the rows. An interrupted run goes on where it stopped.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sureshot.experiments import page, pulls_cases, pulls_figure, pulls_table, rows

if TYPE_CHECKING:
    from sureshot.experiments.pulls_cases import Plan


def measure(plan: Plan, path: Path) -> None:
    """Write a row for each case that has none."""
    wanted = rows.missing(plan.cases(), rows.read(path))
    # Cases that search the same lists after each other: the lists are made once.
    wanted.sort(key=lambda case: (case.seed, case.problem, case.n_arms, case.n_rewards))
    for number, case in enumerate(wanted, 1):
        row = pulls_cases.measure(case)
        rows.append(path, row)
        click.echo(
            f"{number}/{len(wanted)} n={case.n_arms} N={case.n_rewards} ε={case.epsilon:g} "
            f"δ={case.delta:g} {pulls_table.title(case.method, case.replacement)}: "
            f"{page.per_cent(row['share'])} ({row['kind']})",
            err=True,
        )


def write_tables(plan: Plan, path: Path, document: Path) -> None:
    """Put the tables into a page that has marks for them, or make a page of them."""
    parts = pulls_table.sections(rows.read(path), plan)
    text = document.read_text(encoding="utf-8") if document.exists() else blank_page(list(parts))
    for name, lines in parts.items():
        text = page.insert(text, name, lines)
    document.parent.mkdir(parents=True, exist_ok=True)
    document.write_text(text, encoding="utf-8")


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
    help="Folder: results/pulls.jsonl, figures/bandit-pulls.svg and bandits.md in it.",
)
@click.option(
    "--only",
    type=click.Choice(["rows", "tables", "figure"]),
    help="Do this step and no other.",
)
def main(small: bool, out: Path, only: str | None) -> None:
    """Compare the pulls of all methods as N, n, epsilon and delta vary."""
    plan = pulls_cases.SMALL if small else pulls_cases.FULL
    path = out / "results" / "pulls.jsonl"
    if only in (None, "rows"):
        measure(plan, path)
    if only in (None, "tables"):
        write_tables(plan, path, out / "bandits.md")
    if only in (None, "figure"):
        figure = pulls_figure.picture(rows.read(path), plan)
        pulls_figure.save(figure, out / "figures" / "bandit-pulls.svg")


if __name__ == "__main__":
    main()
