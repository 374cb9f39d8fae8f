"""What reading costs, by how the data is stored.

The figures are nanoseconds on the machine of ``measurements/policy/costs.py``, which repeats their
measurement; only their ratios matter. They are fixed here, and depend on neither the clock nor the
threads, so that a search does the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from sureshot.blocks import CACHE_LINE

if TYPE_CHECKING:
    from sureshot.storage.base import Access

# A random cache line, not prefetched, and one that follows the last.
SCATTERED_LINE = 3.5
NEXT_LINE = 2.0
# A cache line of a row that is read to the end without some of its blocks, and by column a number: of one
# row alone, and of all rows. By column: to come to another run of columns.
PICKED_LINE = 6.5
PICKED_NUMBER = 3.5
PICKED_NUMBER_OF_ALL = 0.2
NEXT_RUN = 45.0
# By column: a number of a row that is evaluated with others, and besides of the first of them: their pages are found
# together.
NUMBER_OF_ROW = 3.5
NUMBER_OF_FIRST_ROW = 4.5
# By column: a number of a block of which squares are added up as well.
SQUARED_NUMBER = 0.5
# By column: to come to a column of a block, however few arms are read.
NEXT_COLUMN = 100.0
# To come back to an arm: its row must be found in memory again, and its bets. Chosen by timing whole
# searches; the calibration, which comes back at once, finds less.
VISIT_OF_ROW = 200.0
VISIT_OF_COLUMN = 60.0
# A number of a row in a pass over all rows that adds up in double, for each query that shares it, besides reading it: of
# an inner product, of a distance, and of float64.
SHARED_NUMBER = 0.025
SHARED_DISTANCE = 0.04
SHARED_DOUBLE = 0.04
# Besides, to choose the best of all scores of a query in double, each; and for each query.
EVALUATED_SCORE = 2.0
EVALUATED_QUERY = 2_500.0
# A number of a row in a matrix product, for each query. And once for all queries, to read it; of rows by column, to copy it
# first. So many numbers are in a cache when they are read again.
PRODUCT_NUMBER = 0.011
PRODUCT_READ = 0.1
COPIED_READ = 0.4
NUMBERS_IN_CACHE = 1 << 23
# A matrix product, besides what it computes and what every call costs; to choose the best of the scores of a query, each; to
# evaluate the arms that can be among the best of one query, each number of theirs; and for each query.
PRODUCT_CALL = 50_000.0
PRODUCT_SCORE = 1.2
PAIR_NUMBER = 0.12
PRODUCT_QUERY = 1_000.0
# A round of a search, besides what it reads.
ROUND = 120_000.0


@dataclass(frozen=True, slots=True)
class ReadingCosts:
    """What reading costs. All but `next_block`, `run`, `visit` and `round` are the cost of one block of one arm."""

    block: float  # where many arms are read,
    squares: float  # and so much more if their squares are added up
    lone_block: float  # where few arms are read,
    next_block: float  # besides which so much is spent on a block, however few they are
    row: float  # of a row that is read whole, with few others,
    first_row: float  # besides which the first of these costs so much
    everything: float  # if all rows are read whole
    partial_row: float  # of a row that is read without some blocks, with few others
    partial_everything: float  # if all rows are read without these blocks
    run: float  # to come to another run of such blocks
    visit: float  # to come back to an arm
    round: float
    # Whether every number has a price of its own, so that reading costs all the time there is and no number
    # is read twice.
    each_number_is_paid: bool = False


def uniform(block: float, *, round: float = 0.0, each_number_is_paid: bool = False) -> ReadingCosts:
    """Return the costs of a storage where a block costs the same wherever it is."""
    return ReadingCosts(
        block=block,
        squares=0.0,
        lone_block=block,
        next_block=0.0,
        row=block,
        first_row=0.0,
        everything=block,
        partial_row=block,
        partial_everything=block,
        run=0.0,
        visit=0.0,
        round=round,
        each_number_is_paid=each_number_is_paid,
    )


def from_storage(access: Access, block: int, bytes_per_number: int) -> ReadingCosts:
    """Return the costs of a stored matrix whose blocks have so many numbers.

    Rows that come together share what a unit costs where many are wanted; a row alone pays for all of them.
    """
    stream = block * bytes_per_number * access.byte
    if access.unit_rows == 1:  # what follows each other comes by one request
        row, scattered = stream, access.request + stream
    else:
        units = -(-block // access.unit_columns)
        numbers = units * access.unit_columns * access.unit_rows
        row = scattered = units * access.request + numbers * bytes_per_number * access.byte
    return ReadingCosts(
        block=scattered / access.unit_rows,
        squares=0.0,
        lone_block=scattered,
        next_block=0.0,
        row=row,
        first_row=0.0,
        everything=stream,
        partial_row=scattered,
        partial_everything=scattered / access.unit_rows,
        run=0.0,
        visit=0.0,
        round=access.round,
    )


def in_partitions(block: int, bytes_per_number: int, round: float) -> ReadingCosts:
    """Return the costs of partitions that are read as memory, where a set of calls costs so much."""
    return replace(in_memory(block, bytes_per_number, coordinate_major=False), round=round)


# Each pull costs the same, and so much that nothing else counts.
PAID_PULLS = uniform(1.0, each_number_is_paid=True)


@lru_cache(maxsize=64)  # to make them takes longer than to look them up
def in_memory(block: int, bytes_per_number: int, *, coordinate_major: bool) -> ReadingCosts:
    """Return the costs of an array whose blocks have so many numbers."""
    lines = block * bytes_per_number / CACHE_LINE
    if coordinate_major:
        # A column lies together, and so does the next value of all rows, but not of one row.
        return ReadingCosts(
            block=NEXT_LINE * lines,
            squares=SQUARED_NUMBER * block,
            lone_block=SCATTERED_LINE * block,
            next_block=NEXT_COLUMN * block,
            row=NUMBER_OF_ROW * block,
            first_row=NUMBER_OF_FIRST_ROW * block,
            everything=NEXT_LINE * lines,
            partial_row=PICKED_NUMBER * block,
            partial_everything=PICKED_NUMBER_OF_ALL * block,
            run=NEXT_RUN,
            visit=VISIT_OF_COLUMN,
            round=ROUND,
        )
    lines = max(1.0, lines)
    return ReadingCosts(
        block=SCATTERED_LINE * lines,
        squares=0.0,
        lone_block=SCATTERED_LINE * lines,
        next_block=0.0,
        row=NEXT_LINE * lines,
        first_row=0.0,
        everything=NEXT_LINE * lines,
        partial_row=PICKED_LINE * lines,
        partial_everything=PICKED_LINE * lines,
        run=0.0,
        visit=VISIT_OF_ROW,
        round=ROUND,
    )
