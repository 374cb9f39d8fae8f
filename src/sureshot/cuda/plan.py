"""How a search on a device is cut up: blocks, caps and counts, from sizes alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sureshot.cuda import rounding

# Blocks of a row are read in 64 bytes: two sectors. Longer ones need fewer steps but not less time, except for weak signals.
BLOCK_BYTES = rounding.CHUNKS * rounding.CHUNK_BYTES

# Threads that evaluate a row together: warps of lanes, each with a chunk of a unit of columns.
WARPS, LANES = 16, 32
THREADS = WARPS * LANES

# Units of a piece of a row, at least, and the most pieces of a row.
UNITS = 2
MOST_PIECES = 16

# Tickets drawn with replacement for an order; repeats are dropped.
DRAWS = 1024

# The most arms of an answer: they are ranked by one block of threads.
MOST_ARMS = 1000

# Bundles of neighbouring blocks whose tickets are counted: as many as fit into the shared memory of every card.
PLACES = 7168

# Rows evaluated before the first bet, and slots for candidates, where k is small.
FIRST_ROWS = 64
SLOTS = 64

# Up to so many arms that are left are evaluated without more bets.
DIRECT = 128

# Steps of the first race where few arms are pruned by their norms, and where half of them are.
SHORT_CAP = 8
LONG_CAP = 48

# Rows of fewer blocks are evaluated at once: a race would read most of them.
FEWEST_BLOCKS = 32

# Data of at most so many bytes is read whole: a race takes as long as a card of today needs to read it.
SMALL_BYTES = 1 << 29

# One kernel evaluates and ranks up to so many arms; of more, many are evaluated first, so that few of the others are ranked.
WHOLE_ARMS = 1 << 14
MANY_FIRST_ROWS = 1024

# More rows than that, of at most so many columns, are multiplied with a single query in float32 before the best of them are evaluated.
SKIMMED_COLUMNS = 8192
# Those of which a first race would read more than this share race only if the norms rule out three quarters of a sample of them: a
# race reads 64 bytes here and there, which takes four times as long as the same bytes of a pass. More of them are evaluated first,
# since a pass needs a good threshold where nothing has raced.
SKIMMED_SHARE = 1 / 32
SKIMMED_FIRST_ROWS = 256

# A list of the arms that may be among the best has room for so many times what a random sample of the first rows promises, and
# at least for the second number; those of them that are evaluated have room for the third.
LIST_ROOM = 4
SHORTEST_LIST = 1 << 16
SHORTEST_RECORDS = 1 << 14
# Groups of arms whose largest scores bound the k-th largest of all.
GROUPS = 4096

# Queries of a batch do not race where their first race would read more than this share of what a pass for all of them reads.
BATCH_SHARE = 0.25

# Data of fewer bytes has no second chance: the time of its launches would be more than a few per cent of a pass.
CHANCE_BYTES = 2 << 30

# Up to so many arms race with two rounds at a time: their steps are waited for, and not the memory.
WIDE_ARMS = 4096

# Steps of the second race for few rows and for many, and of the last one.
SECOND_CAP = 128
SECOND_CAP_OF_MANY = 256
MANY_ROWS = 50_000
LAST_CAP = 512

# Where going on seems not to pay, arms race to SECOND_CAP before all of them are evaluated, if that reads at
# most this share of a row.
CHANCE_SHARE = 0.04

# Arms that are looked at to decide how a search goes on.
PRUNING_SAMPLE = 256
COST_SAMPLE = 2048

# Going on does not pay if more than an eighth of the arms are left and the steps predicted for them are more
# than this share of all.
MOST_COST = 0.08
FEW_LEFT = 8

# Where it does not pay and at most one arm in so many is dropped, all of them are evaluated, so that the answer is exact.
NEARLY_ALL = 16


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes of one search; the same for every query of a matrix and every card."""

    n_arms: int
    n_coordinates: int
    chunk: int  # columns of a chunk of 16 bytes
    block: int  # columns of a block
    n_blocks: int
    first_rows: int
    slots: int  # a power of two
    direct: int
    second_cap: int
    draws: int = DRAWS
    short_cap: int = SHORT_CAP
    long_cap: int = LONG_CAP
    last_cap: int = LAST_CAP

    def chance(self, n_queries: int) -> int:
        """Return how far the arms of queries that seem not to gain by racing race on together, or 0.

        Examples
        --------
        >>> plan = plan_of(10_000, 100_000, 10, 4)
        >>> plan.chance(1), plan.chance(16)
        (128, 0)
        """
        cost = n_queries * SECOND_CAP * self.block
        large = self.n_arms * self.n_blocks * BLOCK_BYTES >= CHANCE_BYTES
        return SECOND_CAP if large and cost <= CHANCE_SHARE * self.n_coordinates else 0

    def races(self, n_queries: int) -> bool:
        """Return whether a first race reads little of what a pass would, that so many queries share.

        Examples
        --------
        >>> plan_of(10**6, 1000, 10, 4).races(16), plan_of(10_000, 100_000, 10, 4).races(16)
        (False, True)
        """
        return n_queries * SHORT_CAP * self.block <= BATCH_SHARE * self.n_coordinates

    @property
    def skimmed(self) -> bool:
        """Whether a pass in float32 is made for a single query, where it does not race."""
        return self.n_arms > WHOLE_ARMS and self.n_coordinates <= SKIMMED_COLUMNS

    @property
    def least_pruned(self) -> int:
        """How many arms of the sample the norms must rule out for a first race.

        Examples
        --------
        >>> plan_of(10**6, 1000, 10, 4).least_pruned, plan_of(10**6, 5000, 10, 4).least_pruned
        (192, 0)
        """
        short = SHORT_CAP * self.block > SKIMMED_SHARE * self.n_coordinates
        return PRUNING_SAMPLE * 3 // 4 if self.skimmed and short else 0

    @property
    def steps(self) -> int:
        """The most steps that an arm is bet on."""
        return self.last_cap


def plan_of(n_arms: int, n_coordinates: int, k: int, itemsize: int) -> Plan:
    """Return the plan of a search.

    Examples
    --------
    >>> plan = plan_of(10_000, 100_000, 10, 4)
    >>> plan.block, plan.n_blocks, plan.first_rows, plan.slots, plan.second_cap
    (16, 6250, 64, 64, 128)
    """
    block = BLOCK_BYTES // itemsize
    plan = Plan(
        n_arms=n_arms,
        n_coordinates=n_coordinates,
        chunk=rounding.CHUNK_BYTES // itemsize,
        block=block,
        n_blocks=-(-n_coordinates // block),
        first_rows=min(n_arms, max(FIRST_ROWS, k + k // 4)),
        slots=max(SLOTS, 1 << (2 * k - 1).bit_length()),
        direct=DIRECT,
        second_cap=SECOND_CAP if n_arms < MANY_ROWS else SECOND_CAP_OF_MANY,
    )
    if plan.least_pruned:
        plan = replace(plan, first_rows=max(plan.first_rows, SKIMMED_FIRST_ROWS))
    return plan


def list_room(n_arms: int, k: int, first_rows: int) -> int:
    """Return for how many arms that may be among the best there is room, if there is memory for that.

    Examples
    --------
    >>> list_room(10**6, 10, 1024), list_room(10_000, 10, 0)
    (65536, 10000)
    """
    expected = n_arms * k // first_rows if first_rows else n_arms
    return min(n_arms, max(SHORTEST_LIST, LIST_ROOM * expected))


def pieces_of(n_coordinates: int, chunk: int) -> tuple[int, int]:
    """Return in how many pieces a row is added up, and the units of each.

    Examples
    --------
    >>> pieces_of(100_000, 4), pieces_of(10, 16), pieces_of(10**7, 4)
    ((13, 4), (1, 2), (16, 306))
    """
    units = -(-n_coordinates // (THREADS * chunk))
    piece = max(UNITS, -(-units // MOST_PIECES))
    return -(-units // piece), piece
