"""What `measurements.speed.run` measures: the cases, grouped by the data that they search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from measurements import workloads

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

K = 10
KS = (1, 10, 100)
BATCH = 16
BATCH_REPEATS = 5

# On the independent values of the last two nothing can be saved.
WORKLOADS = (
    "low-rank",
    "fashion-gradients",
    "digits-gradients",
    "spectrograms-centred",
    "spectrograms-copied",
    "images",
    "images-upsampled",
    "planted-0.3",
    "unit-norm",
    "correlated",
    "heavy-tailed",
    "gaussian",
    "uniform",
)
ORDERS: tuple[Literal["row", "coordinate"], ...] = ("row", "coordinate")
# The workload that everything else than bounds is varied on.
VARIED = "low-rank"
UNIT = "unit-norm"
# Those that are searched with more and more coordinates. Gradients get them from a wider network.
WIDENED = ("low-rank", "fashion-gradients")
# The file has fewer of them than the rows that others have at the small size.
FEW_ROWS = "spectrograms-centred"


class Sizes(NamedTuple):
    """Sizes of one run; None is the workload's own: 10,000 × 100,000 where it can have any."""

    n: int | None
    N: int | None
    growth_n: tuple[int, ...]  # smaller than n; n itself is measured anyway
    wide_n: int
    wide_N: tuple[int, ...]
    narrow_n: int  # rows of the types that numpy is slow with
    few_n: int | None  # rows of the workload that has few
    queries: int

    def usual(self, workload: str) -> tuple[int | None, int | None]:
        """Return the n and the N that a workload is asked for where neither is varied."""
        return self.few_n if workload == FEW_ROWS else self.n, self.N


WIDEST = 1_000_000
SIZES = {
    "small": Sizes(1_000, 20_000, (250, 500), 250, (5_000, 20_000), 200, 200, 3),
    "full": Sizes(
        None,
        None,
        (1_000, 3_000),
        2_000,
        (10_000, 30_000, 100_000, 300_000, WIDEST),
        1_000,
        None,
        12,
    ),
}


@dataclass(frozen=True)
class SpeedCase:
    """What one row measures. Equal cases are measured once for one state of the library."""

    task: Literal["search", "scan", "batch"]
    workload: str
    size: str
    asked_n: int | None
    asked_N: int | None
    order: Literal["row", "coordinate"]
    dtype: str
    method: str
    bounds: str
    k: int
    threads: int
    queries: int
    seed: int
    library_digest: str

    def data_key(self) -> tuple[Any, ...]:
        """Return what decides which data the case searches."""
        return self.workload, self.asked_n, self.asked_N, self.order, self.dtype


def queries_made(queries: int) -> int:
    """Return how many queries a workload is made with: one more to warm up, enough for a batch."""
    return max(queries + 1, BATCH)


def cases(
    names: Iterable[str], size: str, queries: int, seed: int, threads: int, digest: str
) -> list[SpeedCase]:
    """Return the cases of some workloads; those of the same data follow each other."""
    sizes = SIZES[size]
    common = {"size": size, "threads": threads, "seed": seed, "library_digest": digest}
    usual = {
        "task": "search",
        "dtype": "float32",
        "method": "betting",
        "k": K,
        "queries": queries,
        **common,
    }
    found = []
    for name in names:
        n, N = sizes.usual(name)
        of_workload = {**usual, "workload": name, "asked_n": n, "asked_N": N}
        for order in ORDERS:
            for changes in _variants(name, order, sizes, queries):
                fields: dict[str, Any] = {**of_workload, "order": order, **changes}
                found.append(SpeedCase(**fields))
    return sorted(dict.fromkeys(found), key=lambda case: _first_place(case, found))


def _first_place(case: SpeedCase, found: list[SpeedCase]) -> int:
    return next(i for i, other in enumerate(found) if other.data_key() == case.data_key())


def _variants(name: str, order: str, sizes: Sizes, queries: int) -> Iterator[dict[str, Any]]:
    """Yield what is changed of the usual case on one workload in one order."""
    for bounds in ("scan", "limits", "none"):
        yield {"bounds": bounds}
        if name == VARIED:
            yield from ({"bounds": bounds, "k": k} for k in KS)
    if name in workloads.UNIT_ROWS:
        yield {"bounds": "unit"}
    if name == UNIT:
        yield from ({"bounds": "unit", "k": k} for k in KS)
    if name in WIDENED and order == "row":
        for N in sizes.wide_N:
            yield {"bounds": "scan", "asked_n": sizes.wide_n, "asked_N": N}
    if name != VARIED:
        return
    exact = {"bounds": "none", "method": "exact"}
    scan = {"bounds": "none", "method": "scan", "task": "scan"}
    batch = {"task": "batch", "queries": min(queries, BATCH_REPEATS)}
    yield exact
    yield scan
    if order == "row":
        yield {"bounds": "scan", **batch}
        yield {**exact, **batch}
    for n in sizes.growth_n:
        yield {"bounds": "scan", "asked_n": n}
    for dtype in ("float16", "uint8"):
        yield {**exact, "dtype": dtype, "asked_n": sizes.narrow_n}
        yield {**scan, "dtype": dtype, "asked_n": sizes.narrow_n}
