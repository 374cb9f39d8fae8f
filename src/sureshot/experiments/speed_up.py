"""Precision against online speed-up, from the rows of `compare`: figure, table, claim."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from sureshot.experiments import drawing, metrics
from sureshot.experiments.numbers import digits, seconds
from sureshot.experiments.rows import curve
from sureshot.experiments.section import Claim, Picture, Section, Table
from sureshot.experiments.titles import TITLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sureshot.experiments.rows import Row

# Colour and marker of each curve.
STYLES = {
    "betting": (drawing.COLOURS[0], "o"),
    "betting, scanned": (drawing.COLOURS[6], "o"),
    "betting, budget": (drawing.COLOURS[0], "*"),
    "betting, scanned, budget": (drawing.COLOURS[6], "*"),
    "BoundedME": (drawing.COLOURS[1], "s"),
    "BoundedME, R = 1": (drawing.COLOURS[7], "s"),
    "BoundedME, R = 1, columns": (drawing.COLOURS[8], "s"),
    "GreedyMIPS": (drawing.COLOURS[2], "^"),
    "LSHMIPS": (drawing.COLOURS[3], "v"),
    "PCAMIPS": (drawing.COLOURS[4], "D"),
}
# Those whose R may be smaller than that of the rewards.
UNIT_RANGE = ("BoundedME, R = 1", "BoundedME, R = 1, columns")
# What counts as high precision in the tables.
HIGH = 0.9


def by_clock(row: Row) -> float:
    """Return the online speed-up of a row."""
    return metrics.online_speed_up(row["exact_seconds"], row["seconds"])


def by_numbers(row: Row) -> float:
    """Return the speed-up of a row in numbers read."""
    return metrics.speed_up_in_numbers(row["rows"], row["coordinates"], row["numbers_read"])


MEASURES: dict[str, Callable[[Row], float]] = {
    "online speed-up by the clock": by_clock,
    "speed-up in numbers read": by_numbers,
}


def measured(found: Sequence[Row]) -> list[Row]:
    """Return the rows of methods that did not refuse."""
    return [row for row in found if "refused" not in row]


def points(found: Sequence[Row], measure: Callable[[Row], float]) -> list[tuple[float, float]]:
    """Return (speed-up, precision) of each row."""
    return [(measure(row), fmean(row["precision"])) for row in measured(found)]


def best(found: Sequence[Row], measure: Callable[[Row], float]) -> float | None:
    """Return the largest speed-up at high precision, None if no row has that."""
    return max((speed for speed, right in points(found, measure) if right >= HIGH), default=None)


def titles(found: Sequence[Row]) -> dict[str, str]:
    """Return the names for people of the methods in some rows.

    R = 1 is true of some data; where the range is larger, what is promised in truth is more than the
    ε that was asked for, and the name says that nothing is promised for that.
    """
    there = {curve(row) for row in found}
    names = {method: TITLES[method] for method in STYLES if method in there}
    for row in measured(found):
        if row["method"] in UNIT_RANGE:
            asked = dict(row["knobs"])["epsilon"]
            if any((promised or 0.0) > asked for promised in row["promised_epsilon"]):
                names[row["method"]] = f"{TITLES[row['method']]}: no guarantee"
    return names


def picture(name: str, found: Sequence[Row]) -> Any:
    """Draw every row, and for each method the frontier; a column for each k."""
    ks = sorted({row["k"] for row in found})
    names = titles(found)
    figure, panels = drawing.grid(name, 2, len(ks), max(7.0, 5.2 * len(ks)), 7.4, sharey=True)
    for line, (label, measure) in zip(panels, MEASURES.items(), strict=True):
        for axes, k in zip(line, ks, strict=True):
            for method, (colour, marker) in STYLES.items():
                mine = [row for row in found if (row["k"], curve(row)) == (k, method)]
                cloud = points(mine, measure)
                if not cloud:
                    continue
                axes.scatter(
                    *zip(*cloud, strict=True), s=10, color=colour, marker=marker, alpha=0.3
                )
                axes.plot(
                    *zip(*metrics.frontier(cloud), strict=True), f"{marker}-", ms=4, lw=1.5,
                    color=colour, label=names[method],
                )  # fmt: skip
            axes.axvline(1, color="0.4", lw=1, ls=":", zorder=0)
            axes.set(xscale="log", xlabel=label, ylim=(-0.03, 1.05), title=f"top {k}")
            axes.title.set_fontsize(10)
        line[0].set_ylabel("precision")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", ncols=2 * len(ks), frameon=False, fontsize=9
    )
    return figure


def summary(found: Sequence[Row], k: int) -> Table:
    """Return the table of what each method reaches at high precision."""
    body = []
    for method, title in titles(found).items():
        mine = measured([row for row in found if (row["k"], curve(row)) == (k, method)])
        if mine:
            speeds = [best(mine, measure) for measure in MEASURES.values()]
            prepared = median(row["preparation_seconds"] for row in mine)
            body.append([title, str(len(mine)), *map(_times, speeds), seconds(prepared)])
    heads = ("method", "settings", "speed-up by the clock", "in numbers read", "preparation")
    return Table(f"Top {k}: largest speed-up with a mean precision of {HIGH} or more", heads, body)


def section(
    name: str, title: str, found: Sequence[Row], claim: str, notes: Sequence[str]
) -> Section:
    """Return the part of the report."""
    first = found[0]
    ks = sorted({row["k"] for row in found})
    tops = " and ".join(str(k) for k in ks)
    exact = [median(row["exact_seconds"]) for row in measured(found)]
    origins = dict.fromkeys(row["origin"] for row in found if row.get("origin"))
    return Section(
        name=name,
        title=title,
        setting=(
            f"{first['rows']:,} rows of {first['coordinates']:,} float32 numbers in row order, "
            f"{first['queries']} queries, top {tops}. {''.join(f'From {origin}. ' for origin in origins)}"
            "The exact product of numpy, which every speed-up is measured against in turn with the "
            f"method, took {seconds(median(exact)) if exact else 'an unknown time'} a query."
        ),
        claims=[Claim(claim, findings(found, ks[0]))],
        pictures=[
            Picture(
                name,
                "A point is one setting, a line joins the settings that no other of the method beats. "
                "Preparation is not in the speed-up, as in the paper. Left of the dotted line the exact "
                "product is better.",
                picture(name, found),
            )
        ],
        tables=[summary(found, k) for k in ks],
        notes=[*notes, *refusals(found)],
    )


def findings(found: Sequence[Row], k: int) -> tuple[str, ...]:
    """Return how fast each method is at high precision, by each measure, in sentences."""
    sentences = []
    for label, measure in MEASURES.items():
        reached = {
            title: best([row for row in found if (row["k"], curve(row)) == (k, method)], measure)
            for method, title in titles(found).items()
        }
        ranked = sorted(
            ((speed, title) for title, speed in reached.items() if speed is not None), reverse=True
        )
        said = ", ".join(f"{title} {_times(speed)}" for speed, title in ranked)
        missed = ", ".join(title for title, speed in reached.items() if speed is None)
        sentences.append(
            f"Top {k}, precision {HIGH} or more, {label}: {said or 'no method'}"
            + (f"; never: {missed}." if missed else ".")
        )
    return tuple(sentences)


def refusals(found: Sequence[Row]) -> list[str]:
    """Return a note for each method that refused the data or a setting."""
    said = dict.fromkeys(
        f"{TITLES[row['method']]} refused: {row['refused']}." for row in found if "refused" in row
    )
    return list(said)


def _times(speed: float | None) -> str:
    return "–" if speed is None else f"{digits(speed, 2)}×"
