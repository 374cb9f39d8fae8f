"""The journal: nothing that was returned is lost or paid twice, and no other file is touched."""

from __future__ import annotations

import functools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.sources import journal
from sureshot.sources.journal import Journal
from tests.pulling import METHODS, N_ARMS, N_REWARDS, SEED, WAYS, Service, rewards, same, search

if TYPE_CHECKING:
    from collections.abc import Callable

every_way = pytest.mark.parametrize("way", WAYS)
FOLDER = Path(__file__).parent.parent
PROMISED = journal.SYNCHRONOUS


@pytest.fixture(autouse=True)
def do_not_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave it to the system when to write: these tests kill processes, not machines."""
    monkeypatch.setattr(journal, "SYNCHRONOUS", "OFF")


def kept(path: Path) -> dict[tuple[int, int], float]:
    """Return what a journal holds, by other means."""
    with closing(sqlite3.connect(path)) as database:
        rows = database.execute("SELECT arm, coordinate, reward FROM pulls").fetchall()
    return {(arm, coordinate): reward for arm, coordinate, reward in rows}


def assert_kept(path: Path, *services: Service) -> None:
    """Fail unless the journal holds just what the services have returned, each reward once."""
    returned = sum((service.returned for service in services), Counter[tuple[int, int]]())
    assert set(returned.values()) <= {1}
    table = rewards()
    assert kept(path) == {key: table[key] for key in returned}


@every_way
@pytest.mark.parametrize("method", METHODS)
def test_the_same_call_again_costs_nothing(way: str, method: str, tmp_path: Path) -> None:
    more: dict[str, Any] = {"method": method, "epsilon": METHODS[method]}
    path, first, second = tmp_path / "journal.db", Service(), Service()
    found = search(way, first, journal=path, **more)
    assert same(found, search("plain", Service(), **more))
    assert found.work.pulls_paid == found.work.numbers_read
    assert_kept(path, first)
    again = search(way, second, journal=str(path), **more)
    assert same(found, again)
    assert again.work.pulls_paid == 0
    assert second.calls == []
    assert list(tmp_path.iterdir()) == [path]  # one file, when it is closed


class StopAt:
    """Does something at a certain call, once."""

    def __init__(self, call: int, what: Callable[[], object]) -> None:
        self.call, self.what = call, what

    def __call__(self, call: int, arm: int, coordinate: int) -> None:
        if call == self.call:
            self.what()


def _fail() -> None:
    raise ConnectionError("the line is dead")


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.01)  # plain calls: the interruption comes inside the call


@every_way
@pytest.mark.parametrize(
    ("stop", "error"), [(_fail, sureshot.PullError), (_interrupt, KeyboardInterrupt)]
)
@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_a_search_that_was_stopped_goes_on(
    way: str, stop: Callable[[], object], error: type[BaseException], share: float, tmp_path: Path
) -> None:
    undisturbed = Service()
    expected = search(way, undisturbed)
    path, first, second = tmp_path / "journal.db", Service(latency=2e-4), Service()
    first.fail = StopAt(1 + int(share * len(undisturbed.calls)), stop)
    with pytest.raises(error) as raised:
        search(way, first, journal=path)
    assert_kept(path, first)  # what was in flight and could return has been kept, too
    count = len(first.returned)
    assert f"{count:,} rewards are stored in {path}" in "".join(raised.value.__notes__)
    assert share == 0.0 or count > 0
    found = search(way, second, journal=path)
    assert same(found, expected)
    assert found.work.pulls_paid == expected.work.numbers_read - count
    assert_kept(path, first, second)


def test_an_interruption_cancels_coroutines_and_keeps_what_came(tmp_path: Path) -> None:
    path, first, second = tmp_path / "journal.db", Service(latency=2e-4), Service()

    def hang_and_interrupt() -> None:
        first.latency = 600.0
        os.kill(os.getpid(), signal.SIGINT)

    first.fail = StopAt(100, hang_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        search("coroutine", first, journal=path)
    assert first.in_flight == 0
    assert_kept(path, first)
    assert same(search("coroutine", second, journal=path), search("plain", Service()))
    assert_kept(path, first, second)


@every_way
@pytest.mark.parametrize("value", [np.nan, 2.0])
def test_of_a_call_with_a_bad_reward_the_good_ones_are_kept(
    way: str, value: float, tmp_path: Path
) -> None:
    path, first, second = tmp_path / "journal.db", Service(), Service()
    first.table[4, 11] = value
    more: dict[str, Any] = {"method": "exact", "epsilon": 0.0}
    if way != "plain":
        more["pulls_per_call"] = 20
    with pytest.raises(sureshot.BoundsError, match=r"arm 4 .* coordinate 11") as raised:
        search(way, first, journal=path, **more)
    del first.returned[4, 11]
    assert len(first.returned) > 0
    assert_kept(path, first)
    assert f"{len(first.returned):,} rewards are stored" in "".join(raised.value.__notes__)
    found = search(way, second, journal=path, **more)
    assert same(found, search("plain", Service(), method="exact", epsilon=0.0))
    assert_kept(path, first, second)


def test_of_a_table_that_is_known_in_part_only_the_rest_is_asked_for(tmp_path: Path) -> None:
    path, first, second = tmp_path / "journal.db", Service(), Service()
    first.fail = StopAt(10, _fail)
    with pytest.raises(sureshot.PullError):
        search("one by one", first, journal=path)
    assert same(search("plain", second, journal=path), search("plain", Service()))
    assert_kept(path, first, second)
    assert len(second.calls) < len(second.returned) / 10


def test_another_search_pays_only_for_what_is_new(tmp_path: Path) -> None:
    path, first, second, third = tmp_path / "journal.db", Service(), Service(), Service()
    coarse = search("plain", first, journal=path, epsilon=0.2)
    fine: dict[str, Any] = {"epsilon": 0.02, "k": 1, "where": np.arange(1, N_ARMS)}
    found = search("plain", second, journal=path, **fine)
    expected = search("plain", Service(), **fine)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.rounds == expected.rounds
    assert 0 < found.work.pulls_paid < found.work.numbers_read
    assert_kept(path, first, second)
    # Nothing covers a search that was chosen by looking at the first: the certificate says so.
    assert found.certificate.assumption == (
        "as long as every reward lies within the given bounds, and nothing in the journal, which was "
        "begun with another k and epsilon and where, suggested this search"
    )
    assert coarse.certificate.unconditional
    assert not found.certificate.unconditional
    again = search("plain", third, journal=path, epsilon=0.2)
    assert again.certificate == coarse.certificate
    assert again.work.pulls_paid == 0


def test_without_rng_the_journal_keeps_the_seed(tmp_path: Path) -> None:
    path, first, second = tmp_path / "journal.db", Service(), Service()
    first.fail = StopAt(300, _fail)
    with pytest.raises(sureshot.PullError):
        search("one by one", first, journal=path, rng=None)
    found = search("one by one", second, journal=path, rng=None)
    assert_kept(path, first, second)
    again = search("one by one", Service(), journal=path, rng=None)
    assert same(found, again)
    with closing(sqlite3.connect(path)) as database:
        meta = dict(database.execute("SELECT name, value FROM meta"))
    assert 0 <= int(meta["seed"]) < 2**63


OTHERS: dict[str, tuple[dict[str, Any], str]] = {
    "arms": ({"n_arms": 6}, r"n_arms was 7 and is now 6;"),
    "rewards": ({"n_rewards": 299}, r"n_rewards was 300 and is now 299;"),
    "bounds": ({"bounds": (0, 1.5)}, r"bounds was \(0, 1\) and is now \(0, 1\.5\);"),
    "seed": ({"rng": SEED + 1}, r"rng has another seed \(without rng"),
    "generator": ({"rng": np.random.default_rng(1)}, r"rng has another seed"),
    "all": ({"n_arms": 6, "bounds": (0, 2), "rng": 1}, r"n_arms was.*, bounds was.*, rng has"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_a_journal_of_another_problem_is_refused(other: str, tmp_path: Path) -> None:
    path, service = tmp_path / "journal.db", Service()
    search("plain", Service(), journal=path)
    before = path.read_bytes()
    changes, message = OTHERS[other]
    problem = {"n_arms": N_ARMS, "n_rewards": N_REWARDS} | changes
    arguments: dict[str, Any] = {"epsilon": 0.02, "delta": 0.05, "rng": SEED, "k": 2} | problem
    with pytest.raises(sureshot.JournalError, match=f"belongs to another problem: {message}"):
        sureshot.best_arms(service.pull, journal=path, **arguments)
    assert service.calls == []
    assert path.read_bytes() == before
    assert search("plain", service, journal=path).work.pulls_paid == 0


def _database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE pulls (arm, coordinate, reward)")
        database.commit()


FOREIGN: dict[str, Callable[[Path], object]] = {
    "text": lambda path: path.write_text("my thesis\n"),
    "long text": lambda path: path.write_text("my thesis\n" * 1000),
    "array": lambda path: path.write_bytes(b"\x93NUMPY" + bytes(2000)),
    "zeros": lambda path: path.write_bytes(bytes(8192)),
    "database": _database,
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_file_that_is_no_journal_is_refused_and_left_alone(kind: str, tmp_path: Path) -> None:
    path, service = tmp_path / "thesis.db", Service()
    FOREIGN[kind](path)
    before = path.read_bytes(), path.stat().st_mtime_ns, list(tmp_path.iterdir())
    with pytest.raises(sureshot.JournalError, match=r"thesis\.db is not a journal of sureshot"):
        search("plain", service, journal=path)
    assert (path.read_bytes(), path.stat().st_mtime_ns, list(tmp_path.iterdir())) == before
    assert service.calls == []


def test_a_journal_of_another_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    search("plain", Service(), journal=path)
    with closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE meta SET value = '2' WHERE name = 'version'")
        database.commit()
    with pytest.raises(sureshot.JournalError, match="has format 2, expected format 1"):
        search("plain", Service(), journal=path)


@pytest.mark.parametrize("name", [":memory:", "a b?mode=memory#%41.db", "empty.db"])
def test_odd_names(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.db").touch()
    search("plain", Service(), journal=name)
    assert (tmp_path / name).stat().st_size > 0
    assert search("plain", Service(), journal=tmp_path / name).work.pulls_paid == 0


# A search in another process: where, its journal, the file that counts what is paid, seconds per pull.
PROGRAM = """
import asyncio, json, os, sys, time
from concurrent.futures import ThreadPoolExecutor
import numpy as np
import sureshot
from tests.pulling import N_ARMS, N_REWARDS, SEED, rewards

way, journal, paid, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
table = rewards()
book = os.open(paid, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def pull(arms, coordinates):
    time.sleep(seconds)
    os.write(book, b"".join(b"%d %d\\n" % (arm, j) for arm in arms for j in coordinates))
    return table[np.ix_(arms, coordinates)]

async def ask(arms, coordinates):
    await asyncio.sleep(seconds * (1 + (coordinates[0] * 7 + arms[0]) % 5))
    os.write(book, b"".join(b"%d %d\\n" % (arm, j) for arm in arms for j in coordinates))
    return table[np.ix_(arms, coordinates)]

how = {
    "one by one": {"pulls_per_call": 1},
    "threads": {"executor": ThreadPoolExecutor(4), "concurrency": 4},
    "coroutine": {"concurrency": 4},
}[way]
try:
    found = sureshot.best_arms(
        ask if way == "coroutine" else pull, N_ARMS, N_REWARDS, 2,
        epsilon=0.02, delta=0.05, rng=SEED, journal=journal, **how,
    )
    print(json.dumps(found.to_dict()))
except sureshot.JournalError as error:
    sys.exit(str(error))
"""


def start(way: str, path: Path, paid: Path, seconds: float) -> subprocess.Popen[str]:
    arguments = [sys.executable, "-c", PROGRAM, way, str(path), str(paid), str(seconds)]
    return subprocess.Popen(
        arguments, cwd=FOLDER, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def wait_for(path: Path, count: int) -> None:
    """Wait until a file has so many lines."""
    while len(lines(path)) < count:
        time.sleep(0.002)


@pytest.mark.parametrize("way", WAYS[1:])
def test_a_search_that_was_killed_goes_on(way: str, tmp_path: Path) -> None:
    """Two real kill -9: a pull is paid again only if its call had not been taken at the kill.

    These are the calls in flight, and calls that have returned and are being written: together never
    more than `concurrency`, and a single one without it.
    """
    in_flight = 1 if way == "one by one" else 4
    expected = search("plain", Service())
    path, paid = tmp_path / "journal.db", tmp_path / "paid.txt"
    for number, count in enumerate((100, 400), start=1):
        victim = start(way, path, paid, 0.001)
        wait_for(paid, count)
        victim.send_signal(signal.SIGKILL)
        assert victim.communicate()[0] == ""
        assert victim.returncode == -signal.SIGKILL
        repeated = sum(Counter(lines(paid)).values()) - len(set(lines(paid)))
        assert repeated <= (number - 1) * in_flight
        payments = set(lines(paid))
        assert {f"{arm} {j}" for arm, j in kept(path)} <= payments
        assert len(kept(path)) >= len(payments) - in_flight
    last = start(way, path, paid, 0.0)
    out, errors = last.communicate()
    assert (last.returncode, errors) == (0, "")
    found = json.loads(out)
    assert found["indices"] == expected.indices.tolist()
    assert found["scores"] == expected.scores.tolist()
    assert found["rounds"] == [info.to_dict() for info in expected.rounds]
    assert found["work"]["numbers_read"] == expected.work.numbers_read == len(set(lines(paid)))
    assert len(lines(paid)) - len(set(lines(paid))) <= 2 * in_flight
    assert found["work"]["pulls_paid"] < expected.work.numbers_read - 400 + 2 * in_flight


def test_a_journal_in_use_is_refused(tmp_path: Path) -> None:
    path, paid = tmp_path / "journal.db", tmp_path / "paid.txt"
    first, inner = Service(), Service()

    def open_twice() -> None:
        for _ in range(2):
            # In this process, then in another: the refusal must not loosen the lock.
            with pytest.raises(sureshot.JournalError, match="locked by another search"):
                search("plain", inner, journal=path)
            other = start("one by one", path, paid, 0.0)
            assert "locked by another search" in other.communicate()[1]
            assert other.returncode == 1

    first.fail = StopAt(2, open_twice)
    assert same(search("plain", first, journal=path), search("plain", Service()))
    assert inner.calls == []
    assert lines(paid) == []
    assert_kept(path, first)


def test_every_transaction_is_on_the_disk_when_it_ends(
    open_journal: Callable[[], Journal], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(journal, "SYNCHRONOUS", PROMISED)
    with open_journal() as opened:
        assert opened._run("PRAGMA synchronous").fetchone() == (2,)  # SQLite's number for FULL
        assert opened._run("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.fixture
def open_journal(tmp_path: Path) -> Callable[[], Journal]:
    problem = {"n_arms": 3, "n_rewards": 4, "bounds": [0.0, 1.0]}
    return functools.partial(
        Journal, tmp_path / "journal.db", problem, {"k": 1}, 5, seed_given=False
    )


def test_a_batch_is_kept_whole_or_not_at_all(open_journal: Callable[[], Journal]) -> None:
    with open_journal() as journal:
        journal.add([(0, 1, 0.25), (2, 3, 1.0)])

        def interrupted() -> Any:
            yield 1, 1, 0.5
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            journal.add(interrupted())
        assert journal.count() == 2
        journal.add([(0, 1, 0.25), (1, 0, 0.1)])  # what is known already does no harm
        table = np.full((3, 3), np.nan)
        journal.fill(table, np.array([2, 1, 0]), np.array([3, 0, 1]))
    nan = np.nan
    np.testing.assert_array_equal(table, [[1.0, nan, nan], [nan, 0.1, nan], [nan, nan, 0.25]])


def test_rewards_come_back_to_the_last_bit(open_journal: Callable[[], Journal]) -> None:
    values = np.array([0.1, 1 / 3, 5e-324, np.nextafter(1, 0), 1.0, -2.5e300, 0.0])
    with open_journal() as journal:
        journal.add((0, j, value) for j, value in enumerate(values.tolist()))
    table = np.full((1, len(values)), np.nan)
    with open_journal() as journal:
        journal.fill(table, np.array([0]), np.arange(len(values)))
    assert table.tobytes() == values.tobytes()


def test_a_disk_that_fails_is_told_and_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, first, second = tmp_path / "journal.db", Service(), Service()
    add, batches = Journal.add, 0

    def full(journal: Journal, entries: Any) -> None:
        nonlocal batches
        batches += 1
        if batches == 50:
            journal._run("PRAGMA max_page_count = 1")  # as if the disk were full
            entries = [*entries, *((0, 10_000 + j, 0.5) for j in range(10_000))]
        add(journal, entries)

    monkeypatch.setattr(Journal, "add", full)
    with pytest.raises(sureshot.JournalError, match="cannot be used: database or disk is full"):
        search("one by one", first, journal=path)
    monkeypatch.undo()
    assert len(kept(path)) == 49
    found = search("one by one", second, journal=path)
    assert same(found, search("plain", Service()))
    assert len(second.returned) == found.work.numbers_read - 49
