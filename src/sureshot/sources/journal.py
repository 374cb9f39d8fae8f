"""Every paid pull in a SQLite file, so that a search that was stopped goes on without paying twice.

The file is in write-ahead mode and every transaction is synchronised: it is on the disk when `add`
returns, after one synchronisation, and survives the end of the process (kill -9) as well as that of
the machine. The main file is sound at every moment, even without the write-ahead file beside it. One
process holds it locked for the whole search; the lock ends with the process, however it ends.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sureshot.errors import JournalError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from sureshot._types import Floats, Ints

VERSION = 1
SYNCHRONOUS = "FULL"  # on the disk when a transaction ends; tests do not wait for the disk
APPLICATION = int.from_bytes(b"sure", "big")  # in the header of the file: whose it is

SCHEMA = (
    "CREATE TABLE meta (name TEXT, value TEXT NOT NULL, PRIMARY KEY (name)) WITHOUT ROWID",
    """CREATE TABLE pulls (
        arm INTEGER, coordinate INTEGER, reward REAL NOT NULL, PRIMARY KEY (arm, coordinate)
    ) WITHOUT ROWID""",
)
# A question is a set of arms and a set of coordinates; these hold it while it is answered.
TEMPORARY = (
    "CREATE TEMP TABLE row (position INTEGER, arm INTEGER)",
    "CREATE TEMP TABLE col (position INTEGER, coordinate INTEGER)",
)
ANSWER = """
    SELECT row.position, col.position, reward FROM row CROSS JOIN col CROSS JOIN pulls
    ON pulls.arm = row.arm AND pulls.coordinate = col.coordinate
"""


class Journal:
    """The rewards that were pulled in one problem.

    Parameters
    ----------
    path
        The file; it is made if it is not there.
    problem
        What the rewards belong to. A journal that was begun with anything else is refused.
    search
        What is asked of them. A journal that was begun with something else is used, see `changed`.
    seed
        Of the random order. A journal that was begun with another is refused.
    seed_given
        False: `seed` was drawn for this call alone, and that of the journal is taken if it has one.

    Attributes
    ----------
    seed
        Of the random order, from the first call on.
    changed
        Names of what `search` has otherwise than the first call: only that was surely chosen before
        any reward of this order was seen.
    """

    def __init__(
        self,
        path: Path,
        problem: Mapping[str, Any],
        search: Mapping[str, Any],
        seed: int,
        *,
        seed_given: bool,
    ) -> None:
        self.path = path
        with self._told():
            if path.exists() and path.stat().st_size:
                _refuse_unless_ours(path)
            self._database = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rwc", uri=True, timeout=0, isolation_level=None
            )
        try:
            with self._told():
                self._run("PRAGMA locking_mode = EXCLUSIVE")  # held until the connection is closed
                with self._transaction():
                    meta = self._meta()
                    if not meta:
                        meta = {"version": VERSION, "seed": seed, "search": search, **problem}
                        self._create(meta)
                    self._refuse_unless_same(meta, problem, seed if seed_given else None)
                self._run("PRAGMA journal_mode = WAL")
                self._run(f"PRAGMA synchronous = {SYNCHRONOUS}")
                for statement in TEMPORARY:
                    self._run(statement)
        except BaseException:
            self._database.close()
            raise
        self.seed = int(meta["seed"])
        self.changed = [name for name in search if search[name] != meta["search"].get(name)]

    def fill(self, rewards: Floats, arms: Ints, coordinates: Ints) -> None:
        """Write the rewards that are known into a table of shape (len(arms), len(coordinates))."""
        with self._told(), self._transaction("BEGIN"):
            self._run("DELETE FROM row")
            self._run("DELETE FROM col")
            insert = self._database.executemany
            insert("INSERT INTO row VALUES (?, ?)", enumerate(arms.tolist()))
            insert("INSERT INTO col VALUES (?, ?)", enumerate(coordinates.tolist()))
            found = self._run(ANSWER).fetchall()
        if found:
            rows, columns, values = zip(*found, strict=True)
            rewards[np.array(rows), np.array(columns)] = values

    def add(self, entries: Iterable[tuple[int, int, float]]) -> None:
        """Keep (arm, coordinate, reward) of some pulls: all of them, or none if this fails."""
        with self._told(), self._transaction():
            self._database.executemany("INSERT OR IGNORE INTO pulls VALUES (?, ?, ?)", entries)

    def count(self) -> int:
        """Return how many rewards are kept."""
        with self._told():
            return int(self._run("SELECT count(*) FROM pulls").fetchone()[0])

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note on every error, and on Ctrl-C, that what was paid for is kept."""
        try:
            yield
        except JournalError:
            raise
        except BaseException as error:
            error.add_note(
                f"{self.count():,} rewards are kept in {self.path}: the same call goes on from there"
            )
            raise

    def close(self) -> None:
        """Fold the write-ahead file into the main one, and give up the lock."""
        with self._told():
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._database.execute(statement, values)

    @contextmanager
    def _transaction(self, begin: str = "BEGIN EXCLUSIVE") -> Iterator[None]:
        self._undo()  # one that was interrupted just as it began or ended
        self._run(begin)
        try:
            yield
        except BaseException:
            self._undo()
            raise
        self._run("COMMIT")

    def _undo(self) -> None:
        if self._database.in_transaction:
            self._run("ROLLBACK")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn what SQLite raises into a `JournalError` that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                message = (
                    f"journal {self.path} is in use by another search: wait for it, or stop it, or "
                    "use another file"
                )
                raise JournalError(message) from error
            raise JournalError(f"journal {self.path} cannot be used: {error}") from error

    def _meta(self) -> dict[str, Any]:
        if not self._run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return {}
        rows = self._run("SELECT name, value FROM meta").fetchall()
        return {name: json.loads(value) for name, value in rows}

    def _create(self, meta: Mapping[str, Any]) -> None:
        self._run(f"PRAGMA application_id = {APPLICATION}")
        for statement in SCHEMA:
            self._run(statement)
        for name, value in meta.items():
            self._run("INSERT INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def _refuse_unless_same(
        self, meta: Mapping[str, Any], problem: Mapping[str, Any], seed: int | None
    ) -> None:
        if meta["version"] != VERSION:
            message = (
                f"journal {self.path} has format {meta['version']}, expected format {VERSION}: it "
                "was written by another version of sureshot"
            )
            raise JournalError(message)
        differences = [
            f"{name} was {_shown(meta.get(name))} and is now {_shown(value)}"
            for name, value in problem.items()
            if meta.get(name) != value
        ]
        if seed is not None and seed != meta["seed"]:
            differences.append("rng has another seed (without rng, the journal's own is used)")
        if differences:
            message = (
                f"journal {self.path} belongs to another problem: {', '.join(differences)}; "
                "use another file, or what it was begun with"
            )
            raise JournalError(message)


def _refuse_unless_ours(path: Path) -> None:
    """Look at the header without a lock or a write: a file that is not ours must not be touched.

    By SQLite rather than by hand: a file that is closed by hand loses the locks that SQLite holds on
    it elsewhere in this process.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as looking:
            owner = looking.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        owner = None
    if owner != APPLICATION:
        message = f"{path} is not a journal of sureshot, and is left as it is: use another file"
        raise JournalError(message)


def _shown(value: Any) -> str:
    return f"({value[0]:g}, {value[1]:g})" if isinstance(value, list) else str(value)
