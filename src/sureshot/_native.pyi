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
) -> None: ...
def checked_totals(
    data: Array,
    metric: Metric,
    query: Floats,
    arms: Ints,
    blocks: Ints,
    block: int,
    low: Floats,
    high: Floats,
    threads: int,
    totals: Floats,
) -> tuple[int, int, float]: ...
def row_scores(
    data: Array, metric: Metric, query: Floats, arms: Ints, threads: int, scores: Floats
) -> None: ...
def cpu_features() -> list[str]: ...
