"""All experiments of the paper: cases, rows, and the report, as separate steps.

Rows are written as they are measured, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from sureshot.experiments import (
    compare,
    fig1,
    fig1_figure,
    fig2,
    fig3,
    fig4,
    report,
    rows,
    synthetic,
    table1,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    from sureshot.experiments.rows import Row
    from sureshot.experiments.section import Section

SCALES = ("small", "paper")


@dataclass(frozen=True, slots=True)
class Experiment:
    """One figure or table of the paper, in four functions.

    Attributes
    ----------
    cases
        A scale, to everything that can be measured.
    measure
        Cases and the folder of data files, to one row for each case, in their order.
    describe
        A row, to a few words.
    section
        Rows, to a part of the report.
    lacking
        The folder of data files, to the data sets and methods that cannot be measured, and why.
    """

    cases: Callable[[str], list[Any]]
    measure: Callable[[Sequence[Any], Path | None], Iterator[Row]]
    describe: Callable[[Row], str]
    section: Callable[[Sequence[Row]], Section]
    lacking: Callable[[Path | None], dict[str, str]] = lambda _folder: {}


EXPERIMENTS = {
    "fig1": Experiment(fig1.cases, fig1.measure, fig1.describe, fig1_figure.section),
    "fig2": Experiment(fig2.cases, synthetic.measure, compare.describe, fig2.section),
    "fig3": Experiment(fig3.cases, synthetic.measure, compare.describe, fig3.section),
    "table1": Experiment(
        table1.cases, synthetic.measure, compare.describe, table1.section, table1.lacking
    ),
    # Last, because it depends on files that may not be what they seem.
    "fig4": Experiment(fig4.cases, fig4.measure, compare.describe, fig4.section, fig4.lacking),
}


@dataclass(frozen=True, slots=True)
class Step:
    """How far a run is: rows there, rows wanted, and the newest of them in words."""

    experiment: str
    done: int
    total: int
    words: str


def rows_file(out: Path, name: str) -> Path:
    """Return where the rows of an experiment are."""
    return out / "rows" / f"{name}.jsonl"


def measure(
    names: Sequence[str],
    scale: str,
    folder: Path | None,
    out: Path,
    again: Collection[str] = (),
) -> Iterator[Step]:
    """Measure what has no row yet, and yield after each row.

    Parameters
    ----------
    names
        Of `EXPERIMENTS`.
    scale
        ``"small"`` or ``"paper"``.
    folder
        Where the files of real data are, if there are any.
    out
        Folder of the rows.
    again
        Curves of which only the rows of this commit count: those of other commits are measured again.
    """
    plan = {name: _possible(EXPERIMENTS[name], scale, folder) for name in names}
    missing = {
        name: rows.missing(cases, _valid(rows.read(rows_file(out, name)), again))
        for name, cases in plan.items()
    }
    total = sum(map(len, plan.values()))
    done = total - sum(map(len, missing.values()))
    for name, wanted in missing.items():
        experiment = EXPERIMENTS[name]
        for row in experiment.measure(wanted, folder):
            rows.append(rows_file(out, name), row)
            done += 1
            yield Step(name, done, total, experiment.describe(row))


def _valid(found: Sequence[Row], again: Collection[str]) -> list[Row]:
    commit = rows.environment()["commit"]
    return [row for row in found if row.get("commit") == commit or rows.curve(row) not in again]


def _possible(experiment: Experiment, scale: str, folder: Path | None) -> list[Any]:
    left_out = experiment.lacking(folder).keys()
    return [
        case
        for case in experiment.cases(scale)
        if not left_out & {getattr(case, "data", ""), case.method}
    ]


def lacking(names: Sequence[str], folder: Path | None) -> list[str]:
    """Return a line for each data set and each method that is left out."""
    return [
        f"{name}: {what} is left out: {reason}"
        for name in names
        for what, reason in EXPERIMENTS[name].lacking(folder).items()
    ]


def check_parts(names: Sequence[str]) -> None:
    """Say what is not installed before hours are spent, by raising `compare.MissingPart`."""
    needed = {"matplotlib": "report", "jinja2": "report"}
    if any(name != "fig1" for name in names):
        needed |= {"sklearn": "baselines", "scipy": "baselines"}
    for package, extra in needed.items():
        if find_spec(package) is None:
            raise compare.MissingPart(
                f"{package} is not installed: pip install 'sureshot[{extra}]', or all that the "
                "experiments may need: pip install 'sureshot[reproduce]'"
            )


def write_report(scale: str, out: Path) -> Path | None:
    """Write the report and its figures from all the rows of a folder, None if it has none."""
    names = list(EXPERIMENTS)
    found = sections(names, scale, out)
    if not found:
        return None
    return report.write(found, scale, environments(names, scale, out), out)


def sections(names: Sequence[str], scale: str, out: Path) -> list[Section]:
    """Return the parts of the report, from the rows alone; an experiment without rows has none."""
    there = {name: reported(name, scale, out) for name in names}
    return [EXPERIMENTS[name].section(mine) for name, mine in there.items() if mine]


def reported(name: str, scale: str, out: Path) -> list[Row]:
    """Return the rows of an experiment that belong to its cases, in their order."""
    return rows.belonging(EXPERIMENTS[name].cases(scale), rows.read(rows_file(out, name)))


def environments(names: Sequence[str], scale: str, out: Path) -> Row:
    """Return versions and machines of all the reported rows: usually one of each."""
    found = [row for name in names for row in reported(name, scale, out)]
    values = {
        key: ", ".join(dict.fromkeys(str(row[key]) for row in found if row.get(key)))
        for key in rows.environment()
    }
    return {key: value for key, value in values.items() if value}
