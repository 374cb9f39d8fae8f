"""A search never copies the data: a memory map larger than the memory it may use stays on disk."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="resident memory is read from Linux's /proc"
)

MEGABYTE = 1 << 20
SHAPE = (2048, 1 << 16)  # 512 MB of float32
ALLOWED = 64 * MEGABYTE
ALLOWED_FOR_A_BATCH = 256 * MEGABYTE

# Runs in a process of its own: anonymous memory is what was allocated, the pages of the file are
# not part of it. A thread looks often enough to see a copy that is given back before the end.
PROGRAM = """
import re, sys, threading, time
from pathlib import Path
import numpy as np
import sureshot

path, width, method, n_queries = sys.argv[1:]
data = np.load(path, mmap_mode="r")
query = np.where(np.arange(data.shape[1]) < int(width), 1.0, 0.0)
if int(n_queries) > 1:
    query = np.linspace(1, 2, int(n_queries))[:, None] * query

def anonymous():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"RssAnon:\\s+(\\d+) kB", status)[1]) << 10

def look(*_):
    global peak
    peak = max(peak, anonymous())

def watch():
    while not done.is_set():
        look()
        time.sleep(0.002)

peak = before = anonymous()
done = threading.Event()
watcher = threading.Thread(target=watch)
watcher.start()
if method == "copy":
    data[:, : data.shape[1] // 4].copy()
    indices = []
else:
    result = sureshot.top_k(
        data, query, 3, method=method, bounds=(0, 1), epsilon=0.3 * int(width), rng=1,
        threads=2, progress=look,
    )
    indices = np.unique(result.indices).tolist()
look()
done.set()
watcher.join()
print(peak - before, *indices)
"""


@pytest.fixture(scope="module", params=["C", "F"])
def file(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, int]]:
    """Yield a sparse file, zeros but for three rows, and how many coordinates those fill."""
    # A row of Fortran order lies in every page: a part of it, or the file is not sparse.
    width = SHAPE[1] if request.param == "C" else SHAPE[1] // 16
    path = tmp_path_factory.mktemp("memory") / "data.npy"
    data = np.lib.format.open_memmap(
        path, mode="w+", dtype=np.float32, shape=SHAPE, fortran_order=request.param == "F"
    )
    data[[11, 512, 2000], :width] = 0.75
    del data
    yield path, width
    path.unlink()


def growth(file: tuple[Path, int], method: str, n_queries: int = 1) -> tuple[int, list[int]]:
    """Return by how much anonymous memory grew, and the rows that were found."""
    told = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *map(str, (*file, method, n_queries))],
        capture_output=True,
        check=True,
        text=True,
        timeout=300,  # what hangs must not outlive the test
    ).stdout.split()
    return int(told[0]), [int(index) for index in told[1:]]


def test_a_search_allocates_little(file: tuple[Path, int], method: str) -> None:
    grown, indices = growth(file, method)
    assert grown < ALLOWED
    assert sorted(indices) == [11, 512, 2000]


def test_a_batch_allocates_little(file: tuple[Path, int]) -> None:
    grown, indices = growth(file, "exact", n_queries=100)
    assert grown < ALLOWED_FOR_A_BATCH
    assert sorted(indices) == [11, 512, 2000]


def test_a_copy_would_be_seen(file: tuple[Path, int]) -> None:
    assert growth(file, "copy")[0] > ALLOWED


# What a process keeps after searches that filled tens of megabytes with bets.
KEPT = """
import re
from pathlib import Path
import numpy as np
import sureshot
from sureshot.search.race import choice
from sureshot.search.race.allowance import Allowance

# So that there are bets, with all of the budget.
choice.cost_of_everything = lambda problem: 1e18
Allowance._first_share = lambda allowance, race: 1.0

def anonymous():
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"RssAnon:\\s+(\\d+) kB", status)[1]) << 10

data = np.random.default_rng(0).integers(-9, 10, (60_000, 1024), dtype=np.int8)
query = np.random.default_rng(1).standard_normal(1024)
search = lambda rows: sureshot.top_k(rows, query, 3, budget=0.9, block=2, rng=1, threads=2)
search(data[:100])
before = anonymous()
taken = 0
def look(_):
    global taken
    taken = max(taken, anonymous() - before)
sureshot.top_k(data, query, 3, budget=0.9, block=2, rng=1, threads=2, progress=look)
print(taken, anonymous() - before)
"""


def test_the_memory_of_a_search_ends_with_it() -> None:
    told = subprocess.run(
        [sys.executable, "-c", KEPT], capture_output=True, check=True, text=True, timeout=300
    ).stdout.split()
    taken, kept = map(int, told)
    assert taken > 60 * MEGABYTE
    assert kept < 45 * MEGABYTE  # twenty slabs of 2 MB are kept for the next search


# A round of a source that reads for itself may have any number of steps. Few megabytes are left when its
# sums are added: not enough for another copy of them all, in which the lack could end the process.
ADD_A_LONG_ROUND = """
import re, resource, sys
from pathlib import Path
import numpy as np
from sureshot._native import Order, Team
sys.path.append(sys.argv[1])
from tests.ledgers import empty_ledger

steps = 200_000
weight = np.ones(steps)
order = Order(weight, 1)
order.draw(steps)
ledger = empty_ledger(1, steps)
ledger.record(order, 0 * weight, 0, steps, 0.0, True)
sums, positions, team = np.full((steps, 1), 0.5), np.zeros(1, np.int64), Team(1)
size = int(re.search(r"VmSize:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (size + (32 << 20), size + (32 << 20)))
ledger.add(team, sums, positions, 0, steps)
print(int(ledger.high[0]))
try:
    ledger.add(team, sums, positions, steps, steps << 12)
except MemoryError:
    print("refused")
"""


def test_a_long_round_needs_no_copy_of_its_sums() -> None:
    told = subprocess.run(
        [sys.executable, "-c", ADD_A_LONG_ROUND, str(Path(__file__).parents[1])],
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    ).stdout.split()
    assert told == ["100000", "refused"]
