"""``--plot`` of ``sureshot search`` and ``best``: the picture, and every way to refuse one."""

from __future__ import annotations

import json
import os
import sys
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Any

import pytest

import sureshot
from sureshot import TopK
from tests.cli.conftest import assert_refused, library, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Invoke

SEARCH = ["search", "data.npy", "query.npy", "--seed", "3"]
BEST = ["best", "rewards.npy", "--epsilon", "0.01", "--seed", "3"]
COMMANDS = pytest.mark.parametrize("command", [SEARCH, BEST], ids=["search", "best"])


@pytest.fixture
def no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if anything is searched."""
    for name in ("top_k", "best_arms"):
        monkeypatch.setattr(sureshot, name, lambda *given, **more: pytest.fail("searched"))


@COMMANDS
@pytest.mark.parametrize(
    ("ending", "beginning"),
    [(".png", b"\x89PNG\r\n"), (".PNG", b"\x89PNG\r\n"), (".svg", b"<?xml"), (".pdf", b"%PDF")],
)
def test_a_picture_of_every_kind(
    invoke: Invoke, tmp_path: Path, command: list[str], ending: str, beginning: bytes
) -> None:
    out = tmp_path / f"the race{ending}"
    shown = invoke(*command, "--plot", str(out))
    assert shown.exit_code == 0, shown.output
    assert "rank" in shown.stdout  # the answer is told as well
    assert out.read_bytes().startswith(beginning)


@pytest.mark.parametrize("queries", ["query.npy", "queries3.npy"])
def test_the_picture_shows_the_race_of_the_answer(
    invoke: Invoke, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, queries: str
) -> None:
    drawn: list[tuple[TopK, Any]] = []
    plot = TopK.plot

    def spy(result: TopK, axes: Any) -> Any:
        drawn.append((result, axes))
        return plot(result, axes)

    monkeypatch.setattr(TopK, "plot", spy)
    out = tmp_path / "race.svg"
    found = invoke("search", "data.npy", queries, "--seed", "3", "--plot", str(out), "--json")
    expected = library(folder, queries, rng=3)
    ((result, axes),) = drawn
    assert json.loads(found.stdout)["indices"] == expected.indices.tolist()
    assert result.rounds == expected.rounds
    assert len(axes.lines) == 2 * len(expected.queries)
    assert axes.get_xlabel() == "numbers read"
    assert ET.parse(out).getroot().tag.endswith("svg")


@COMMANDS
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("race", "--plot must name a file that ends in one of ."),
        ("race.npy", ", .svgz, "),
        ("absent/race.png", "absent is not a directory"),
        ("folder.png", "folder.png: Is a directory"),
    ],
)
@pytest.mark.usefixtures("no_search")
def test_a_file_that_cannot_be_is_refused_before_the_search(
    invoke: Invoke, folder: Path, command: list[str], name: str, message: str
) -> None:
    (folder / "folder.png").mkdir(exist_ok=True)
    assert_refused(invoke(*command, "--plot", name), message)


@COMMANDS
@pytest.mark.usefixtures("no_search")
def test_a_folder_that_may_not_be_written_is_refused_before_the_search(
    invoke: Invoke, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "race.png"
    allowed = os.access  # root may write anywhere
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path and allowed(path, mode))
    refused = invoke(*command, "--plot", str(out))
    assert_refused(refused, "race.png: Permission denied")


@COMMANDS
@pytest.mark.usefixtures("no_search")
def test_without_matplotlib_the_extra_is_named_before_the_search(
    invoke: Invoke, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused = invoke(*command, "--plot", "race.png")
    assert_refused(refused, "--plot needs matplotlib: pip install 'sureshot[report]'")


@COMMANDS
def test_the_answer_is_told_even_if_the_disk_is_full(
    invoke: Invoke, command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(figure: Any, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", fail)
    stopped = invoke(*command, "--plot", str(tmp_path / "race.png"))
    assert stopped.exit_code == 2
    assert "rank" in stopped.stdout
    assert stopped.stderr.endswith("race.png: No space left on device\n")


def test_as_a_program_without_a_display(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "race.png"
    found = run([*SEARCH, "--plot", str(out)], folder)
    assert found.returncode == 0, found.stderr  # where matplotlib may tell of its caches
    assert out.exists()
