from enum import Enum

from sureshot._types import Array, Floats, Ints

class Metric(Enum):
    INNER_PRODUCT = 0
    SQUARED_EUCLIDEAN = 1
    L1 = 2

def block_sums(
    data: Array,
    metric: Metric,
    query: Floats,
    arms: Ints,
    blocks: Ints,
    block: int,
    threads: int,
    sums: Floats,
    squares: Floats | None = None,
) -> None: ...
def totals(
    data: Array,
    metric: Metric,
    query: Floats,
    arms: Ints,
    blocks: Ints,
    block: int,
    centre: Floats,
    weight: Floats,
    threads: int,
    high: Floats,
    low: Floats,
    largest: Floats,
    squares: Floats | None = None,
) -> None: ...
def row_scores(
    data: Array, metric: Metric, query: Floats, arms: Ints, threads: int, scores: Floats
) -> None: ...
def scan_rows(
    data: Array, middle: Floats, unit: Floats, threads: int, reach: Floats, squares: Floats
) -> None: ...
def cpu_features() -> list[str]: ...
