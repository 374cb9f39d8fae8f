"""Constants that cover the rounding of float32 bets (section 18 of ``docs/theory.md``).

All of them come from the number of roundings on the way to a sum; `ROUND` steps are bet on at once, and their
sums are made by a scan, so that few roundings are enough for many steps.
"""

from __future__ import annotations

import math

# Half the distance from 1 to the next number of float32.
U = 2.0**-24

# Steps of one round: lanes of a scan.
ROUND = 16
SCAN_ROUNDINGS = 4  # log2(ROUND)

# A block is read in so many chunks of 16 bytes, whose sums are added in pairs.
CHUNKS = 4
CHUNK_BYTES = 16
TREE_ROUNDINGS = 2  # log2(CHUNKS)

# A race has at most so many stages; each begins a round.
STAGES = 3

# The largest share of its wealth that a bet may lose, and the limits of a factor. The lower one is below
# 1 - C and its rounding: no factor of valid data is ever as small.
C = 0.99
LEAST_FACTOR = 2.0**-7
MOST_FACTOR = 64.0

# A wealth below this at the end of a round bets no more: so products never underflow.
LEAST_WEALTH = 2.0**-20

# The room between payoff and mean is widened by this share of the cap: 32 U.
ROOM = 2.0**-19

# Share by which weights are raised before they are counted in tickets: the query may be rounded to float32.
WEIGHT_SHARE = 2.0**-21

# Share of a threshold by which it is lowered: it is rounded to float32 and the guard is subtracted.
THRESHOLD_SHARE = 2.0**-22

# What float64 scores, norms and thresholds may be off, as a share of the absolute values they are made of.
EXACT_SHARE = 2.0**-38

# Slack of the comparison in float32 that rejects most arms of a product, as a share of the numbers compared, and by how
# much of itself the error of the product is raised for it.
BELOW_SLACK = 2.0**-18
ERROR_SHARE = 2.0**-9

# Bets are placed only if the largest norm lies within, and log2(k / delta) is not above the last one;
# smaller squared norms count as LEAST_SQUARE. Then no float32 number that matters overflows or is subnormal.
LEAST_NORM = 2.0**-38
MOST_NORM = 2.0**30
LEAST_SQUARE = 2.0**-80
MOST_LEVEL = 90.0

# Rows of more blocks are not bet on.
MOST_BLOCKS = 2**20

# Limits of the norm of the query, which is scaled by a power of two. The exponent of the largest weight is then within
# MOST_EXPONENT, so that tickets and scale are normal numbers of float64.
LEAST_QUERY = 1e-130
MOST_QUERY = 1e130
MOST_EXPONENT = 900

# Rows and queries are multiplied in whole numbers of 16 bits up to this one: 128 is added to them, and float32 values
# are rounded on the way. So many columns of their bytes add up to less than 2**31.
MOST_NUMBER = 32600.0
MOST_COLUMNS = 2**16 - 128

# How far a number is from the whole number it is rounded to, with the rounding of the products of a query in float64.
HALF = 0.5 * (1 + 2.0**-30)

# Rows of only tiny values are multiplied with this at most before they are rounded to whole numbers.
MOST_GRID = 2.0**100


def gamma(roundings: int) -> float:
    """Return how far a product of so many factors 1 + e, |e| <= U, may be from 1.

    Examples
    --------
    >>> gamma(1) > U
    True
    """
    return roundings * U / (1 - roundings * U)


def block_roundings(chunk: int) -> int:
    """Return how often a term of a block's sum is rounded: product, chunk in order, chunks in pairs.

    Examples
    --------
    >>> block_roundings(4)
    6
    """
    return chunk + TREE_ROUNDINGS


def sum_roundings(chunk: int, steps: int) -> int:
    """Return how often a term of the sum of all steps before one is rounded.

    The scan of its own round, then one addition at the end of each round up to the one before the step, and one
    for the step.

    Examples
    --------
    >>> sum_roundings(4, 256)
    28
    """
    rounds = math.ceil(steps / ROUND) + STAGES - 1
    return block_roundings(chunk) + SCAN_ROUNDINGS + rounds


def guard_share(chunk: int, steps: int) -> float:
    """Return the share of R |q| by which thresholds are lowered: Lemma 25.

    Examples
    --------
    >>> print(f"{guard_share(4, 256):.2g}")
    3e-06
    """
    share = gamma(sum_roundings(chunk, steps)) + gamma(block_roundings(chunk)) + 16 * U
    return 1.001 * (share + EXACT_SHARE)


def square_share(chunk: int, steps: int) -> float:
    """Return the share by which squared norms are widened: Lemma 25.

    Examples
    --------
    >>> print(f"{square_share(4, 256):.2g}")
    3.3e-06
    """
    return gamma(sum_roundings(chunk, steps)) + 2 * gamma(block_roundings(chunk)) + 16 * U


def level(k: int, delta: float, steps: int) -> float:
    """Return the wealth at which an arm is dropped: k / delta, raised by what products are rounded.

    Examples
    --------
    >>> print(f"{level(10, 0.05, 256):.2f}")
    200.63
    """
    return k / delta * (1 + 205 * U) ** steps * (1 + 4 * U)


def product_share(terms: int, additions: int) -> float:
    """Return how far a product of a row and a query in float32 may be off, as a share of their norms.

    Theorem 18 with at most so many roundings of each term: one for each of the `terms` products that are added up
    by one accumulator, fused or not, and one for each of the `additions` that put accumulators together. The
    query is rounded, too, and the score it is compared with.

    Examples
    --------
    >>> print(f"{product_share(1568, 16):.2g}")
    9.5e-05
    """
    return 1.001 * (gamma(terms + additions) + 2 * U + EXACT_SHARE)
