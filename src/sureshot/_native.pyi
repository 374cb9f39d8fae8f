from enum import Enum

from sureshot._types import Array, Floats, Ints

class Team:
    def __init__(self, threads: int, partner: Team | None = None) -> None: ...
    def start(self) -> None: ...
    def cancel(self) -> None: ...

class FileReader:
    def __init__(self, threads: int) -> None: ...
    def read(self, descriptor: int, offsets: Ints, length: int, out: Array) -> None: ...

LANES: int
SCREEN_ROUNDINGS: int

def resident_share(data: Array, element: Element) -> float: ...
def add_scores(
    data: Array, element: Element, metric: Metric, queries: Floats, team: Team, sums: Floats
) -> None: ...

class Turns:
    def __init__(self) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(self, *raised: object) -> None: ...

class Order:
    def __init__(self, weight: Floats, seed: int) -> None: ...
    @property
    def length(self) -> int: ...
    @property
    def blocks(self) -> Ints: ...
    @property
    def left(self) -> Floats: ...
    def draw(self, front: int) -> None: ...
    def has_drawn(self, block: int, start: int, stop: int) -> bool: ...
    def undrawn(self, front: int) -> Ints: ...

def heaviest_first(weight: Floats, seed: int) -> Ints: ...

ACTIVE: int
SUSPENDED: int
DROPPED: int
KNOWN: int
STEPS_PER_GROUP: int
BYTES_OF_BET: int

class BetConstants:
    def __init__(
        self, *, largest_loss: float, softening: float, first_stake: int, halvings: int
    ) -> None: ...

class PredictionRules:
    def __init__(
        self,
        *,
        eagerness: float,
        longest_wait: float,
        least_wealth: float,
        trend_steps: int,
        trend_start: float,
        trend_renewal: float,
        least_growth: float,
        sampled_arms: int,
    ) -> None: ...

class Met:
    @property
    def largest(self) -> float: ...
    @property
    def broken(self) -> int: ...
    @property
    def outside(self) -> int: ...

class Survey:
    @property
    def guess(self) -> float: ...
    @property
    def candidates(self) -> Ints: ...
    @property
    def others(self) -> int: ...
    @property
    def runner_up(self) -> int: ...
    @property
    def waste(self) -> float: ...

class Ledger:
    def __init__(
        self,
        scale: Floats,
        limit: Floats,
        square_limit: Floats | None,
        *,
        centres: float,
        magnitude: float,
        weights: float,
        rounding: float,
        floor: float,
        estimated: bool,
        two_sided: bool,
        both_signs: bool,
        constants: BetConstants,
        rules: PredictionRules,
    ) -> None: ...
    @property
    def bytes(self) -> int: ...
    @property
    def status(self) -> Array: ...
    @property
    def steps(self) -> Ints: ...
    @property
    def scores(self) -> Floats: ...
    @property
    def estimates(self) -> Floats: ...
    @property
    def errors(self) -> Floats: ...
    @property
    def high(self) -> Floats: ...
    @property
    def low(self) -> Floats: ...
    def record(
        self, order: Order, centre: Floats, start: int, stop: int, guess: float, stakes: bool
    ) -> None: ...
    def read(
        self,
        team: Team,
        dense: Dense,
        arms: Ints,
        order: Order,
        positions: Ints,
        start: int,
        stop: int,
    ) -> Met: ...
    def read_on(
        self,
        team: Team,
        dense: Dense,
        arms: Ints,
        order: Order,
        centre: Floats,
        stop: int,
        guess: float,
        stakes: bool,
    ) -> Met: ...
    def add(
        self,
        team: Team,
        sums: Floats,
        positions: Ints,
        start: int,
        stop: int,
        squares: Floats | None = None,
    ) -> Met: ...
    def survey(self, k: int, caution: float) -> Survey: ...
    def take_stock(
        self, team: Team, k: int, caution: float, threshold: float, epsilon: float, log_level: float
    ) -> Survey: ...
    def remaining_steps(
        self, team: Team, length: int, theta: float, log_level: float
    ) -> tuple[float, float]: ...
    def other_arms(self, survey: Survey) -> Ints: ...
    def needed_steps(
        self, positions: Ints, length: int, theta: float, log_level: float
    ) -> Floats: ...
    def predicted_front(self, share: float, log_level: float) -> float: ...
    def likely_threshold(self, k: int) -> float: ...
    def judge(
        self, team: Team, positions: Ints, theta: float, log_level: float, beaten: int
    ) -> int: ...
    def ceiling(self, team: Team, positions: Ints, log_level: float, low: float) -> float: ...
    def raise_limit(self, limit: float) -> None: ...
    def forget_bets(self) -> None: ...
    def arms_with(self, status: int) -> Ints: ...
    @property
    def n_active(self) -> int: ...
    @property
    def n_undecided(self) -> int: ...
    def learn(self, positions: Ints, scores: Floats, k: int) -> float: ...
    def kth_score(self, k: int) -> float: ...

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

class QueryTerm(Enum):
    ABSOLUTE = 0
    SQUARE = 1
    PRODUCT = 2

class Dense:
    def __init__(
        self, data: Array, element: Element, metric: Metric, query: Array, *, block: int, shift: int
    ) -> None: ...

class Selection:
    def __init__(self, units: Floats, lengths: Floats, k: int, most: int) -> None: ...
    def add(
        self,
        team: Team,
        scores: Array,
        first: int,
        *,
        offset: Floats,
        scale: Floats,
        fixed: Floats,
        factor: Floats,
        both_signs: bool,
    ) -> None: ...
    def candidates(self, team: Team) -> tuple[Ints, Ints]: ...

def round_queries(
    queries: Array,
    most: float,
    team: Team,
    values: Array,
    units: Floats,
    norms: Floats,
    lost: Floats,
) -> bool: ...

class ErrorTerms:
    def __init__(
        self,
        *,
        slack: float,
        product_share: float,
        underflow: float,
        smallest_size: float,
        square_share: float,
        lost_norm: float,
        distance: bool,
    ) -> None: ...

def product_errors(
    terms: ErrorTerms, norms: Floats, lost: Floats, units: Floats, squares: Floats, scale: Floats
) -> tuple[Floats, float, Floats, Floats, Floats]: ...
def queries_together(count: int, width: int, n_rows: int) -> int: ...

class Operand:
    def __init__(self, queries: Array, team: Team, n_rows: int) -> None: ...
    @property
    def roundings(self) -> int: ...
    def multiply(
        self, dense: Dense, arms: Ints, team: Team, scores: Array, squares: Floats
    ) -> None: ...
    def candidates(
        self,
        dense: Dense,
        arms: Ints,
        team: Team,
        *,
        terms: ErrorTerms,
        norms: Floats,
        lost: Floats,
        units: Floats,
        scale: Floats | None,
        both_signs: bool,
        k: int,
        most: int,
        rows: int,
        largest_square: float,
        squares: Floats,
    ) -> tuple[Ints, Ints] | None: ...
    def best(
        self,
        data: Array,
        element: Element,
        metric: Metric,
        arms: Ints,
        team: Team,
        *,
        terms: ErrorTerms,
        sizes: tuple[float, float],
        largest_square: float,
        scale: Floats | None,
        both_signs: bool,
        most: int,
        rows: int,
        positions: Ints,
        scores: Floats,
        evaluated: Ints,
    ) -> bool: ...

def best_by_scores(
    data: Array,
    element: Element,
    metric: Metric,
    queries: Array,
    arms: Ints,
    team: Team,
    *,
    scale: Floats | None,
    both_signs: bool,
    positions: Ints,
    scores: Floats,
    evaluated: Ints,
) -> bool: ...
def measure_queries(queries: Array, team: Team, sizes: Floats, norms: Floats) -> None: ...
def best_of_rows(
    scores: Floats, k: int, team: Team, best_arms: Ints, best_scores: Floats
) -> None: ...
def best(scores: Floats, arms: Ints, k: int) -> tuple[Ints, Floats]: ...
def best_of_each(
    scores: Floats,
    arms: Ints,
    starts: Ints,
    k: int,
    team: Team,
    best_arms: Ints,
    best_scores: Floats,
) -> None: ...
def query_sums(
    term: QueryTerm, query: Array, by: Floats, block: int, shift: int, team: Team, sums: Floats
) -> float: ...
def extremes(values: Floats) -> tuple[float, float]: ...
def all_finite(values: Array) -> bool: ...
def all_equal(values: Array, others: Floats) -> bool: ...
def coordinate_major(data: Array, element: Element) -> bool: ...
def block_sums(
    dense: Dense, arms: Ints, blocks: Ints, team: Team, sums: Floats, squares: Floats | None = None
) -> None: ...
def totals(
    dense: Dense,
    arms: Ints,
    blocks: Ints,
    centre: Floats,
    weight: Floats,
    team: Team,
    high: Floats,
    low: Floats,
    largest: Floats,
) -> None: ...
def column_sums(dense: Dense, arms: Ints, blocks: Ints, team: Team, sums: Floats) -> None: ...
def row_scores(
    dense: Dense,
    queries: Array | None,  # float64 or float32
    arms: Ints,
    team: Team,
    scores: Floats,
    squares: Floats | None = None,
) -> None: ...
def pair_scores(
    dense: Dense, queries: Array, starts: Ints, arms: Ints, team: Team, scores: Floats
) -> None: ...
def run_scores(
    dense: Dense,
    starts: Ints,
    stops: Ints,
    arms: Ints,
    team: Team,
    scores: Floats,
    squares: Floats | None = None,
) -> None: ...
def screen(
    dense: Dense,
    queries: Array,
    arms: Ints,
    team: Team,
    scores: Floats,
    squares: Floats | None = None,
) -> None: ...
def rounded_query(metric: Metric, query: Floats) -> tuple[Array, float, float, float] | None: ...
def norm_if_usual(query: Array) -> float | None: ...
def query_norms(queries: Array, team: Team, norms: Floats) -> None: ...
def exact_best(
    data: Array,
    element: Element,
    metric: Metric,
    query: Array,
    arms: Ints,
    team: Team,
    *,
    screen: tuple[float, float, float, int, float] | None,
    absolute: bool,
    scale: Floats | None,
    norms: tuple[Floats, float, float, float] | None,
    best_arms: Ints,
    best_scores: Floats,
) -> tuple[int, int] | None: ...
def screen_and_evaluate(
    dense: Dense,
    rounded: Array,
    arms: Ints,
    team: Team,
    *,
    scale: Floats | None,
    absolute: bool,
    unit: float,
    fixed: float,
    of_root: float,
    of_score: float,
    best: Floats,
    k: int,
    first: int,
    share: float,
    norms: Floats | None,
    screened_leeway: float,
    leeway: float,
) -> tuple[int, bool, Ints, Floats, bool]: ...
def candidates(
    sums: Floats,
    squares: Floats | None,
    scale: Floats | None,
    absolute: bool,
    *,
    fixed: float,
    of_root: float,
    of_score: float,
    best: Floats,
    k: int,
) -> Ints: ...
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
def instruction_sets() -> list[str]: ...
def instruction_set() -> str: ...
def use_instruction_set(name: str) -> None: ...
