"""Numbers as a person reads them."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> count(1, "arm"), count(1234, "arm")
    ('1 arm', '1,234 arms')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def percent(share: float) -> str:
    """Write a share with three figures or so.

    Examples
    --------
    >>> percent(1.0), percent(0.0041), percent(0.31415)
    ('100 %', '0.41 %', '31.4 %')
    """
    hundredths = 100 * share
    return f"{hundredths:.3g} %" if hundredths < 99.95 else f"{hundredths:.4g} %"


def times(ratio: float) -> str:
    """Write how many times as much something is.

    Examples
    --------
    >>> times(1.52), times(2061.5)
    ('1.5 times', '2,062 times')
    """
    return f"{ratio:.1f} times" if ratio < 9.95 else f"{ratio:,.0f} times"


def duration(seconds: float) -> str:
    """Write a time in the unit that fits it.

    Examples
    --------
    >>> duration(2.5), duration(0.0415), duration(0.00002)
    ('2.5 s', '41.5 ms', '20 µs')
    """
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e3 * seconds:.3g} ms" if seconds >= 1e-4 else f"{1e6 * seconds:.3g} µs"
