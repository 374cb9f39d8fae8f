"""What a search costs where bytes are expensive: bytes, requests, rounds, and what its client keeps and receives.

``python -m measurements.scale.model`` prints the tables; ``--write`` puts them into docs/scale.md. The costs of the disk
are those by which a search decides, `sureshot.storage.file`; how far a search reads is what the rows of
``docs/results`` have counted, and `tests/measurements/test_scale.py` compares this model with these rows.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from measurements.harness import page
from sureshot import _native
from sureshot.search.race import policy
from sureshot.search.race.costs import BET
from sureshot.storage import file
from sureshot.storage.base import Access

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row

ITEM = 4  # bytes of a number, float32
TOP = 10  # k

# How far a race of low-rank rows with a scan reads, as counted in files: blocks of each row on average, and rounds; and
# where a round is a trip to other machines, trips. A larger block needs no more of them, and what a bet must win
# does not depend on the number of rows.
STEPS = 8.0
ROUNDS = 16
TRIPS = 10
EVALUATED = 1.5  # times k

# Of an arm at the client, besides its bets: sums, estimates, limits, and where its last replay ended.
BYTES_OF_ARM = 256
# What a network brings to a client in a second.
LINK = 1.25e9
# Seconds that client and scheduler take for a set of tasks, and for each: 100 of them took 0.2 s of their processor.
TASKS = 10e-3
TASK = 2e-3
SUM = 8  # bytes of a sum that is sent back


@dataclass(frozen=True, slots=True)
class Work:
    """What is asked of a storage."""

    requests: float
    bytes: float
    rounds: float = 0.0


def object_store(latency: float, at_once: int, each: float, link: float) -> Access:
    """Return the costs of a store that answers so many requests at once, each after `latency` seconds.

    `each` is the bytes a second of one request, `link` those of the machine that asks.

    Examples
    --------
    >>> store = object_store(0.03, 1000, 100e6, 12.5e9)
    >>> store.request, store.byte, store.round
    (30000.0, 0.08, 30000000.0)
    """
    return Access(
        request=round(latency / at_once * 1e9, 3),
        byte=round(1e9 / min(at_once * each, link), 6),
        round=latency * 1e9,
        unit_columns=1,
    )


DISK = Access(file.REQUEST, file.BYTE, file.ROUND, unit_columns=1)
STORE = object_store(0.030, 1000, 100e6, 12.5e9)


def seconds(work: Work, access: Access) -> float:
    """Return how long a storage takes for it.

    Examples
    --------
    >>> seconds(Work(requests=1000, bytes=4096 * 1000, rounds=2), Access(10_000, 0.65, 500_000, 1))
    0.0136624
    """
    return (
        work.requests * access.request + work.bytes * access.byte + work.rounds * access.round
    ) / 1e9


def worth_a_request(access: Access) -> float:
    """Return how many bytes of a stream take as long as a request besides its bytes."""
    return access.request / access.byte


def unit_bytes(row: float, access: Access) -> float:
    """Return the bytes of a block: as in a file, or longer where a request costs more than that.

    Examples
    --------
    >>> unit_bytes(4e6, DISK), unit_bytes(4e9, DISK), unit_bytes(4e9, STORE)
    (4096, 65536, 262144)
    """
    longest = max(file.LONGEST_UNIT, 2 ** math.floor(math.log2(worth_a_request(access))))
    unit = file.PAGE
    while unit < min(row / file.UNITS_OF_ROW, longest):
        unit *= 2
    return unit


def sampled(
    rows: float,
    row: float,
    unit: float,
    *,
    steps: float = STEPS,
    evaluated: float = EVALUATED * TOP,
    rounds: float = ROUNDS,
) -> Work:
    """Return the work of a race of rows of so many bytes in blocks of `unit` bytes.

    A block begins anywhere in a page, so that a page more is read. A row that is read whole is a stream.
    """
    return Work(
        requests=rows * steps + evaluated,
        bytes=rows * steps * (unit + file.PAGE) + evaluated * row,
        rounds=rounds,
    )


def streamed(rows: float, row: float) -> Work:
    """Return the work of reading everything."""
    return Work(requests=0, bytes=rows * row, rounds=1)


def gain(row: float, access: Access) -> float:
    """Return how many times faster sampling is than a stream, for many rows of so many bytes."""
    rows = 1e9  # so many that the rounds and the rows that are evaluated hardly count
    unit = unit_bytes(row, access)
    return seconds(streamed(rows, row), access) / seconds(sampled(rows, row, unit), access)


@dataclass(frozen=True, slots=True)
class Client:
    """What a search costs its client, which keeps the ledger of all rows."""

    ledger: float  # bytes
    received: float  # bytes
    seconds: float  # to receive, to bet, and to schedule


def client(rows: float, partitions: int, *, squares: bool = True) -> Client:
    """Return what the client has to do in a search of that many rows in partitions.

    With `squares` the sums of squares are sent, too: where norms are known.
    """
    bets = rows * STEPS
    received = bets * SUM * (2 if squares else 1)
    scheduling = TRIPS * (TASKS + partitions * TASK)
    return Client(
        ledger=rows * BYTES_OF_ARM + bets * _native.BYTES_OF_BET,
        received=received,
        seconds=received / LINK + bets * BET / 1e9 + scheduling,
    )


ROW_BYTES = (4e5, 4e6, 1.6e7, 4e8, 4e9)


def lengths() -> list[str]:
    """Return the table of rows of different lengths."""
    body = []
    for row in ROW_BYTES:
        line = [f"{row / 1e6:,.1f} MB"]
        for access in (DISK, STORE):
            times = gain(row, access)
            sampling = times >= policy.DEFAULT.least_gain
            unit = f"{unit_bytes(row, access) / 1024:,.0f} KB"
            line += [unit, f"{times:,.1f} ×" if sampling else "as a stream"]
        body.append(line)
    titles = ["a row", "disk: block", "disk: gain", "object store: block", "object store: gain"]
    return page.left_aligned(titles, body)


WORKERS = 1000
COLUMNS = 10**6


def plans() -> list[str]:
    """Return the table of a matrix on many workers, with one ledger and with one for each worker."""
    row = ITEM * COLUMNS
    unit = unit_bytes(row, DISK)
    body = []
    for rows in (1e7, 1e8, 1e9):
        own = rows / WORKERS
        reading = seconds(sampled(own, row, unit), DISK)
        all_of_it = seconds(streamed(own, row), DISK)
        for plan in ("one search", "one on each worker"):
            alone = plan != "one search"
            kept = client(own if alone else rows, 1 if alone else WORKERS)
            taken = reading + (kept.seconds - kept.received / LINK if alone else kept.seconds)
            body.append(
                [
                    f"10^{round(math.log10(rows))}",
                    plan,
                    f"{all_of_it:,.0f} s",
                    f"{reading:,.0f} s",
                    _size(kept.ledger),
                    _size(TOP * SUM * WORKERS if alone else kept.received),
                    f"{taken:,.0f} s",
                    f"{all_of_it / taken:.1f} ×",
                ]
            )
    titles = ["rows", "ledgers", "stream, each worker", "sampling, each worker", "ledger"]
    return page.left_aligned([*titles, "client receives", "in all", "gain"], body)


def _size(count: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:,.1f} {name}"
    return f"{count / 1e3:,.1f} KB"


def of_row(row: Row) -> Work:
    """Return the work of a search that a row of `measurements.scale.run` has counted."""
    unit = file.unit_columns(row["columns"], ITEM)
    evaluated = row["exact_scores"]
    blocks = (row["share"] * row["rows"] - evaluated) * row["columns"] / unit
    return sampled(
        row["rows"],
        ITEM * row["columns"],
        ITEM * unit,
        steps=blocks / row["rows"],
        evaluated=evaluated,
        rounds=row["rounds"],
    )


TABLES = {"lengths": lengths, "plans": plans}


def write() -> None:
    """Put the tables into the page."""
    page.rewrite(page.DOCS / "scale.md", {name: lines() for name, lines in TABLES.items()})


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m measurements.scale.model", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    if parser.parse_args().write:
        write()
    for lines in TABLES.values():
        print(*lines(), "", sep="\n")


if __name__ == "__main__":
    main()
