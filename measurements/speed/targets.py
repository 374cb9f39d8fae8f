"""How fast the library must be, and whether it is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from measurements.speed import cases

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sureshot.experiments.rows import Row

# At most this many bytes beside the data, in every row: of one search, and of a batch.
MEMORY = 64 << 20
BATCH_MEMORY = 256 << 20


@dataclass(frozen=True)
class Target:
    """How many times as fast as its rivals the library must be; several words of a field: each of them."""

    at_least: float
    workload: str = "low-rank"
    order: str = "row coordinate"
    bounds: str = "none"
    method: str = "betting"
    dtype: str = "float32"
    task: str = "search"
    n: int | None = None  # that the workload is asked for; None is its own
    N: int | None = None
    rivals: tuple[str, ...] = ("numpy",)  # the fastest of them counts


NO_GAP = "gaussian uniform"
CLIPS = "spectrograms-centred spectrograms-copied"
FULL = cases.SIZES["full"]

# With k = 10, on the median of at least ten queries, or of the batches. There is none for the upsampled images: what
# is asked of photographs can be shown on photographs alone.
TARGETS = (
    Target(30, "low-rank", "row", "scan"),
    Target(7, "low-rank", "row", "limits"),
    Target(11, "low-rank", "row", "none"),
    Target(7, "low-rank", "coordinate", "scan"),
    Target(6, "low-rank", "coordinate", "limits"),
    Target(50, "low-rank", "row", "scan", n=FULL.wide_n, N=cases.WIDEST),
    Target(6, "low-rank", "row", "scan", task="batch", rivals=("numpy", "faiss")),
    Target(20, "fashion-gradients", "row", "scan"),
    Target(8, "fashion-gradients", "row", "limits"),
    Target(12, "fashion-gradients", "row", "none"),
    Target(8, "fashion-gradients", "coordinate", "scan limits"),
    Target(8, CLIPS, "row", "scan"),
    Target(4, CLIPS, "coordinate", "scan"),
    Target(12, "planted-0.3", "row", "unit"),
    Target(0.9, NO_GAP, "row", "scan limits none"),
    Target(0.87, NO_GAP, "coordinate", "scan limits none"),
    Target(0.95, method="exact"),
    Target(0.6, method="scan", task="scan"),
    Target(10, method="exact", dtype="float16 uint8", n=FULL.narrow_n),
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
    compared = [
        _comparison(target, wanted, full) for target in TARGETS for wanted in wanted_by(target)
    ]
    return compared + _of_all_rows(full)


def wanted_by(target: Target) -> Iterator[Row]:
    """Yield the fields of the rows that a target is about, one of each."""
    for values in product(*(getattr(target, name).split() for name in FIELDS)):
        fields = dict(zip(FIELDS, values, strict=True))
        yield {**fields, "asked_n": target.n, "asked_N": target.N, "k": cases.K}


def _comparison(target: Target, wanted: Row, full: list[Row]) -> Comparison:
    ratio = None
    # Of several rows the last one counts.
    for row in full:
        there = set(target.rivals) <= row["ratios"].keys()
        if there and all(row[name] == value for name, value in wanted.items()):
            ratio = min(row["ratios"][name] for name in target.rivals)
    return Comparison(
        label=label(target, wanted),
        workload=wanted["workload"],
        target=f"{target.at_least:g} ×",
        measured="–" if ratio is None else f"{ratio:.3g} ×",
        met=None if ratio is None else ratio >= target.at_least,
    )


def label(target: Target, wanted: Row) -> str:
    """Return what a target is about, in words."""
    how = {
        "betting": f"bounds: {wanted['bounds']}",
        "exact": "method exact",
        "scan": "scan",
    }[wanted["method"]]
    words = [wanted["workload"], wanted["dtype"], f"{wanted['order']}-major", how]
    if target.N is not None:
        words.insert(1, f"{target.n:,} × {target.N:,}")
    if target.task == "batch":
        words.append(f"batch of {cases.BATCH}, the faster of {' and '.join(target.rivals)}")
    return ", ".join(words)


def _of_all_rows(full: list[Row]) -> list[Comparison]:
    batches = [row for row in full if row["task"] == "batch"]
    others = [row for row in full if row["task"] != "batch"]
    agree = [row["threads_agree"] for row in full]
    return [
        _memory("extra memory, largest of all rows", "", others, MEMORY),
        _memory("extra memory, largest of all batches", cases.VARIED, batches, BATCH_MEMORY),
        Comparison(
            "same result with one thread and with several, rows",
            "",
            "all",
            f"{sum(agree)} of {len(agree)}" if agree else "–",
            all(agree) if agree else None,
        ),
    ]


def _memory(what: str, workload: str, found: list[Row], most: int) -> Comparison:
    grown = [row["peak_memory_growth"] for row in found if row["peak_memory_growth"] is not None]
    return Comparison(
        what,
        workload,
        f"at most {most >> 20} MB",
        f"{max(grown) / (1 << 20):.0f} MB" if grown else "–",
        max(grown) <= most if grown else None,
    )


def missed(compared: Iterable[Comparison], names: Iterable[str]) -> list[Comparison]:
    """Return the targets that were not met or not measured, of the given workloads."""
    asked = {"", *names}
    return [one for one in compared if one.workload in asked and not one.met]
