"""What the parts of a race cost: what reading costs, by the source, and the bets.

In nanoseconds, as in `sureshot.sources.costs`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.sources.base import Source
    from sureshot.sources.costs import ReadingCosts

# To place a bet, and to replay it a few times.
BET = 4.0
# To draw a block, put it into its place and bet on it, however few arms there are.
DRAW = 200.0

# Pieces of rows whose blocks are added up exactly, against rows that are read from end to end; and slabs of
# columns of which some arms are taken, against whole columns.
PIECES_OF_ROWS = 1.8
SLABS_OF_COLUMNS = 1.05

# Bytes that the bets of a search may take, or this many for each arm if that is more.
LEDGER_BYTES = 40 << 20
LEDGER_BYTES_OF_ARM = 512


# One number of rows, or several.
RowCount = TypeVar("RowCount", float, "Floats")


@dataclass(frozen=True, slots=True)
class Costs:
    """What a race must know of the time that it takes."""

    visit: float  # of an active arm, before anything is read of it
    step: float  # a block of an active arm, read and bet on
    lone_step: float  # the same if few arms are active
    draw: float  # a block of the order, however few arms are active
    row: float  # a block of a row that is read whole, with few others,
    first_row: float  # besides which the first of these costs so much
    rest: float  # a block of a row, if all of them are read whole
    round: float
    ledger_bytes: int
    n_arms: int

    def of_rows(self, rows: RowCount, length: int) -> RowCount:
        """Return what it costs to evaluate so many rows at a time, one or more."""
        return length * (self.first_row + self.row * rows)

    def of_steps(self, arms: float, steps: float) -> float:
        """Return what it costs to read so many steps of so many active arms: no more than of all of them."""
        return steps * (min(self.lone_step * arms, self.step * self.n_arms) + self.draw)


def costs_of(
    reading: ReadingCosts,
    n_arms: int,
    *,
    blocks_per_step: float = 1.0,
    of_scores: Ints | None = None,
    norms: bool = False,
) -> Costs:
    """Return the costs of a race of so many arms.

    For each block that can be drawn exact scores are read from so many: from those `of_scores`, if these are not all.
    With `norms` squares are added up.
    """
    row, rest = reading.row, reading.everything
    if of_scores is not None:
        runs = 1 + int(np.count_nonzero(np.diff(of_scores) > 1))
        row = reading.partial_row + reading.run * runs / max(len(of_scores), 1)
        rest = reading.partial_everything
    # Next to pulls that are paid for, nothing else counts.
    bet, draw = (0.0, 0.0) if reading.each_number_is_paid else (BET, DRAW)
    return Costs(
        visit=reading.visit,
        step=bet + reading.block + (reading.squares if norms else 0.0),
        lone_step=bet + reading.lone_block,
        draw=draw + reading.next_block,
        row=blocks_per_step * row,
        first_row=blocks_per_step * reading.first_row,
        rest=blocks_per_step * rest,
        round=reading.round,
        ledger_bytes=max(LEDGER_BYTES, LEDGER_BYTES_OF_ARM * n_arms),
        n_arms=n_arms,
    )


def cost_of_pieces(source: Source, arms: Floats) -> Floats:
    """Return what a block of so many arms costs, in long pieces on which nothing is bet."""
    reading = source.costs
    if not source.coordinate_major:
        return arms * PIECES_OF_ROWS * reading.everything
    # Down to about one arm in each cache line, all lines of a column are read.
    return np.minimum(
        SLABS_OF_COLUMNS * reading.everything * source.n_arms, reading.lone_block * arms
    )
