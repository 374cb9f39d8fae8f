"""The commands. They call the public API and hand its answers to `tables`, or print JSON."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

import sureshot
from sureshot.cli import demo as demonstration
from sureshot.cli import doctor as examination
from sureshot.cli import tables
from sureshot.cli.inputs import open_array, parse_bounds, told_in_one_line
from sureshot.cli.progress import shown_if_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# An option that is not given is not passed on, so the library's own default holds; the help reads
# it from the signature.
DEFAULTS = {
    name: parameter.default
    for name, parameter in inspect.signature(sureshot.top_k).parameters.items()
}
INTERRUPTED = 130  # what a shell reports for a command stopped with Ctrl-C

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")


def search_option(*names: str, describe: str, **settings: Any) -> Callable[..., Any]:
    """Make an option for the argument of `top_k` that its first name says."""
    default = DEFAULTS[names[0]]
    shown = "" if default is None else f"  [default: {default}]"
    return click.option(*names, default=None, help=describe + shown, **settings)


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
    """Find the best rows of a huge matrix without an index, and say how sure the answer is.

    New here? Run "sureshot demo".
    """


@cli.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("query", type=click.Path(path_type=Path))
@search_option("k", "-k", type=int, describe="How many rows to return.")
@search_option(
    "metric",
    "--metric",
    describe="What makes a row good: ip (inner product, largest first), cosine (largest first), "
    "sqeuclidean or l1 (distances, smallest first).",
)
@search_option(
    "epsilon",
    "--epsilon",
    type=float,
    describe="Allowed loss, in the units of the scores: how much worse than the true k-th best "
    "the last returned row may be. 0 asks for the exact top k.",
)
@search_option(
    "delta",
    "--delta",
    type=float,
    describe="Allowed probability of missing that, for each query; 0.05 is one in twenty.",
)
@search_option(
    "bounds",
    "--bounds",
    metavar="LOW,HIGH",
    callback=parse_bounds,
    describe="Limits that every number in DATA is known to keep, in the units of DATA, such as "
    "-1,1. A number met outside stops the search.",
)
@search_option(
    "method",
    "--method",
    describe="How to search: exact reads everything, bounded-me halves the rows round by round "
    "and needs --bounds. A wrong name lists all that are known.",
)
@search_option(
    "rng",
    "--seed",
    type=int,
    metavar="INTEGER",
    describe="Seed of the random order in which columns are read; the same seed gives the same "
    "answer. Not given: a new order each time.",
)
@search_option(
    "threads",
    "--threads",
    type=int,
    describe="How many threads to use. Not given: all. The answer never depends on it.",
)
@json_option
def search(data: Path, query: Path, as_json: bool, **options: Any) -> None:
    """Find the rows of DATA that are best for QUERY.

    DATA is a .npy file of shape (rows, columns). It is mapped, not loaded, so it may be larger than
    memory. QUERY is a .npy file of shape (columns,), or (queries, columns) for several queries.
    """
    given = {name: value for name, value in options.items() if value is not None}
    rows, queries = open_array(data), open_array(query)
    how_many = len(queries) if queries.ndim > 1 else 1
    with told_in_one_line(), shown_if_slow(rows.size, how_many) as progress:
        result = sureshot.top_k(rows, queries, **given, progress=progress)
    if as_json:
        used = {name: given.get(name, DEFAULTS[name]) for name in options}
        used["seed"] = used.pop("rng")
        files = {"data": str(data), "query": str(query)}
        print_json({"parameters": files | used, **result.to_dict()})
    else:
        tables.print_result(result)


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
    """Compare sureshot with numpy on made-up data, here and now.

    Makes a matrix of low rank plus noise (800 MB unless told otherwise), asks numpy and sureshot
    for the same top 10, and shows what each read, how long it took and how many were right.
    """
    console = Console(stderr=True)
    with told_in_one_line(), console.status("making the data") as status:
        example = demonstration.make_example(rows, columns, seed)
        lines = demonstration.compare(example, seed, status.update)
    if as_json:
        used = {"rows": rows, "columns": columns, "seed": seed, "k": demonstration.K}
        known = {"bounds": example.bounds, "epsilon": example.epsilon}
        print_json({"parameters": used | known, "methods": [line.to_dict() for line in lines]})
    else:
        tables.print_demo(example, lines)


@cli.command()
@json_option
def doctor(as_json: bool) -> None:
    """Show versions, what the processor offers, and which extras are installed."""
    found = examination.examine()
    if as_json:
        print_json(found)
    else:
        tables.print_examination(found)


def print_json(content: Mapping[str, Any]) -> None:
    """Print one line of JSON on stdout."""
    click.echo(json.dumps(content))
