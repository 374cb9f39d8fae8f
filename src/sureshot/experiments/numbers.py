"""Numbers in words, for tables and sentences."""

from __future__ import annotations


def per_cent(share: float) -> str:
    """Return a share in per cent with about three digits.

    Examples
    --------
    >>> per_cent(0.00234567), per_cent(0.5), per_cent(1.0), per_cent(1234.5)
    ('0.235 %', '50.0 %', '100 %', '123,450 %')
    """
    digits = 0 if share >= 0.9995 else 1 if share >= 0.0995 else 2 if share >= 0.00995 else 3
    return f"{100 * share:,.{digits}f} %"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds, with three digits or all before the point.

    Examples
    --------
    >>> milliseconds(0.00123456), milliseconds(0.0456), milliseconds(12.3456)
    ('1.23', '45.6', '12,346')
    """
    value = 1e3 * seconds
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.9995 else 3
    return f"{value:,.{digits}f}"


def seconds(value: float) -> str:
    """Write a time in the unit that fits it.

    Examples
    --------
    >>> seconds(12.34), seconds(0.9999), seconds(0.0123), seconds(0.0)
    ('12.3 s', '1 s', '12.3 ms', '0 ms')
    """
    return f"{digits(value, 3)} s" if value >= 0.9995 else f"{digits(1000 * value, 3)} ms"


def digits(value: float, count: int) -> str:
    """Write a number with so many digits that mean something, and never as a power of ten.

    Examples
    --------
    >>> digits(1234.5, 2), digits(0.01234, 2), digits(98.76, 3)
    ('1,200', '0.012', '98.8')
    """
    return f"{float(f'{value:.{count}g}'):,.12g}"
