"""How far rounding may carry what a search compares (section 10 of ``docs/theory.md``)."""

from __future__ import annotations

# Sums of a row are made in this many interleaved partial sums, all of which rounding may carry one way.
LANES = 8

# Half the distance from 1 to the next number.
UNIT_ROUNDOFF = 2.0**-53

# More than what does not grow with the length of a row: a dozen operations, and sums in halves.
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


def widened_norm_share(n_blocks: int) -> float:
    """Return by which share norms are widened, so that squares added up stay within their limit.

    What is left of a squared norm is its limit less a sum of squares that were met, one for each block: that
    sum is off by at most ``n_blocks u`` of itself, and each square by a few u.

    Examples
    --------
    >>> print(f"{widened_norm_share(1000):.3g}, {widened_norm_share(10**8):.3g}")
    1e-09, 2.32e-08
    """
    return 1e-9 + 2 * UNIT_ROUNDOFF * n_blocks
