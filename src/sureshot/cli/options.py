"""The options of ``sureshot search`` and ``best``: the arguments of the library."""

from __future__ import annotations

import inspect
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import sureshot
from sureshot.cli.inputs import parse_bounds, parse_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def _defaults(function: Callable[..., Any]) -> dict[str, Any]:
    parameters = inspect.signature(function).parameters
    return {name: parameter.default for name, parameter in parameters.items()}


# An option that is not given is not passed on, so the library's own default holds; the help reads
# it from the signature.
DEFAULTS = _defaults(sureshot.top_k)
BEST_DEFAULTS = _defaults(sureshot.best_arms)

name_option = click.option(
    "--name",
    default=None,
    help="Which tensor, dataset, array or column of DATA to use. Not given: the only matrix.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")
plot_option = click.option(
    "--plot",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE",
    help="Draw the elimination into this file, .png, .svg or .pdf: how many arms were still read, and "
    "how many undecided, as numbers were read. Needs matplotlib.",
)


def _option(
    *names: str, describe: str, defaults: dict[str, Any] = DEFAULTS, **settings: Any
) -> Callable[..., Any]:
    """Make an option for the argument of the library that has its first name."""
    default = defaults[names[0]]
    if default is inspect.Parameter.empty:
        return click.option(*names, required=True, help=describe, **settings)
    if isinstance(default, tuple):  # as it would be given here
        default = ",".join(f"{end:g}" for end in default)
    shown = "" if default is None else f"  [default: {default}]"
    return click.option(*names, default=None, help=describe + shown, **settings)


SEARCH_OPTIONS = (
    _option("k", "-k", type=int, describe="How many rows to return."),
    _option(
        "metric",
        "--metric",
        describe="How rows are ranked: ip (inner product, largest first), abs-ip (its absolute "
        "value), cosine (largest first), sqeuclidean or l1 (distances, smallest first). A cosine "
        "needs the norms of the rows: --bounds FILE has them, otherwise all rows are read.",
    ),
    _option(
        "epsilon",
        "--epsilon",
        type=float,
        describe="Allowed loss, in the units of the scores: how much worse than the true k-th "
        "best the last returned row may be. 0 asks for the exact top k.",
    ),
    _option(
        "delta",
        "--delta",
        type=float,
        describe="Allowed probability of a larger loss, for each query; 0.05 is one in twenty.",
    ),
    _option(
        "bounds",
        "--bounds",
        metavar="LOW,HIGH|unit|scan|FILE",
        callback=parse_bounds,
        describe="What is known about DATA, which the guarantee assumes. LOW,HIGH: limits of "
        "all numbers, such as -1,1. unit: no row has a norm above 1. scan: find the limits by reading "
        'DATA once now. FILE: a scan that "sureshot scan" has stored. With any of these the '
        "guarantee is unconditional as long as they are true, and a number outside stops the "
        "search. Not given: integers have the limits of their type, distances and cosines need "
        "none, and for inner products of floats the guarantee has a condition, which the "
        "certificate states.",
    ),
    _option(
        "method",
        "--method",
        describe="How to search. betting reads until the guarantee is reached. bounded-me decides "
        "what to read from epsilon and delta before it sees the data, and needs limits or a scan "
        "as --bounds. exact reads everything. The bandits of the literature also need limits or a "
        "scan: lucb; median-elimination, successive-elimination, lil-ucb and exponential-gap with "
        "-k 1; successive-rejects, and successive-halving with -k 1, spend --budget and have no "
        "guarantee. An unknown name lists all methods.",
    ),
    _option(
        "replacement",
        "--with-replacement/--without-replacement",
        describe="Whether a bandit of the literature may read a number again. Not given: as it "
        "was published, with replacement.",
    ),
    _option(
        "budget",
        "--budget",
        type=float,
        metavar="SHARE",
        describe="Stop after reading this share of DATA, such as 0.01, for each query. The "
        "certificate then reports the epsilon proved. Reading the returned rows may come on top. "
        "Not with bounded-me and exact.",
    ),
    _option(
        "budget_seconds",
        "--budget-seconds",
        type=float,
        metavar="SECONDS",
        describe="Stop after this time, for each query; otherwise like --budget.",
    ),
    _option(
        "row_scale",
        "--row-scale",
        type=click.Path(path_type=Path),
        metavar="FILE",
        describe="A .npy file of shape (rows,) with a factor above 0 for each row of DATA: the score "
        "is the inner product times it. With ip and abs-ip.",
    ),
    _option(
        "rng",
        "--seed",
        type=int,
        metavar="INTEGER",
        describe="Seed of the random order in which columns are read; the same seed gives the "
        "same answer. Not given: a new order each time.",
    ),
    _option(
        "threads",
        "--threads",
        type=int,
        describe="How many threads to use. Not given: all. The answer does not depend on it.",
    ),
    _option(
        "block",
        "--block",
        type=int,
        describe="How many consecutive columns to read together, for experiments. Not given: "
        "chosen by the layout of DATA. The guarantee is the same for every value.",
    ),
)


_best_option = partial(_option, defaults=BEST_DEFAULTS)

BEST_OPTIONS = (
    _best_option("k", "-k", type=int, describe="How many arms to return."),
    _best_option(
        "epsilon",
        "--epsilon",
        type=float,
        describe="Allowed loss in the mean reward: how much worse than the true k-th best the last "
        "returned arm may be. 0 asks for the exact top k.",
    ),
    _best_option(
        "delta",
        "--delta",
        type=float,
        describe="Allowed probability of a larger loss; 0.05 is one in twenty.",
    ),
    _best_option(
        "bounds",
        "--bounds",
        metavar="LOW,HIGH",
        callback=parse_limits,
        describe="Limits of all rewards, such as -1,1. The guarantee assumes them, and a reward "
        "outside stops the search.",
    ),
    _best_option(
        "method",
        "--method",
        describe="How to search. betting reads until the guarantee is reached. bounded-me decides "
        "what to read from epsilon and delta before it sees a reward. exact reads everything. The "
        "bandits of the literature: lucb; median-elimination, successive-elimination, lil-ucb and "
        "exponential-gap with -k 1; successive-rejects, and successive-halving with -k 1, spend "
        "--budget and have no guarantee. An unknown name lists all methods.",
    ),
    _best_option(
        "replacement",
        "--with-replacement/--without-replacement",
        describe="Whether a bandit of the literature may draw a reward again. Not given: as it was "
        "published, with replacement.",
    ),
    _best_option(
        "budget",
        "--budget",
        type=float,
        metavar="SHARE",
        describe="Stop after reading this share of REWARDS, such as 0.1. The certificate then "
        "reports the epsilon achieved. With betting the returned arms are read to the end in "
        "addition. Not with bounded-me and exact.",
    ),
    _best_option(
        "budget_seconds",
        "--budget-seconds",
        type=float,
        metavar="SECONDS",
        describe="Stop after this time; otherwise like --budget.",
    ),
    _best_option(
        "rng",
        "--seed",
        type=int,
        metavar="INTEGER",
        describe="Seed of the random order in which columns are read; the same seed gives the "
        "same answer. Not given: a new order each time.",
    ),
)


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a search, in the order of the help."""
    return _with(SEARCH_OPTIONS, command)


def best_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a search for the best arms, in the order of the help."""
    return _with(BEST_OPTIONS, command)


def _with(options: Sequence[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(options):
        command = option(command)
    return command
