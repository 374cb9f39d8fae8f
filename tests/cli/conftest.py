"""Files to search, and two ways to run a command: inside this process and as a user does."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import sureshot
from sureshot.cli import commands

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from click.testing import Result

    Invoke = Callable[..., Result]

# The commands read the signature of top_k when they are imported: patch it afterwards.
PATCHED = "import os, signal, time, sureshot\nfrom sureshot.cli import commands, main\n"


@pytest.fixture(autouse=True)
def plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what this terminal is like: outputs are compared with what a pipe gets."""
    for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "PYTHONWARNINGS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files to search: 97 rows of 1,535 numbers within -1 and 1, and 1, 3 and 12 queries."""
    made = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(5)
    data = rng.uniform(-1, 1, (97, 1535)).astype(np.float32)
    np.save(made / "data.npy", data)
    np.save(made / "query.npy", rng.uniform(-1, 1, 1535))
    for queries in (3, 12):
        np.save(made / f"queries{queries}.npy", rng.uniform(-1, 1, (queries, 1535)))
    sureshot.scan(data).save(made / "bounds.npz")
    np.save(made / "factors.npy", rng.uniform(0.5, 2, 97))
    np.save(made / "rewards.npy", rng.random((20, 1200)) < np.linspace(0.3, 0.9, 20)[:, None])
    sureshot.scan(data[:, :7]).save(made / "other-bounds.npz")
    np.save(made / "narrow.npy", np.ones(7))
    np.save(made / "cube.npy", np.ones((2, 2, 2)))
    np.save(made / "words.npy", np.array(["a", "b"]))
    np.save(made / "nan.npy", np.full(1535, np.nan))
    np.save(made / "nan-data.npy", np.full((2, 3), np.nan))
    np.save(made / "pickled.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.savez(made / "archive.npz", data=np.ones((3, 4)))
    (made / "text.npy").write_text("not an array\n")
    (made / "empty.npy").write_bytes(b"")
    (made / "cut.npy").write_bytes((made / "data.npy").read_bytes()[:5000])
    (made / "cut.npz").write_bytes((made / "bounds.npz").read_bytes()[:5000])
    (made / "header.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr':'<f4',('")
    return made


@pytest.fixture
def invoke(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    """Run a command inside this process, standing in the folder with the files."""
    monkeypatch.chdir(folder)
    return lambda *arguments: CliRunner().invoke(commands.cli, arguments, prog_name="sureshot")


def run(
    arguments: Sequence[str], folder: Path, program: Sequence[str] = ("-m", "sureshot")
) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does."""
    command = [sys.executable, *program, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def rows_of(output: str) -> list[list[str]]:
    """Return the cells of the table rows: the lines that begin with a number."""
    lines = [line.split() for line in output.splitlines()]
    return [cells for cells in lines if cells and cells[0].isdigit()]


def library(folder: Path, query: str, *arguments: Any, **keywords: Any) -> sureshot.TopK:
    """Search as the command should."""
    return sureshot.top_k(
        np.load(folder / "data.npy"), np.load(folder / query), *arguments, **keywords
    )


def assert_same_result(printed: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare what a command has printed with the result of the library, but for the time."""
    assert printed["work"].pop("seconds") > 0
    expected["work"].pop("seconds")
    assert {name: printed[name] for name in expected} == expected


def assert_refused(refused: Result, message: str) -> None:
    """Fail unless there is one line on stderr that has the message in it."""
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("sureshot: error: ")
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1
