"""Table 1: preparation, query time and guarantee of each method, measured on one data set."""

from __future__ import annotations

from importlib.util import find_spec
from statistics import fmean, median
from typing import TYPE_CHECKING

from sureshot.experiments import metrics, synthetic
from sureshot.experiments.compare import ComparisonCase
from sureshot.experiments.grids import knobs
from sureshot.experiments.numbers import digits, per_cent, seconds
from sureshot.experiments.section import Claim, Section, Table
from sureshot.experiments.speed_up import by_clock, refusals
from sureshot.experiments.titles import TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sureshot.experiments.compare import Knobs
    from sureshot.experiments.rows import Row

K = 10
NONE = knobs()
GRAPH = knobs(M=16, ef_construction=40)  # as many as faiss takes

# Method, what it is made with, what it is asked with; the cost that the paper or the method's own
# authors state, and what it guarantees. One setting each, from the middle of the ranges.
METHODS: tuple[tuple[str, Knobs, Knobs, str, str], ...] = (
    ("ExactMIPS", NONE, NONE, "0; nN", "the answer"),
    (
        "betting", NONE, knobs(epsilon=0.0, delta=0.05), "0; follows the data",
        "the exact top k with probability 1 − δ, given limits of the values; ε and δ for each query",
    ),
    (
        "betting, scanned", NONE, knobs(epsilon=0.0, delta=0.05),
        "nN; follows the data",
        "the exact top k with probability 1 − δ; ε and δ for each query",
    ),
    (
        "BoundedME", NONE, knobs(epsilon=0.4, delta=0.1), "0; n√N/ε · √log(1/δ), at most nN",
        "a mean within ε with probability 1 − δ, as published, given limits of the values",
    ),
    ("GreedyMIPS", NONE, knobs(B=0.2), "Nn log n; BN", "none in general"),
    (
        "LSHMIPS", knobs(most_bits=20, most_tables=50), knobs(a=4, b=20), "Nnab; nN b/2^a",
        "a probability that depends on the unknown answer",
    ),
    (
        "RPTMIPS", knobs(L=10), knobs(L=10, leaf=0.05), "LNn log n; L log n and the candidates",
        "a probability that depends on query and data",
    ),
    ("PCAMIPS", knobs(depth=20), knobs(depth=3), "N²n; nN/2^d", "none"),
    (
        "SampleMIPS", NONE, knobs(samples=10_000, B=0.1), "not in the paper's table",
        "none; non-negative values only",
    ),
    (
        "DiamondMSIPS", NONE, knobs(samples=10_000, B=0.1), "not in the paper's table",
        "none; ranks by squares",
    ),
    ("KMeansMIPS", NONE, knobs(probes=2), "not in the paper's table", "none"),
    ("FaissFlat", NONE, NONE, "today's library", "the answer, up to rounding to float32"),
    ("FaissIVF", NONE, knobs(nprobe=8), "today's library", "none"),
    ("FaissHNSW", knobs(M=16), knobs(ef=64), "today's library", "none"),
    ("Hnswlib", GRAPH, knobs(ef=64), "today's library", "none"),
    ("Usearch", GRAPH, knobs(ef=64), "today's library", "none"),
)  # fmt: skip
# The packages of the libraries, which nothing else needs.
PACKAGES = {
    "FaissFlat": ("faiss", "faiss-cpu"),
    "FaissIVF": ("faiss", "faiss-cpu"),
    "FaissHNSW": ("faiss", "faiss-cpu"),
    "Hnswlib": ("hnswlib", "hnswlib"),
    "Usearch": ("usearch", "usearch"),
}


NOTES = (
    "hnswlib does not report how many rows it compares: its share is that of the rows in its list alone.",
)


def cases(scale: str) -> list[ComparisonCase]:
    """Return one case for each method, on the data of Figure 3."""
    shape, queries = synthetic.SHAPES[scale], synthetic.QUERIES[scale]
    return [
        ComparisonCase("table1", "uniform", *shape, K, method, build, asked, queries, seed=0)
        for method, build, asked, *_ in METHODS
    ]


def lacking(folder: Path | None) -> dict[str, str]:  # noqa: ARG001
    """Return the libraries that are not installed."""
    return {
        method: f"pip install {package}"
        for method, (module, package) in PACKAGES.items()
        if find_spec(module) is None
    }


def section(found: Sequence[Row]) -> Section:
    """Return the part of the report."""
    by_method = {row["method"]: row for row in found}
    body = []
    for method, _, _, cost, promise in METHODS:
        row = by_method.get(method)
        if row is None:
            continue
        title = TITLES[method]
        if "refused" in row:
            body.append([title, "refused", "", "", "", "", cost, promise])
            continue
        setting = ", ".join(f"{name} = {value:g}" for name, value in row["knobs"])
        body.append(
            [
                f"{title} ({setting})" if setting else title,
                seconds(row["preparation_seconds"]),
                seconds(median(row["seconds"])),
                per_cent(metrics.share(row["rows"], row["coordinates"], row["numbers_read"])),
                f"{digits(by_clock(row), 2)}×",
                f"{fmean(row['precision']):.2f}",
                cost,
                promise,
            ]
        )
    first = found[0]
    return Section(
        name="table1",
        title="Table 1: preparation, query time, guarantee",
        setting=(
            f"{first['rows']:,} rows of {first['coordinates']:,} numbers uniform in [0, 1], top {K}, "
            f"{first['queries']} queries; medians. One setting for each method."
        ),
        claims=[Claim(_paper(), _measured(by_method))],
        tables=[
            Table(
                "Measured, beside the published costs (preparation; query)",
                ("method", "preparation", "query", "numbers read", "speed-up", "precision",
                 "published cost", "guarantee"),
                body,
                words=2,
            )
        ],
        notes=[*NOTES, *refusals(found)],
    )  # fmt: skip


def _paper() -> str:
    return (
        "BoundedME needs no preparation and lets the user choose ε and δ for each query; the other "
        "methods prepare for longer than many exact searches take, and their guarantees are none, or "
        "depend on what the user cannot know."
    )


def _measured(by_method: dict[str, Row]) -> tuple[str, ...]:
    """Say how many exact searches each preparation is worth."""
    worth = []
    for method, row in by_method.items():
        if "refused" not in row:
            searches = row["preparation_seconds"] / median(row["exact_seconds"])
            if searches >= 1:
                worth.append((searches, TITLES[method]))
    said = ", ".join(f"{title} {digits(searches, 3)}" for searches, title in sorted(worth))
    return (
        f"Preparation, in exact searches of numpy that take as long: {said or 'all below one'}.",
    )
