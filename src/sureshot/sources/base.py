"""What every source answers: the sums of these arms over these blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._native import Ledger, Met, Order, Team
    from sureshot._types import Floats, Ints
    from sureshot.blocks import Blocks


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums of some arms over the same blocks, one entry per arm.

    ``high + low`` is the sum in twice the precision of float64, so that it depends neither on the
    order nor on the grouping of the blocks.
    """

    high: Floats
    low: Floats
    largest: Floats  # the largest |block sum - centre| / weight met
    squares: Floats | None  # sums of the squared data values, where they were asked for


class RewardSource(Protocol):
    """Rewards f(arm, coordinate) of `n_arms` arms, read in blocks of consecutive coordinates.

    `Blocks` says which coordinates are pulled as one. All sums are float64. A reward that is met and is not a finite number
    raises `BoundsError`.
    """

    n_arms: int
    n_coordinates: int
    blocks: Blocks
    bytes_per_number: int
    coordinate_major: bool  # whether one coordinate of all arms is nearer than all of one arm

    def block_sums(self, arms: Ints, blocks: Ints, squares: Floats | None = None) -> Floats:
        """Return the sum of each arm over each block, shape (len(blocks), len(arms)).

        `squares`, where the source has data values and the array is given, is filled with the sums
        of their squares in the same shape.
        """
        ...

    def advance(
        self,
        ledger: Ledger,
        order: Order,
        team: Team,
        arms: Ints,
        positions: Ints,
        start: int,
        stop: int,
    ) -> Met:
        """Read the drawn blocks [start, stop) of the arms at some positions into the ledger."""
        ...

    def finish(
        self, arms: Ints, positions: Ints, ledger: Ledger, order: Order
    ) -> tuple[Floats, int]:
        """Return the sums of the arms at some positions over all blocks that can be drawn.

        And how many numbers were read for it.
        """
        ...

    def totals(
        self, arms: Ints, blocks: Ints, centre: Floats, weight: Floats, *, squares: bool = False
    ) -> Totals:
        """Return the sums of each arm over all the blocks together.

        `centre` and `weight`, one entry per given block, are what `Totals.largest` is measured in.
        """
        ...

    def exact_scores(
        self,
        arms: Ints,
        sources: Sequence[Self] = (),
        team: Team | None = None,
        norms: Floats | None = None,
    ) -> Floats:
        """Return the sum of all rewards of each arm, shape (len(arms),).

        With `sources` of the same data, itself among them, that of each, (len(sources), len(arms)),
        in one pass over the data where that is possible, by another team where one is given.
        `norms`, where the source has data values and the array is given, is filled with the
        Euclidean norm of each arm in the same pass.
        """
        ...
