"""Teams of threads: what they do, when they end, and that a fork does no harm."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sureshot._elements import for_kernels
from sureshot._native import Dense, Metric, Team, row_scores

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
    # 1024 numbers an arm: threads are started for 128 arms, told of a job of 64, and get 8 or more.
    alone, team = Team(1), Team(3)
    for n_arms in (0, 1, 5, 300, 1, 17, 40, 300, 3, 128, 0, 64):
        assert scores(n_arms, team) == scores(n_arms, alone)
    for _ in range(500):
        assert scores(33, team) == scores(33, alone)


@pytest.mark.skipif(not TASKS.exists(), reason="counts threads as Linux shows them")
def test_threads_start_when_they_are_worth_it_and_end_with_their_team() -> None:
    def threads() -> int:
        return len(list(TASKS.iterdir()))

    before = threads()
    team = Team(3)
    scores(60, team)
    assert threads() == before
    scores(130, team)
    assert threads() == before + 2
    del team
    assert threads() == before
    team = Team(2)
    team.start()
    assert threads() == before + 1
    del team
    assert threads() == before


def test_fewer_threads_than_one_is_one() -> None:
    assert scores(300, Team(-5)) == scores(300, Team(1))


SEARCH_IN_PARENT_AND_CHILD = """
import os, numpy, sureshot
data = numpy.random.default_rng(0).random((500, 3000), dtype=numpy.float32)
search = lambda: sureshot.top_k(data, data[3], 2, threads=2, method="exact").indices.tolist()
here = search()
child = os.fork()
if child == 0:
    os._exit(0 if search() == here else 1)
assert os.waitpid(child, 0)[1] == 0
assert search() == here
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_search_works_after_a_fork() -> None:
    subprocess.run([sys.executable, "-c", SEARCH_IN_PARENT_AND_CHILD], check=True, timeout=60)
