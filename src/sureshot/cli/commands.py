"""The commands. They call the public API and print its answers as tables or as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from rich.console import Console

import sureshot
from sureshot.cli import comparison, picture, tables
from sureshot.cli import demo as demonstration
from sureshot.cli import doctor as examination
from sureshot.cli import scan as scanning
from sureshot.cli.inputs import (
    InputError,
    load_bounds,
    open_array,
    open_rewards,
    reported_in_one_line,
)
from sureshot.cli.options import (
    BEST_DEFAULTS,
    DEFAULTS,
    best_options,
    json_option,
    name_option,
    plot_option,
    search_options,
)
from sureshot.cli.progress import shown_each_round, shown_if_slow
from sureshot.cli.reproduction import follow
from sureshot.experiments import reproduce as reproduction
from sureshot.experiments.answers import InvalidAnswer
from sureshot.experiments.compare import MissingPart
from sureshot.experiments.sets import UnreadableData
from sureshot.experiments.speed_up import STYLES

if TYPE_CHECKING:
    from collections.abc import Mapping

INTERRUPTED = 130  # what a shell reports for a command stopped with Ctrl-C


class Commands(click.Group):
    """The group of all commands: Ctrl-C ends any of them with one line."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("sureshot: interrupted", err=True)
            ctx.exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(sureshot.__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Find the best rows of a huge matrix without an index, with a guarantee.

    To see an example, run "sureshot demo".
    """


@cli.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("query", type=click.Path(path_type=Path))
@name_option
@search_options
@plot_option
@json_option
def search(
    data: Path, query: Path, name: str | None, plot: Path | None, as_json: bool, **options: Any
) -> None:
    """Find the rows of DATA that are best for QUERY.

    DATA is a file of numpy, safetensors, HDF5 or Arrow, or a folder of zarr, of shape (rows, columns). It is
    not loaded, so it may be larger than memory. QUERY is a .npy file of shape (columns,), or (queries, columns) for several queries.

    With --json, "rounds" has the rounds of a single query; for several queries, "queries" has the
    answer, certificate, work and rounds of each.
    """
    if plot is not None:
        picture.check_path(plot)
    given = {name: value for name, value in options.items() if value is not None}
    rows, queries = open_array(data, name), open_array(query)
    how_many = len(queries) if queries.ndim > 1 else 1
    bounds = given.get("bounds")
    known: dict[str, Any] = {"bounds": load_bounds(bounds)} if isinstance(bounds, Path) else {}
    if "row_scale" in given:
        known["row_scale"] = open_array(given["row_scale"])
    with reported_in_one_line(), shown_if_slow(rows.nbytes // rows.itemsize, how_many) as progress:
        result = sureshot.top_k(rows, queries, **(given | known), progress=progress)
    if as_json:
        used = {name: given.get(name, DEFAULTS[name]) for name in options}
        used["seed"] = used.pop("rng")
        files = {"data": data, "query": query}
        print_json({"parameters": files | used, **result.to_dict()})
    else:
        tables.print_result(result)
    if plot is not None:
        picture.draw(result, plot)


@cli.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("out", metavar="[OUT.npz]", required=False, type=click.Path(path_type=Path))
@name_option
@click.option("--threads", type=int, default=None, help="How many threads to use. Not given: all.")
@click.option("--overwrite", is_flag=True, help="Replace OUT.npz even if it is not a scan.")
@json_option
def scan(
    data: Path,
    out: Path | None,
    name: str | None,
    threads: int | None,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Read DATA once, find its bounds, and store them in OUT.npz.

    DATA is a file of numpy, safetensors, HDF5 or Arrow, or a folder of zarr, of shape (rows, columns). It is
    not loaded, so it may be larger than memory. Every later search with --bounds OUT.npz has an
    unconditional guarantee, and mostly reads less. Once DATA has changed, its bounds are refused. A scan
    that was stopped goes on where it was.

    Without OUT.npz the bounds are stored beside DATA: those of data.npy in data.bounds.npz. An older
    scan is replaced, another file is not.
    """
    out = out or sureshot.Bounds.beside(data)
    scanning.check_output(out, overwrite=overwrite)
    rows = open_array(data, name)
    found = scanning.scan(rows, data.name, out, threads)
    if as_json:
        print_json({"data": data, "out": out, **found.to_dict()})
    else:
        tables.print_scan(found, data, out)


@cli.command()
@click.argument("rewards", metavar="REWARDS", type=click.Path(path_type=Path))
@best_options
@click.option(
    "--price",
    type=click.FloatRange(min=0),
    default=None,
    metavar="NUMBER",
    help="What one reward costs, in any currency: shows what the search would have cost and saved.",
)
@click.option(
    "--progress",
    "every_round",
    is_flag=True,
    help="Print a line for every round on stderr: how many arms are undecided, what was read, and, with "
    "betting and up to 512 arms, the certificate so far. Not given: only on a terminal, if it takes long.",
)
@plot_option
@json_option
def best(
    rewards: Path,
    price: float | None,
    every_round: bool,
    plot: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Find the rows of REWARDS with the largest means.

    REWARDS is a .npy file of shape (arms, rewards), for example whether each model was right on each
    example. It is mapped, not loaded, and only the rewards that the search needs are read.

    The best model, up to 0.01 in accuracy, with probability 95 %:
    sureshot best right.npy --epsilon 0.01
    """
    if plot is not None:
        picture.check_path(plot)
    given = {name: value for name, value in options.items() if value is not None}
    table = open_rewards(rewards)
    shown = shown_each_round if every_round else shown_if_slow
    with reported_in_one_line(), shown(table.size, 1) as progress:
        result = sureshot.best_arms(
            lambda arms, coordinates: table[np.ix_(arms, coordinates)],
            *table.shape,
            **given,
            progress=progress,
        )
    if as_json:
        used = {name: given.get(name, BEST_DEFAULTS[name]) for name in options}
        used["seed"] = used.pop("rng")
        print_json({"parameters": {"rewards": rewards, **used}, **result.to_dict()})
    else:
        tables.print_best(result, table.size, price)
    if plot is not None:
        picture.draw(result, plot)


@cli.command()
@click.option(
    "--rows",
    type=click.IntRange(min=demonstration.K),
    default=4_000,
    show_default=True,
    help="Rows of the data.",
)
@click.option(
    "--columns",
    type=click.IntRange(min=1),
    default=50_000,
    show_default=True,
    help="Numbers in each row. The data takes 4 bytes times rows times columns.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Seed of the data and of the searches.",
)
@json_option
def demo(rows: int, columns: int, seed: int, as_json: bool) -> None:
    """Compare sureshot with numpy on synthetic data.

    Makes a matrix of low rank plus noise (800 MB by default), finds its top 10 for a query with numpy
    and with sureshot, and shows what each has read, how long it took and how many rows were right.
    """
    console = Console(stderr=True)
    with reported_in_one_line(), console.status("making the data") as status:
        example = demonstration.make_example(rows, columns, seed)
        lines = demonstration.compare(example, seed, status.update)
    if as_json:
        used = {"rows": rows, "columns": columns, "seed": seed, "k": demonstration.K}
        known = {"bounds": example.bounds}
        print_json({"parameters": used | known, "methods": [line.to_dict() for line in lines]})
    else:
        comparison.print_demo(example, lines)


@cli.command()
@click.argument("what", type=click.Choice([*sorted(reproduction.EXPERIMENTS), "all"]))
@click.option(
    "--scale",
    type=click.Choice(reproduction.SCALES),
    default="small",
    show_default=True,
    help="small: smaller data and fewer settings, about a minute for everything. paper: the paper's "
    "sizes, 10,000 rows of 100,000 numbers, which are 4 GB; takes an hour and a half.",
)
@click.option(
    "--data",
    "folder",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=None,
    help="Folder with the files of real data for fig4: ratings of Netflix, Yahoo! Music or MovieLens as "
    "they are published, images_fashion_mnist.npz. Missing files are left out, with a message.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Folder for rows, figures and report.html.  [default: results/reproduce-SCALE]",
)
@click.option(
    "--again",
    multiple=True,
    type=click.Choice(list(STYLES)),
    help="Measure this curve of Figures 2 to 4 again, unless its rows are of this commit; the others keep "
    "their rows. May be given several times.",
)
def reproduce(
    what: str, scale: str, folder: Path | None, out: Path | None, again: tuple[str, ...]
) -> None:
    """Repeat the experiments of the paper, and write a report.

    fig1 to fig4 and table1 are those of the paper. Every measurement is stored as a row of JSON at once:
    after Ctrl-C the same command continues, and when all rows exist it only writes the report again.
    """
    names = list(reproduction.EXPERIMENTS) if what == "all" else [what]
    out = out or Path("results") / f"reproduce-{scale}"
    try:
        reproduction.check_parts(names)
    except MissingPart as error:
        raise InputError(str(error)) from error
    for line in reproduction.lacking(names, folder):
        click.echo(line, err=True)
    try:
        measured = follow(reproduction.measure(names, scale, folder, out, again))
    except (MissingPart, UnreadableData, InvalidAnswer) as error:
        reproduction.write_report(scale, out)  # of the rows so far
        raise InputError(f"{error}. The rows so far are in {out / 'rows'}") from error
    except KeyboardInterrupt:
        click.echo(f"the rows so far are in {out / 'rows'}: the same command continues", err=True)
        raise
    page = reproduction.write_report(scale, out)
    if page is None:
        raise InputError("there is nothing to report: all data sets of this figure were left out")
    click.echo(f"{measured:,} new rows in {out / 'rows'}. Report: {page}")


@cli.command()
@json_option
def doctor(as_json: bool) -> None:
    """Show versions, instruction sets, threads and installed extras."""
    found = examination.examine()
    if as_json:
        print_json(found)
    else:
        tables.print_examination(found)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one line of JSON on stdout, paths as they were given."""
    click.echo(json.dumps(content, default=str))
