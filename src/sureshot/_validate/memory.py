"""Refuses sizes that this machine has no memory for, before anything of that size is made.

Linux grants memory that it does not have, and ends the process that uses it, without a word.
"""

from __future__ import annotations

import os

# What every search keeps of each row that it searches, in bytes: its index and its score.
PER_ROW = 16
# What a scan finds of each row, and of each coordinate, with the indices of the rows.
PER_SCANNED_ROW = 24
PER_SCANNED_COORDINATE = 24
# What `best_arms` keeps of each arm and of each of its rewards, at least: by the peak memory of every method with
# millions of them, 113 to 430 and 20 to 40 bytes.
PER_ARM = 100
PER_REWARD = 20


# So many bytes every machine has: to ask the system takes a fiftieth of what a small search takes.
ALWAYS_THERE = 1 << 26


def refuse_beyond_memory(needed: int, what: str, instead: str = "") -> None:
    """Raise an error if so many bytes are more than this machine has."""
    if needed <= ALWAYS_THERE:
        return
    there = bytes_of_memory()
    if there is not None and needed > there:
        message = (
            f"{what} would take at least {needed / 1e9:,.0f} GB of memory, and this machine has "
            f"{there / 1e9:,.0f} GB"
        )
        raise ValueError(f"{message}; {instead}" if instead else message)


def bytes_of_memory() -> int | None:
    """Return how much memory the machine has; None if the system does not say: then it does not grant more, either."""
    if not hasattr(os, "sysconf"):
        return None
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
    return pages * size if pages > 0 else None
