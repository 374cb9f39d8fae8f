"""Every pull in a SQLite file, so that an interrupted search continues without pulling twice.

The file is in write-ahead mode and every transaction is synchronised: it is on the disk when `add`
returns, after one synchronisation, and survives a crash of the process (kill -9) and of the machine.
The main file is always consistent, even without the write-ahead file beside it. One process locks it
for the whole search; the lock ends with the process.
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
SYNCHRONOUS = "FULL"  # on the disk when a transaction ends; tests use OFF
APPLICATION = int.from_bytes(
    b"sure", "big"
)  # in the header of the file: identifies a journal of sureshot

SCHEMA = (
    "CREATE TABLE meta (name TEXT, value TEXT NOT NULL, PRIMARY KEY (name)) WITHOUT ROWID",
    """CREATE TABLE pulls (
        arm INTEGER, coordinate INTEGER, reward REAL NOT NULL, PRIMARY KEY (arm, coordinate)
    ) WITHOUT ROWID""",
)
# `fill` asks for a set of arms and a set of coordinates: these tables hold them during the query.
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
        The file; it is created if it does not exist.
    problem
        What the rewards belong to. A journal of another problem is refused.
    search
        The parameters of the search. A journal of another search is accepted, see `changed`.
    seed
        Of the random order. A journal with another seed is refused.
    seed_given
        False: `seed` was drawn for this call, and the seed of the journal is used if it has one.

    Attributes
    ----------
    seed
        Of the random order of all calls with this journal.
    changed
        Names of the parameters that differ from those of the first call. Only the parameters of the
        first call are known to be chosen before any reward of this order was seen.
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
        with self._reported():
            if path.exists() and path.stat().st_size:
                _refuse_other_files(path)
            self._database = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rwc", uri=True, timeout=0, isolation_level=None
            )
        try:
            with self._reported():
                self._run("PRAGMA locking_mode = EXCLUSIVE")  # until the connection is closed
                with self._transaction():
                    meta = self._meta()
                    if not meta:
                        meta = {"version": VERSION, "seed": seed, "search": search, **problem}
                        self._create(meta)
                    self._refuse_other_problem(meta, problem, seed if seed_given else None)
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
        with self._reported(), self._transaction("BEGIN"):
            self._run("DELETE FROM row")
            self._run("DELETE FROM col")
            insert = self._database.executemany
            insert("INSERT INTO row VALUES (?, ?)", enumerate(arms.tolist()))
            insert("INSERT INTO col VALUES (?, ?)", enumerate(coordinates.tolist()))
            found = self._run(ANSWER).fetchall()
        if found:
            rows, columns, values = zip(*found, strict=True)
            if not all(type(value) is float for value in values):
                raise self._damaged("a reward is no number")
            rewards[np.array(rows), np.array(columns)] = values

    def refuse_outside(
        self, rewards: Floats, arms: Ints, coordinates: Ints, low: float, high: float
    ) -> None:
        """Raise `JournalError` if a known reward of a table is outside its bounds: no such reward is stored."""
        outside = (rewards < low) | (rewards > high)
        if outside.any():
            row, column = np.argwhere(outside)[0]
            raise self._damaged(
                f"arm {arms[row]} has reward {rewards[row, column]:.6g} at coordinate "
                f"{coordinates[column]}, outside bounds=({low:.6g}, {high:.6g})"
            )

    def add(self, entries: Iterable[tuple[int, int, float]]) -> None:
        """Store (arm, coordinate, reward) of some pulls: all of them, or none if this fails."""
        with self._reported(), self._transaction():
            self._database.executemany("INSERT OR IGNORE INTO pulls VALUES (?, ?, ?)", entries)

    def count(self) -> int:
        """Return how many rewards are stored."""
        with self._reported():
            return int(self._run("SELECT count(*) FROM pulls").fetchone()[0])

    @contextmanager
    def noting_errors(self) -> Iterator[None]:
        """Add a note to every error, and to Ctrl-C, that says how many rewards are stored."""
        try:
            yield
        except JournalError:
            raise
        except BaseException as error:
            error.add_note(
                f"{self.count():,} rewards are stored in {self.path}: the same call continues from there"
            )
            raise

    def close(self) -> None:
        """Merge the write-ahead file into the main one, and release the lock."""
        with self._reported():
            self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> sqlite3.Cursor:
        return self._database.execute(statement, values)

    @contextmanager
    def _transaction(self, begin: str = "BEGIN EXCLUSIVE") -> Iterator[None]:
        self._undo()  # of a transaction that was interrupted as it began or ended
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
    def _reported(self) -> Iterator[None]:
        """Turn an error of SQLite into a `JournalError` that names the file."""
        try:
            yield
        except sqlite3.Error as error:
            if "locked" in str(error):
                message = (
                    f"journal {self.path} is locked by another search: wait for that search, stop it, or "
                    "use another file"
                )
                raise JournalError(message) from error
            raise JournalError(f"journal {self.path} cannot be used: {error}") from error
        except UnicodeDecodeError as error:  # of a message of SQLite that quotes the file
            raise self._damaged("SQLite cannot read it") from error

    def _damaged(self, why: str) -> JournalError:
        return JournalError(
            f"journal {self.path} is damaged: {why}; use a copy of it, or another file"
        )

    def _meta(self) -> dict[str, Any]:
        if not self._run("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            return {}
        rows = self._run("SELECT name, value FROM meta").fetchall()
        try:
            meta = {name: json.loads(value) for name, value in rows}
            _, _, _ = meta["version"], int(meta["seed"]), dict(meta["search"])
        except (KeyError, RecursionError, TypeError, ValueError) as error:
            raise self._damaged("what it belongs to cannot be read") from error
        return meta

    def _create(self, meta: Mapping[str, Any]) -> None:
        self._run(f"PRAGMA application_id = {APPLICATION}")
        for statement in SCHEMA:
            self._run(statement)
        for name, value in meta.items():
            self._run("INSERT INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def _refuse_other_problem(
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
            differences.append(
                "rng has another seed (without rng, the seed of the journal is used)"
            )
        if differences:
            message = (
                f"journal {self.path} belongs to another problem: {', '.join(differences)}; "
                "use another file, or the arguments of its first call"
            )
            raise JournalError(message)


def _refuse_other_files(path: Path) -> None:
    """Read the header without a lock or a write: a file that is not a journal must not be changed.

    SQLite reads it: if this process closed the file itself, it would lose the locks that SQLite
    holds on it.
    """
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as header:
            owner = header.execute("PRAGMA application_id").fetchone()[0]
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        owner = None
    if owner != APPLICATION:
        message = f"{path} is not a journal of sureshot, and was not changed: use another file"
        raise JournalError(message)


def _shown(value: Any) -> str:
    return f"({value[0]:g}, {value[1]:g})" if isinstance(value, list) else str(value)
