"""Bounds of the rounding errors of a search (sections 10 and 15 of ``docs/theory.md``)."""

from __future__ import annotations

# A row is summed in this many interleaved partial sums; their rounding errors may all have one sign.
LANES = 8

# Half the distance from 1 to the next number.
UNIT_ROUNDOFF = 2.0**-53

# More than the errors that do not grow with the length of a row: of a dozen operations, and of sums
# that are kept as two numbers.
FIXED_SHARE = 1e-11


def rounding_share(n_coordinates: int, block: int) -> float:
    """Return a share of the largest possible score that rounding errors stay below.

    The largest possible score of an arm is the sum of the absolute values that its rewards may have. By
    the standard bound, a sum of m terms, made in any order, is off by at most ``m u / (1 - m u)`` of that,
    u the unit roundoff: a whole row in lanes has N / 8 terms in each, a block as many as coordinates.
    Twice that, and a constant for everything else: the worst case of Lemma 11.

    Examples
    --------
    >>> print(f"{rounding_share(10_000, 16):.3g}, {rounding_share(10_000_000, 1):.3g}")
    1.03e-11, 2.88e-10
    """
    terms = n_coordinates / LANES + block
    return FIXED_SHARE + 2 * UNIT_ROUNDOFF * terms


def any_order_share(n_terms: int, unit_roundoff: float) -> float:
    """Return the share of the sum of |terms| that a sum of products stays within, in any order of adding.

    Lemma 17: it holds for every grouping of the terms, with fused multiplications or without, as long as
    nothing overflows or underflows. So it holds for a matrix product of which no more is known.

    Examples
    --------
    >>> print(f"{any_order_share(4096, 2.0**-24):.3g}")
    0.000244
    """
    return n_terms * unit_roundoff / (1 - n_terms * unit_roundoff)


def widened_norm_share(n_blocks: int) -> float:
    """Return the share by which norms are widened, so that sums of squares stay within their limit.

    The unread part of a squared norm is its limit less the sum of the squares of the read blocks: the
    relative error of that sum is at most ``n_blocks u``, and that of each square a few u.

    Examples
    --------
    >>> print(f"{widened_norm_share(1000):.3g}, {widened_norm_share(10**8):.3g}")
    1e-09, 2.32e-08
    """
    return 1e-9 + 2 * UNIT_ROUNDOFF * n_blocks
