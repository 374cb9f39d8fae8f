"""Teams of threads: what they do, whose workers they borrow, and that a fork does no harm."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from sureshot._elements import for_kernels
from sureshot._native import Dense, Metric, Team, Turns, row_scores

ROOT = Path(__file__).parents[1]
TASKS = Path("/proc/self/task")
QUERY = np.ones((1, 1024))


def scores(n_arms: int, team: Team) -> list[float]:
    data = np.arange(n_arms * 1024, dtype=np.float32).reshape(n_arms, 1024) % 7
    found = np.full(n_arms, np.nan)
    arms = np.arange(n_arms)
    dense = Dense(*for_kernels(data), Metric.INNER_PRODUCT, QUERY[0], block=1, shift=0)
    row_scores(dense, QUERY, arms, team, found[None])
    return found.tolist()


def test_jobs_of_any_size_one_after_the_other() -> None:
    # 1024 numbers an arm: workers are woken for 128 arms, and a job of 64 is shared if they are awake.
    alone, team = Team(1), Team(3)
    for n_arms in (0, 1, 5, 300, 1, 17, 40, 300, 3, 128, 0, 64):
        assert scores(n_arms, team) == scores(n_arms, alone)
    for _ in range(500):
        assert scores(33, team) == scores(33, alone)


def test_fewer_threads_than_one_is_one() -> None:
    assert scores(300, Team(-5)) == scores(300, Team(1))


def test_teams_of_several_threads_at_once() -> None:
    sizes = (300, 130, 70, 1, 300)
    expected = [scores(n_arms, Team(1)) for n_arms in sizes]

    def work(threads: int) -> bool:
        right = True
        for _ in range(40):
            team = Team(threads)  # borrows workers that another thread has just returned
            right = right and [scores(n_arms, team) for n_arms in sizes] == expected
        return right

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, (2, 3, 2, 40)))


def test_threads_that_take_turns_and_share_a_lock() -> None:
    # Who has the lock waits for the turn, and who has the turn for the lock: but not for long.
    turns, lock = Turns(), threading.Lock()
    expected = scores(300, Team(1))

    def work(_: int) -> bool:
        right = True
        with turns:
            for _ in range(20):
                with lock:
                    right = right and scores(300, Team(1)) == expected
        return right

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(work, range(6)))


def test_a_turn_ends_with_an_error() -> None:
    turns = Turns()
    with pytest.raises(ValueError, match="mine"), turns:
        raise ValueError("mine")
    with turns:
        assert scores(5, Team(1)) == scores(5, Team(2))


def run_alone(program: str) -> None:
    """Run a program in a process of its own, where no other test has left workers."""
    subprocess.run([sys.executable, "-c", PREPARED + program], cwd=ROOT, check=True, timeout=60)


PREPARED = """
import os, threading, time
import numpy, sureshot
from pathlib import Path
from sureshot._native import Team
from tests.test_team import scores

def tasks():
    return {path.name for path in Path("/proc/self/task").iterdir()}

def search(threads=2):
    return sureshot.top_k(data, data[3], 2, threads=threads, method="exact").indices.tolist()

data = numpy.random.default_rng(0).random((500, 3000), dtype=numpy.float32)
answer = search(threads=1)
data @ data[3]  # the threads of numpy are there
# and those that come with the first thread of a program that a sanitizer watches
threading.Thread(target=threading.Event().wait, daemon=True).start()
before = tasks()
"""

counts_threads = pytest.mark.skipif(not TASKS.exists(), reason="counts threads as Linux shows them")


@counts_threads
def test_small_jobs_and_single_threads_need_no_worker() -> None:
    run_alone("""
scores(60, Team(3))
Team(1).start()
search(threads=1)
assert tasks() == before
""")


@counts_threads
def test_workers_are_borrowed_and_returned() -> None:
    run_alone("""
one, other = Team(2), Team(2)
scores(300, one)
first = tasks()
assert len(first) == len(before) + 1
other.start()
assert len(tasks()) == len(before) + 2
del other, one
for _ in range(300):
    assert search() == answer
    team = Team(2)
    scores(300, team)
    del team
assert len(tasks()) <= len(before) + 2
""")


@counts_threads
def test_no_more_workers_are_kept_than_the_machine_has_threads() -> None:
    run_alone("""
many = os.cpu_count() + 5
team = Team(many)
team.start()
assert len(tasks()) == len(before) + many - 1
assert scores(300, team) == scores(300, Team(1))
del team
deadline = time.perf_counter() + 30  # those that are not kept end on their own
while len(tasks()) > len(before) + os.cpu_count() and time.perf_counter() < deadline:
    time.sleep(0.01)
assert len(before) < len(tasks()) <= len(before) + os.cpu_count()
""")


@counts_threads
def test_workers_leave_signals_to_the_program() -> None:
    run_alone("""
import signal
search()
(worker,) = tasks() - before

def blocked():
    status = Path(f"/proc/self/task/{worker}/status").read_text()
    (signals,) = [line.split()[1] for line in status.splitlines() if "SigBlk" in line]
    return {number for number in range(1, 32) if int(signals, 16) >> (number - 1) & 1}

# A thread blocks everything until it runs. Faults are not blocked: faulthandler shows where they were.
deadline = time.perf_counter() + 30
while signal.SIGSEGV in blocked() and time.perf_counter() < deadline:
    time.sleep(0.01)
assert signal.SIGSEGV not in blocked()
assert blocked() >= {signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD}
""")


IN_CHILD = """
def in_child(what):
    child = os.fork()
    if child == 0:
        try:
            what()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

def search_and_check():
    assert search() == answer
"""

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


@forks
def test_a_search_works_after_a_fork() -> None:
    run_alone(
        IN_CHILD
        + """
search_and_check()
in_child(lambda: in_child(search_and_check))
in_child(search_and_check)
search_and_check()
"""
    )


@forks
@counts_threads
def test_a_child_starts_workers_of_its_own() -> None:
    run_alone(
        IN_CHILD
        + """
team = Team(2)
expected = scores(300, team)

def work_and_count():
    global team
    assert len(tasks()) == 1
    assert scores(300, team) == expected  # its worker stayed behind
    del team
    search_and_check()
    assert len(tasks()) == 2
    search_and_check()
    assert len(tasks()) == 2

in_child(work_and_count)
search()
in_child(search_and_check)
assert scores(300, team) == expected
"""
    )


@forks
def test_a_fork_while_another_thread_searches() -> None:
    run_alone(
        IN_CHILD
        + """
over = threading.Event()
searches = []

def keep_searching():
    while not over.is_set():
        searches.append(search() == answer)

thread = threading.Thread(target=keep_searching)
thread.start()
for _ in range(30):
    in_child(search_and_check)
    search_and_check()
over.set()
thread.join()
assert searches and all(searches)
"""
    )
