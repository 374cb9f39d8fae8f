"""What the parts of a search cost, by how the data is stored.

The figures are nanoseconds on the machine of ``measurements/policy/costs.py``, which repeats their
measurement; only their ratios matter. They are fixed here, and depend on neither the clock nor the
threads, so that a search does the same everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sureshot.search.problem import Problem

CACHE_LINE = 64  # bytes

# A round of a search, besides what it reads.
ROUND = 120_000.0
# To place a bet, and to replay it a few times.
BET = 4.0
# To come back to an arm: its row must be found in memory again, and its bets. Chosen by timing whole
# searches; the calibration, which comes back at once, finds less.
VISIT_OF_ROW = 200.0
VISIT_OF_COLUMN = 60.0
# To draw a block, put it into its place and bet on it, however few arms there are.
DRAW = 200.0
# A cache line of a row that is read to the end without the blocks that are never drawn, and by column a
# number: of one row alone, and of all rows.
PICKED_LINE = 6.5
PICKED_NUMBER = 40.0
PICKED_NUMBER_OF_ALL = 1.1
# A cache line that nobody expected, and one that follows the last.
SCATTERED_LINE = 3.5
NEXT_LINE = 2.0

# Bytes that the bets of a search may take, or this many for each arm if that is more.
LEDGER_BYTES = 40 << 20
LEDGER_BYTES_OF_ARM = 512


@dataclass(frozen=True, slots=True)
class Costs:
    """What a search must know of the time that it takes."""

    visit: float  # of an active arm, before anything is read of it
    step: float  # a block of an active arm, read and bet on
    lone_step: float  # the same if few arms are active
    draw: float  # a block of the order
    row: float  # a block of a row that is read whole, alone
    rest: float  # a block of a row, if all of them are read whole
    round: float
    ledger_bytes: int


# Each pull costs the same, and so much that nothing else counts.
PULLS = Costs(
    visit=0.0,
    step=1.0,
    lone_step=1.0,
    draw=0.0,
    row=1.0,
    rest=1.0,
    round=0.0,
    ledger_bytes=LEDGER_BYTES,
)


def of(problem: Problem, *, whole_rows: bool = True) -> Costs:
    """Return the costs of a problem.

    Without `whole_rows` some blocks are never drawn, and exact scores pass over them.
    """
    ledger_bytes = max(LEDGER_BYTES, LEDGER_BYTES_OF_ARM * len(problem.arms))
    if not problem.cheap_pulls:
        return replace(PULLS, ledger_bytes=ledger_bytes)
    source = problem.source
    lines = max(1.0, source.blocks.size * source.bytes_per_number / CACHE_LINE)
    if source.coordinate_major:
        # A column lies together, and so does the next value of all rows, but not of one row.
        lines_of_all = source.blocks.size * source.bytes_per_number / CACHE_LINE
        row, rest = SCATTERED_LINE * source.blocks.size, NEXT_LINE * lines_of_all
        if not whole_rows:
            row, rest = (
                PICKED_NUMBER * source.blocks.size,
                PICKED_NUMBER_OF_ALL * source.blocks.size,
            )
        return Costs(
            visit=VISIT_OF_COLUMN,
            step=BET + NEXT_LINE * lines_of_all,
            lone_step=BET + SCATTERED_LINE * source.blocks.size,
            draw=DRAW,
            row=row,
            rest=rest,
            round=ROUND,
            ledger_bytes=ledger_bytes,
        )
    row = (NEXT_LINE if whole_rows else PICKED_LINE) * lines
    return Costs(
        visit=VISIT_OF_ROW,
        step=BET + SCATTERED_LINE * lines,
        lone_step=BET + SCATTERED_LINE * lines,
        draw=DRAW,
        row=row,
        rest=row,
        round=ROUND,
        ledger_bytes=ledger_bytes,
    )
