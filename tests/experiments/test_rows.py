"""Rows name the code that made them."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from sureshot.experiments import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    rows._commit.cache_clear()
    yield
    rows._commit.cache_clear()


def test_the_commit_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"([0-9a-f]{12}|v?[0-9][^ ]*)?(-dirty)?", rows.environment()["commit"])

    def absent(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError("git")

    rows._commit.cache_clear()
    monkeypatch.setattr(subprocess, "run", absent)
    assert rows.environment()["commit"] == ""


def test_a_repository_of_somebody_else_is_not_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if subprocess.run(["git", "init", "-q", str(tmp_path)], check=False).returncode:
        pytest.skip("git is not installed")
    installed = tmp_path / "rows.py"
    installed.write_text("")
    monkeypatch.setattr(rows, "__file__", str(installed))
    assert rows.environment()["commit"] == ""
