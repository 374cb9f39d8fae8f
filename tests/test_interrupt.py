"""Ctrl-C: a long call ends soon, with KeyboardInterrupt, without its threads, and leaves everything usable."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sureshot._elements import for_kernels
from sureshot._native import Dense, Metric, Team, row_scores

# Runs in a process of its own, where a thread sends a real signal while native code runs. Each call is
# repeated until it comes.
PROGRAM = """
import os, signal, threading, time
from pathlib import Path
import numpy as np
import sureshot

rng = np.random.default_rng(0)
shape = (3000, 8192)
data = rng.standard_normal(shape, dtype=np.float32)
columns = np.asfortranarray(data)
query = rng.standard_normal(shape[1])
huge = rng.standard_normal((1, 1 << 24), dtype=np.float32)
CALLS = {
    "scan": lambda: sureshot.scan(data, threads=2),
    "scan of columns": lambda: sureshot.scan(columns, threads=2),
    "exact": lambda: sureshot.top_k(data, query, method="exact", threads=2),
    "exact by column": lambda: sureshot.top_k(columns, query, method="exact", threads=2),
    "one thread": lambda: sureshot.top_k(columns, query, method="exact", threads=1),
    "one long row": lambda: sureshot.top_k(huge, np.ones(1 << 24), k=1, method="exact", threads=1),
    "many queries": lambda: sureshot.top_k(data, np.tile(query, (200, 1)), method="exact", threads=2),
    "no gap": lambda: sureshot.top_k(data, query, bounds=(-6, 6), threads=2, rng=1),
    "no gap by column": lambda: sureshot.top_k(columns, query, bounds=(-6, 6), threads=2, rng=1),
    "batch": lambda: sureshot.top_k(
        data, rng.standard_normal((64, shape[1])), bounds=(-6, 6), threads=2, rng=1
    ),
    "budget": lambda: sureshot.top_k(data, query, bounds=(-6, 6), budget=0.3, threads=2, rng=1),
}

def tasks():
    folder = Path("/proc/self/task")
    return len(list(folder.iterdir())) if folder.exists() else threading.active_count()

sent = 0.0
def interrupt():
    global sent
    time.sleep(0.2)
    sent = time.perf_counter()
    os.kill(os.getpid(), signal.SIGINT)

for name, call in CALLS.items():
    call()
    before = tasks()
    sender = threading.Thread(target=interrupt)
    sender.start()
    try:
        while True:
            call()
    except KeyboardInterrupt:
        seconds = time.perf_counter() - sent
    sender.join()
    # A thread that has been joined may be listed for a moment longer.
    deadline = time.perf_counter() + 10
    while tasks() > before and time.perf_counter() < deadline:
        time.sleep(0.01)
    assert tasks() == before, (name, tasks(), before)
    assert sureshot.top_k(data, data[5], 1, method="exact", threads=2).indices.tolist() == [5], name
    assert seconds < 2, (name, seconds)  # generous: a machine may be busy
print(len(CALLS))
"""


def test_a_signal_ends_a_call() -> None:
    assert run(PROGRAM) == "11\n"


def run(program: str) -> str:
    """Run Python in a process of its own and return what it prints."""
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


# One call that would run for minutes: only a look at signals inside of it can end it.
LONG_CALL = """
import itertools, os, signal, threading, time
import numpy as np
from sureshot._elements import for_kernels
from sureshot._native import Dense, Metric, Team, row_scores, scan_rows

n_arms, width, repeats = 64, 1 << 17, 100_000
# The same rows again and again.
arms = np.tile(np.arange(n_arms), repeats)
query = np.ones((1, width))
for order, kind, threads in itertools.product("CF", ["scores", "scan"], [1, 2]):
    rows = np.ones((n_arms, width), np.float32, order=order)
    team = Team(threads)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    started = time.perf_counter()
    try:
        if kind == "scan":
            scan_rows(*for_kernels(rows), query[0], query[0], arms, team, *np.empty((2, len(arms))))
        else:
            dense = Dense(*for_kernels(rows), Metric.INNER_PRODUCT, query[0], block=1, shift=0)
            row_scores(dense, query, arms, team, np.empty((1, len(arms))))
    except KeyboardInterrupt:
        print(order, kind, threads)
    assert time.perf_counter() - started < 5, (order, kind, threads)  # it would take minutes
"""


def test_a_single_native_call_is_interrupted() -> None:
    assert len(run(LONG_CALL).splitlines()) == 8


def test_a_cancelled_team_and_its_partners_do_nothing_more() -> None:
    data = np.ones((4, 8), np.float32)
    arms, query, scores = np.arange(4), np.ones((1, 8)), np.empty((1, 4))
    metric = Metric.INNER_PRODUCT
    dense = Dense(*for_kernels(data), metric, query[0], block=1, shift=0)
    team, other = Team(2), Team(2)
    partner = Team(1, team)
    for one in (team, partner, other):
        row_scores(dense, query, arms, one, scores)
    team.cancel()
    for one in (team, partner):
        with pytest.raises(KeyboardInterrupt):
            row_scores(dense, query, arms, one, scores)
    row_scores(dense, query, arms, other, scores)
    assert scores.tolist() == [[8.0] * 4]
