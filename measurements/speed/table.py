"""Draws the tables of docs/benchmarks.md from the rows of `measurements.speed.run`.

``python -m measurements.speed.table FILE`` prints them, ``--write`` puts them and the figure into docs.
Of a file with rows of several runs (state of the library, size, threads, seed) the last run counts.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from measurements.harness import page
from measurements.harness.page import left_aligned
from measurements.rivals.libraries import RIVALS
from measurements.speed import cases, figure, targets
from measurements.speed.measure import OURS, SINGLE
from sureshot.experiments import drawing, rows
from sureshot.experiments.numbers import milliseconds, per_cent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sureshot.experiments.rows import Row

BOUNDS = ("scan", "limits", "none", "unit")
# What the rows of one run have in common.
RUN = ("library_digest", "size", "threads", "seed")


def of_run(found: list[Row], run: Row) -> list[Row]:
    """Return the rows with the `RUN` fields of `run`, the last of each case, workload by workload."""
    names = cases.SpeedCase.__dataclass_fields__
    mine = [row for row in found if all(row[name] == run[name] for name in RUN)]
    last = {tuple(row[name] for name in names): row for row in mine}
    return sorted(last.values(), key=lambda row: cases.WORKLOADS.index(row["workload"]))


def extra_memory(growth: int | None) -> str:
    """Return how many megabytes the memory grew by, if that is known."""
    return "–" if growth is None else f"{growth / (1 << 20):.0f}"


def ratio(row: Row, name: str) -> str:
    """Return how many times as long as the library a rival took."""
    value = row["ratios"].get(name)
    return "–" if value is None else f"{value:.3g} ×"


def at_the_floor(row: Row) -> str:
    """Return how many times as long as the floor numpy took: what a search can be at most."""
    return f"{row['seconds']['numpy'] / row['floor_seconds']:.3g} ×" if has_floor(row) else "–"


def has_floor(row: Row) -> bool:
    """Return whether the row was measured with the time of scattered lines, which its floor is made of."""
    return "line_seconds" in row


COLUMNS: dict[str, Callable[[Row], str]] = {
    "workload": lambda row: row["workload"],
    "n × N": lambda row: f"{row['n']:,} × {row['N']:,}",
    "order": lambda row: row["order"],
    "type": lambda row: row["dtype"],
    "bounds": lambda row: row["bounds"],
    "k": lambda row: str(row["k"]),
    "what": lambda row: "scan" if row["task"] == "scan" else row["method"],
    "ms": lambda row: milliseconds(row["seconds"][OURS]),
    "quartiles": lambda row: "–".join(map(milliseconds, row["quartiles"][OURS])),
    "numpy": lambda row: ratio(row, "numpy"),
    "faiss": lambda row: ratio(row, "faiss"),
    "usearch": lambda row: ratio(row, "usearch"),
    SINGLE: lambda row: ratio(row, SINGLE),
    "share read": lambda row: per_cent(row["median_share"]),
    "MB read": lambda row: f"{row['bytes_read'] / 1e6:,.1f}",
    "floor, ms": lambda row: milliseconds(row["floor_seconds"]) if has_floor(row) else "–",
    "numpy at the floor": at_the_floor,
    "of bandwidth": lambda row: per_cent(row["reached"]),
    "rounds": lambda row: f"{row['median_rounds']:g}",
    "exact scores": lambda row: f"{row['median_exact_scores']:g}",
    "right": lambda row: f"{row['precision'][OURS]:.3f}",
    "unconditional": lambda row: "yes" if row["unconditional"] else "no",
    "extra MB": lambda row: extra_memory(row["peak_memory_growth"]),
}
SPEED = ("ms", "quartiles", "numpy", "faiss", "usearch")
WORK = ("share read", "MB read", "floor, ms", "numpy at the floor")
PROOF = ("rounds", "exact scores", "right", "unconditional", "extra MB")


def table_of(found: Iterable[Row], *columns: str) -> list[str]:
    """Return a table of these rows with these columns."""
    return left_aligned(list(columns), ([COLUMNS[name](row) for name in columns] for row in found))


def searches(found: list[Row]) -> list[Row]:
    """Return the rows of single searches of float32 by betting, at the size of the run."""
    return [row for row in found if _is_search(row) and _has_usual_size(row)]


def _is_search(row: Row) -> bool:
    return (row["task"], row["method"], row["dtype"]) == ("search", "betting", "float32")


def _has_usual_size(row: Row) -> bool:
    return (row["asked_n"], row["asked_N"]) == cases.SIZES[row["size"]].usual(row["workload"])


def taller(found: list[Row]) -> list[Row]:
    """Return the rows in which only n changes, smallest first."""
    mine = [
        row
        for row in found
        if _is_search(row)
        and row["workload"] == cases.VARIED
        and (row["bounds"], row["k"]) == ("scan", cases.K)
        and row["asked_N"] == cases.SIZES[row["size"]].N
    ]
    return sorted(mine, key=lambda row: (cases.ORDERS.index(row["order"]), row["n"]))


def wider(found: list[Row]) -> list[Row]:
    """Return the rows in which only N changes, workload by workload, smallest first."""
    mine = [
        row
        for row in found
        if _is_search(row)
        and row["order"] == "row"
        and row["asked_n"] == cases.SIZES[row["size"]].wide_n
        and row["asked_N"] in cases.SIZES[row["size"]].wide_N
    ]
    return sorted(mine, key=lambda row: (cases.WIDENED.index(row["workload"]), row["N"]))


def by_workload(found: list[Row]) -> list[str]:
    """Return the main table: every workload, order and kind of bounds, k = 10."""
    mine = [row for row in searches(found) if row["k"] == cases.K]
    return table_of(mine, "workload", "n × N", "order", "bounds", *SPEED, *WORK, *PROOF)


def by_k(found: list[Row]) -> list[str]:
    """Return the table of k: the workloads and bounds that were searched with several."""
    mine = searches(found)
    several = {_but_for_k(row) for row in mine if row["k"] != cases.K}
    chosen = [row for row in mine if _but_for_k(row) in several]
    chosen.sort(key=lambda row: (*_but_for_k(row), row["k"]))
    return table_of(chosen, "workload", "order", "bounds", "k", *SPEED, *WORK, *PROOF)


def _but_for_k(row: Row) -> tuple[str, int, int]:
    orders = cases.ORDERS
    return row["workload"], orders.index(row["order"]), BOUNDS.index(row["bounds"])


def by_n(found: list[Row]) -> list[str]:
    """Return the table of growth with n."""
    return table_of(taller(found), "n × N", "order", "bounds", *SPEED, *WORK)


def by_N(found: list[Row]) -> list[str]:
    """Return the table of growth with N."""
    return table_of(wider(found), "workload", "n × N", "order", "bounds", *SPEED, *WORK)


def whole(found: list[Row]) -> list[str]:
    """Return the table of what reads everything on purpose."""
    mine = [row for row in found if row["task"] != "batch" and row["method"] in ("exact", "scan")]
    columns = ("what", "type", "n × N", "order", *SPEED, "of bandwidth", "extra MB")
    return table_of(mine, *columns)


def batches(found: list[Row]) -> list[str]:
    """Return the table of several queries at once."""
    mine = [row for row in found if row["task"] == "batch"]
    return table_of(mine, "what", "order", "bounds", *SPEED, SINGLE, "share read", "extra MB")


def by_target(found: list[Row]) -> list[str]:
    """Return the table of targets."""
    body = [[one.label, one.target, one.measured, one.words] for one in targets.comparisons(found)]
    return left_aligned(["case", "target", "measured", ""], body)


def machine(found: list[Row]) -> list[str]:
    """Return where and with what the rows were measured."""
    if not found:
        return ["Nothing has been measured yet."]
    last = found[-1]
    speeds = sorted(row["bandwidth"] / 1e9 for row in found)
    lines = sorted(1e9 * row["line_seconds"] for row in found if has_floor(row))
    versions = ", ".join(f"{name} {last[f'{name}_version']}" for name in RIVALS)
    notes = sorted({f"{row['workload']}: {row['note']}" for row in found if row["note"]})
    size = "Full size" if last["size"] == "full" else "**Small size, which shows the form only**"
    about = (
        f"{size}; {len(found)} rows; {last['threads']} threads on {last['cpu']}; "
        f"sureshot {last['library']} ({last['library_digest']}), {versions}, "
        f"Python {last['python']}; seed {last['seed']}. "
        f"Memory was read with {speeds[0]:.1f} to {speeds[-1]:.1f} GB/s."
    )
    if lines:
        about += f" A scattered line took {lines[0]:.1f} to {lines[-1]:.1f} ns."
    return [about, "", *(f"- {note}" for note in notes)] if notes else [about]


TABLES: dict[str, Callable[[list[Row]], list[str]]] = {
    "machine": machine,
    "targets": by_target,
    "workloads": by_workload,
    "k": by_k,
    "growth with n": by_n,
    "growth with N": by_N,
    "whole": whole,
    "batches": batches,
}


def write(found: list[Row], docs: Path = page.DOCS) -> None:
    """Put the tables into docs/benchmarks.md, and the rows and the figure beside it."""
    page.rewrite(docs / "benchmarks.md", {name: table(found) for name, table in TABLES.items()})
    rows.write(docs / "results" / f"speed-{found[-1]['size']}.jsonl", found)
    path = docs / "figures" / f"{figure.NAME}.svg"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(drawing.svg(figure.NAME, picture(found)), encoding="utf-8")


def picture(found: list[Row]) -> Any:
    """Return the figure of the searches with k = 10, and of those that grow with n and with N."""
    mine = [row for row in searches(found) if row["k"] == cases.K]
    return figure.picture(mine, taller(found), wider(found))


def main() -> None:
    """Print the tables of one file of rows, or write them to docs/."""
    parser = argparse.ArgumentParser(prog="python -m measurements.speed.table", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--write", action="store_true", help="write to docs/ instead")
    settings = parser.parse_args()
    found = rows.read(settings.file)
    if not found:
        parser.error(f"there are no rows in {settings.file}")
    found = of_run(found, found[-1])
    if settings.write:
        write(found)
        return
    print_tables(found)


def print_tables(found: list[Row]) -> None:
    """Print every table under its name."""
    for name, table in TABLES.items():
        print(f"\n## {name}\n", *table(found), sep="\n")


if __name__ == "__main__":
    main()
