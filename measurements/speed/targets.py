"""How fast the library must be, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sureshot.experiments.rows import Row

# At most this many bytes beside the data, in every row.
MEMORY = 64 << 20


@dataclass(frozen=True)
class Target:
    """How many times as fast as numpy some rows must be; several words of a field: each of them."""

    at_least: float
    workload: str = "low-rank"
    order: str = "row coordinate"
    bounds: str = "none"
    method: str = "betting"
    dtype: str = "float32"
    task: str = "search"


GAPS = "low-rank fashion-gradients"
NO_GAP = "gaussian uniform"

# At 10,000 × 100,000 with k = 10, on the median of at least ten queries; float16 and uint8 with
# fewer rows.
TARGETS = (
    Target(15, GAPS, "row", "scan"),
    Target(8, GAPS, "row", "limits"),
    Target(12, GAPS, "row", "none"),
    Target(8, GAPS, "coordinate", "scan limits"),
    Target(12, "planted-0.3", "row", "unit"),
    Target(0.87, NO_GAP, bounds="scan limits none"),
    Target(0.95, method="exact"),
    Target(0.6, method="scan", task="scan"),
    Target(10, method="exact", dtype="float16 uint8"),
)
FIELDS = ("workload", "order", "bounds", "method", "dtype", "task")


@dataclass(frozen=True)
class Comparison:
    """One line of the table of targets. `met` is None where nothing was measured."""

    label: str
    workload: str
    target: str
    measured: str
    met: bool | None

    @property
    def words(self) -> str:
        """Whether the target was met."""
        return "not measured" if self.met is None else "met" if self.met else "not met"


def comparisons(found: Iterable[Row]) -> list[Comparison]:
    """Compare the rows with each target, then the memory and the threads of all rows together."""
    full = [row for row in found if row["size"] == "full"]
    compared = []
    for target in TARGETS:
        for values in product(*(getattr(target, name).split() for name in FIELDS)):
            wanted = dict(zip(FIELDS, values, strict=True))
            compared.append(_comparison(target.at_least, wanted, full))
    return compared + _of_all_rows(full)


def _comparison(at_least: float, wanted: dict[str, str], full: list[Row]) -> Comparison:
    ratio = None
    # Of several rows the last one counts; in float32 that is the one of the full size.
    for row in full:
        usual_size = row["asked_n"] is None and row["asked_N"] is None
        if (
            all(row[name] == value for name, value in wanted.items())
            and row["k"] == 10
            and (usual_size or wanted["dtype"] != "float32")
        ):
            ratio = row["ratios"]["numpy"]
    return Comparison(
        label=label(wanted),
        workload=wanted["workload"],
        target=f"{at_least:g} ×",
        measured="–" if ratio is None else f"{ratio:.3g} ×",
        met=None if ratio is None else ratio >= at_least,
    )


def label(wanted: Row) -> str:
    """Return what a target is about, in words."""
    how = {
        "betting": f"bounds: {wanted['bounds']}",
        "exact": "method exact",
        "scan": "scan",
    }[wanted["method"]]
    return ", ".join((wanted["workload"], wanted["dtype"], f"{wanted['order']}-major", how))


def _of_all_rows(full: list[Row]) -> list[Comparison]:
    grown = [row["peak_memory_growth"] for row in full if row["peak_memory_growth"] is not None]
    agree = [row["threads_agree"] for row in full]
    return [
        Comparison(
            "extra memory, largest of all rows",
            "",
            f"at most {MEMORY >> 20} MB",
            f"{max(grown) / (1 << 20):.0f} MB" if grown else "–",
            max(grown) <= MEMORY if grown else None,
        ),
        Comparison(
            "same result with one thread and with several, rows",
            "",
            "all",
            f"{sum(agree)} of {len(agree)}" if agree else "–",
            all(agree) if agree else None,
        ),
    ]


def missed(compared: Iterable[Comparison], names: Iterable[str]) -> list[Comparison]:
    """Return the targets that were not met or not measured, of the given workloads."""
    asked = {"", *names}
    return [one for one in compared if one.workload in asked and not one.met]
