from enum import Enum

from sureshot._types import Array, Floats, Ints

class Team:
    def __init__(self, threads: int) -> None: ...

class Element(Enum):
    FLOAT16 = 0
    BFLOAT16 = 1
    FLOAT32 = 2
    FLOAT64 = 3
    INT8 = 4
    UINT8 = 5
    INT16 = 6
    BOOL = 7

class Metric(Enum):
    INNER_PRODUCT = 0
    SQUARED_EUCLIDEAN = 1
    L1 = 2

def block_sums(
    data: Array,
    element: Element,
    metric: Metric,
    query: Floats,
    arms: Ints,
    blocks: Ints,
    block: int,
    team: Team,
    sums: Floats,
    squares: Floats | None = None,
) -> None: ...
def totals(
    data: Array,
    element: Element,
    metric: Metric,
    query: Floats,
    arms: Ints,
    blocks: Ints,
    block: int,
    centre: Floats,
    weight: Floats,
    team: Team,
    high: Floats,
    low: Floats,
    largest: Floats,
    squares: Floats | None = None,
) -> None: ...
def column_sums(table: Floats, high: Floats, low: Floats) -> None: ...
def row_scores(
    data: Array,
    element: Element,
    metric: Metric,
    query: Floats,
    arms: Ints,
    team: Team,
    scores: Floats,
) -> None: ...
def scan_rows(
    data: Array,
    element: Element,
    middle: Floats,
    unit: Floats,
    arms: Ints,
    team: Team,
    reach: Floats,
    squares: Floats,
) -> None: ...
def column_limits(
    data: Array, element: Element, arms: Ints, team: Team, low: Floats, high: Floats
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
    team: Team,
    peaks: Floats,
) -> None: ...
def instruction_sets() -> list[str]: ...
def instruction_set() -> str: ...
def use_instruction_set(name: str) -> None: ...
