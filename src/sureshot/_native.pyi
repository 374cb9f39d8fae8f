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
def column_sums(table: Floats, high: Floats, low: Floats) -> None: ...
def row_scores(
    data: Array, metric: Metric, query: Floats, arms: Ints, threads: int, scores: Floats
) -> None: ...
def scan_rows(
    data: Array, middle: Floats, unit: Floats, threads: int, reach: Floats, squares: Floats
) -> None: ...
def peak_wealth(
    sums: Floats,
    squares: Floats | None,
    centre: Floats,
    weight: Floats,
    left: Floats,
    guess: Floats,
    scale: Floats,
    limit: Floats,
    base: float,
    sign: float,
    floor: float,
    first_bet: int,
    theta: Floats,
    threads: int,
    peaks: Floats,
) -> None: ...
def cpu_features() -> list[str]: ...
