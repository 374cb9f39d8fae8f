"""What share a search is expected to read, and how fast it is: the formula behind ``docs/can-it-help.md``.

The costs are those by which a search itself decides. Which part of the numbers is read follows from how far apart the scores
are. ``docs/_static/advice.js`` has the same formula for readers, with the constants that `constants` gives it, and a test
compares the two; `tests/measurements/test_advice.py` compares both with measured rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from sureshot.blocks import CACHE_LINE
from sureshot.search.race import policy
from sureshot.search.race.costs import BET
from sureshot.sources import costs
from sureshot.storage import dask, file

# What the words of an advice mean.
ANSWERS = {
    "yes": "yes",
    "perhaps": "perhaps: a sample of the rows decides",
    "no gap": "no: the scores are too close to each other",
    "rounds": "no: the rounds of a search cost as much as reading everything",
    "small": "no: too small",
}
STORAGES = ("row", "column", "file", "cluster")
BOUNDS = ("scan", "none")

ITEM = 4  # bytes of a number, float32
DELTA = 0.05
# Rows that are evaluated to the end, for each that is returned.
EVALUATED = 2.0
# Where the bets must find the limits themselves: how large a block sum may be, in its standard deviations. Sums of few
# numbers have longer tails. Fitted to the measured rows.
LIMIT = 4.0
LIMIT_OF_ONE = 26.0
# Blocks of each row that are read at least, by row and by column; blocks in a round of memory, and rounds.
LEAST_STEPS = 16.0
LEAST_COLUMNS = 100.0
STEPS_OF_ROUND = 32.0
ROUNDS = 6.0
ROUNDS_OF_FILE = 16.0
TRIPS = 10.0
# To prepare a query, for each coordinate.
COORDINATE = 20.0
PARTITIONS_OF_WORKER = 4.0
# From this gain on the answer is yes: the formula may be off by a factor of two.
SURE = 4.0
# Below this time of an exact product a call costs about as much.
SMALL = 1e6


@dataclass(frozen=True, slots=True)
class Question:
    """A search that somebody thinks about.

    `gap` is how far the k-th best score lies above that of an ordinary row, in units of the norm of a row times that of
    the query: for cosines their difference.
    """

    rows: float
    width: float
    gap: float
    storage: str = "row"
    bounds: str = "scan"
    k: float = 10
    workers: float = 8


@dataclass(frozen=True, slots=True)
class Advice:
    """What is expected: the share of the numbers, the gain over reading everything, and a word for it."""

    share: float
    gain: float
    exact_seconds: float
    verdict: str  # a key of `ANSWERS`


def constants() -> dict[str, float]:
    """Return all constants of the formula, by the names that the calculator uses."""
    return {
        "item": ITEM,
        "delta": DELTA,
        "evaluated": EVALUATED,
        "limit": LIMIT,
        "limitOfOne": LIMIT_OF_ONE,
        "leastSteps": LEAST_STEPS,
        "leastColumns": LEAST_COLUMNS,
        "stepsOfRound": STEPS_OF_ROUND,
        "rounds": ROUNDS,
        "roundsOfFile": ROUNDS_OF_FILE,
        "trips": TRIPS,
        "coordinate": COORDINATE,
        "partitionsOfWorker": PARTITIONS_OF_WORKER,
        "small": SMALL,
        "line": CACHE_LINE,
        "nextLine": costs.NEXT_LINE,
        "scatteredLine": costs.SCATTERED_LINE,
        "visitOfRow": costs.VISIT_OF_ROW,
        "visitOfColumn": costs.VISIT_OF_COLUMN,
        "round": costs.ROUND,
        "bet": BET,
        "request": file.REQUEST,
        "byte": file.BYTE,
        "roundOfFile": file.ROUND,
        "page": file.PAGE,
        "longestUnit": file.LONGEST_UNIT,
        "unitsOfRow": file.UNITS_OF_ROW,
        "roundOfScheduler": dask.ROUND_OF_SCHEDULER,
        "taskOfScheduler": dask.TASK_OF_SCHEDULER,
        "leastGain": policy.DEFAULT.least_gain,
        "sure": SURE,
    }


def block_of(question: Question) -> float:
    """Return how many numbers are read together.

    Examples
    --------
    >>> [block_of(Question(1e4, 1e6, 0.5, storage)) for storage in STORAGES]
    [16.0, 1.0, 1024.0, 16.0]
    """
    if question.storage == "column":
        return 1.0
    if question.storage == "file":
        unit = float(file.PAGE)
        while unit < min(ITEM * question.width / file.UNITS_OF_ROW, file.LONGEST_UNIT):
            unit *= 2
        return unit / ITEM
    return CACHE_LINE / ITEM


def steps_of(question: Question) -> float:
    """Return how many blocks of an ordinary row are read until it is dropped.

    A bet wins about ``g² / (2 (1 + g²))`` a step in logarithms, with g the gap in standard deviations of a block sum, and
    must win ``log(k / δ)`` in all. Of independent coordinates with mean zero g is the gap of the scores times the root of the
    block's length. Without bounds a stake is limited by the largest sum that is thought possible.

    Examples
    --------
    >>> round(steps_of(Question(10_000, 100_000, 0.3)), 1)
    18.0
    """
    block, level = block_of(question), math.log(question.k / DELTA)
    steps = 2 * level * (1 + 1 / (block * question.gap**2))
    if question.bounds == "none":
        steps += level * (LIMIT + LIMIT_OF_ONE / math.sqrt(block))
    return min(steps, max(1.0, question.width / block))


def seconds_of(question: Question) -> tuple[float, float]:
    """Return how long it takes to read everything, and how long a race takes."""
    rows, width, steps = question.rows, question.width, steps_of(question)
    evaluated = EVALUATED * question.k
    if question.storage == "file":
        unit = ITEM * block_of(question)
        one_step = file.REQUEST + (unit + file.PAGE) * file.BYTE
        row = ITEM * width * file.BYTE
        race = rows * steps * one_step + evaluated * row + ROUNDS_OF_FILE * file.ROUND
        return (rows * row + file.ROUND) / 1e9, race / 1e9
    steps = max(steps, LEAST_COLUMNS if question.storage == "column" else LEAST_STEPS)
    lines = max(1.0, ITEM * width / CACHE_LINE)
    row = lines * costs.NEXT_LINE
    if question.storage == "column":
        one_step = costs.NEXT_LINE * ITEM / CACHE_LINE + BET
        visit, lone_row = costs.VISIT_OF_COLUMN, width * costs.SCATTERED_LINE
    else:
        one_step, visit, lone_row = costs.SCATTERED_LINE + BET, costs.VISIT_OF_ROW, row
    reading = rows * (steps * one_step + (2 + steps / STEPS_OF_ROUND) * visit)
    preparing = width * COORDINATE + evaluated * lone_row
    if question.storage == "cluster":
        partitions = PARTITIONS_OF_WORKER * question.workers
        trip = dask.ROUND_OF_SCHEDULER + dask.TASK_OF_SCHEDULER * partitions
        everything = rows * row / question.workers + trip
        race = reading / question.workers + rows * steps * BET + preparing + TRIPS * trip
        return everything / 1e9, race / 1e9
    return rows * row / 1e9, (reading + preparing + ROUNDS * costs.ROUND) / 1e9


def advise(question: Question) -> Advice:
    """Return what is expected of a search.

    Examples
    --------
    >>> advise(Question(10_000, 100_000, 1.5)).verdict, advise(Question(10_000, 100_000, 0.01)).verdict
    ('yes', 'no gap')
    """
    share = steps_of(question) * block_of(question) / question.width
    share = min(1.0, share + EVALUATED * question.k / question.rows)
    everything, race = seconds_of(question)
    gain = everything / race
    if everything * 1e9 < SMALL:
        verdict = "small"
    elif gain >= SURE:
        verdict = "yes"
    elif gain >= policy.DEFAULT.least_gain:
        verdict = "perhaps"
    else:
        verdict = "no gap" if seconds_of(_far_apart(question))[1] * 2 < race else "rounds"
    if verdict in ("small", "no gap", "rounds"):
        share, gain = 1.0, 1.0
    return Advice(share, gain, everything, verdict)


def _far_apart(question: Question) -> Question:
    """Return the same question of scores that could not lie farther apart."""
    return Question(
        question.rows, question.width, 1.0, question.storage, "scan", question.k, question.workers
    )


def independent_gap(rows: float, width: float, k: float) -> float:
    """Return about how far apart the scores of independent values are.

    The k-th best of many normal scores lies about ``√(2 log(n / k))`` standard deviations above their mean, and cosines of
    independent values have the standard deviation ``1 / √N``.

    Examples
    --------
    >>> round(independent_gap(10_000, 100_000, 10), 4)
    0.0118
    """
    return math.sqrt(2 * math.log(max(math.e, rows / k)) / width)
