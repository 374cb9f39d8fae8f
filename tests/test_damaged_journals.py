"""Journals that were damaged on the disk: refused, with a message that names the file."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

import sureshot
from sureshot.sources import journal
from tests.pulling import WAYS, Service, search

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def do_not_wait_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "SYNCHRONOUS", "OFF")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (
            "UPDATE pulls SET reward = 7e128",
            r"has reward 7e\+128 at coordinate \d+, outside bounds",
        ),
        ("UPDATE pulls SET reward = 'much'", "a reward is no number"),
        ("UPDATE meta SET value = '{'", "what it belongs to cannot be read"),
        ("UPDATE meta SET value = 3 WHERE name = 'search'", "what it belongs to cannot be read"),
        ("DELETE FROM meta WHERE name = 'seed'", "what it belongs to cannot be read"),
    ],
)
def test_a_damaged_journal_is_refused(damage: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    search(next(iter(WAYS)), Service(), journal=path)
    with closing(sqlite3.connect(path)) as database:
        database.execute(damage)
        database.commit()
    with pytest.raises(sureshot.JournalError, match=f"is damaged: .*{why}"):
        search(next(iter(WAYS)), Service(), journal=path)


def test_a_message_of_sqlite_that_is_no_text_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    search(next(iter(WAYS)), Service(), journal=path)
    content = path.read_bytes()
    assert b"WITHOUT ROWID" in content
    path.write_bytes(content.replace(b"WITHOUT ROWID", b"WITHOUT ROW\xff\xff"))
    with pytest.raises(sureshot.JournalError, match="is damaged: SQLite cannot read it"):
        search(next(iter(WAYS)), Service(), journal=path)
