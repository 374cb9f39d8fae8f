"""The program around the commands: help, progress, interruption, what is missing."""

from __future__ import annotations

import inspect
import json
import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import sureshot
from sureshot.cli import progress, text
from tests.cli.conftest import PATCHED, library, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Invoke


def test_help_and_version(invoke: Invoke) -> None:
    assert invoke("--version").output == f"sureshot {sureshot.__version__}\n"
    overview = invoke("--help").output
    assert all(name in overview for name in ("search", "scan", "best", "demo", "doctor"))
    shown = " ".join(invoke("search", "--help").output.split())
    for option in (
        "-k",
        "--metric",
        "--epsilon",
        "--delta",
        "--bounds LOW,HIGH|unit|scan|FILE",
        "--method",
        "--budget SHARE",
        "--budget-seconds SECONDS",
        "--seed",
        "--threads",
        "--block",
        "--json",
    ):
        assert f"{option} " in shown
    parameters = inspect.signature(sureshot.top_k).parameters
    for name in ("k", "metric", "epsilon", "delta", "method"):
        assert f"[default: {parameters[name].default}]" in shown


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "data.npy"],
        ["search", "data.npy", "query.npy", "-k", "many"],
        ["search", "data.npy", "query.npy", "--unknown"],
        ["search", "data.npy", "query.npy", "--budget", "half"],
        ["scan"],
        ["scan", "data.npy", "out.npz", "more.npz"],
        ["best"],
        ["best", "rewards.npy"],
        ["best", "rewards.npy", "--epsilon", "small", "--delta", "0.1"],
        ["demo", "--rows", "9"],
        ["demo", "--columns", "0"],
        ["demo", "--seed", "-1"],
        ["unknown"],
    ],
)
def test_wrong_usage(invoke: Invoke, arguments: list[str]) -> None:
    refused = invoke(*arguments)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "Usage: sureshot" in refused.stderr


def test_words() -> None:
    assert [text.count(number, "arm") for number in (0, 1, 1234)] == [
        "0 arms",
        "1 arm",
        "1,234 arms",
    ]
    shares = [text.percent(share) for share in (0.0, 0.0041, 0.31415, 1.0, 1.00247, 0.99837)]
    assert shares == ["0 %", "0.41 %", "31.4 %", "100 %", "100.2 %", "99.8 %"]
    times = (75.0, 0.0415, 0.00021, 0.00000778)
    assert [text.duration(time) for time in times] == ["75 s", "41.5 ms", "0.21 ms", "7.78 µs"]
    info = sureshot.RoundInfo(
        query=1, round=7, arms=812, active=40, pulls=5, numbers_read=41, threshold=None
    )
    assert progress.describe(info, 10_000, 1) == "round 7 · 812 arms undecided · 0.41 % read"
    assert progress.describe(info, 10_000, 3).startswith("query 2 of 3 · round 7 · ")


@pytest.mark.parametrize(("patience", "appears"), [(0, True), (60, False)])
def test_progress_on_a_terminal(folder: Path, patience: int, appears: bool) -> None:
    program = (
        f"{PATCHED}from sureshot.cli import progress\n"
        f"progress.SECONDS_BEFORE_SHOWN = {patience}\n"
        "found = sureshot.top_k\n"
        "def slow(*arguments, progress, **keywords):\n"
        "    result = found(*arguments, progress=progress, **keywords)\n"
        "    time.sleep(0.5)\n"  # several refreshes of the display
        "    return result\n"
        "sureshot.top_k = slow\n"
        "main()"
    )
    arguments = ["search", "data.npy", "query.npy", "--method", "exact", "--json"]
    ours, theirs = pty.openpty()
    finished = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        timeout=120,
        check=True,
    )
    os.write(theirs, b"end")  # so that reading does not wait when nothing was shown
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert ("0 arms undecided" in shown) == appears
    assert len(json.loads(finished.stdout)["indices"]) == 10


def test_as_a_program(folder: Path) -> None:
    found = run(["search", "data.npy", "query.npy", "--seed", "3", "--json"], folder)
    assert (found.returncode, found.stderr) == (0, "")
    expected = library(folder, "query.npy", rng=3).indices.tolist()
    assert json.loads(found.stdout)["indices"] == expected
    refused = run(["search", "absent.npy", "query.npy"], folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "sureshot: error: cannot open absent.npy: No such file or directory\n"
    assert run(["--version"], folder).stdout == f"sureshot {sureshot.__version__}\n"


def test_interrupted(folder: Path) -> None:
    program = (
        f"{PATCHED}"
        "def slow(*arguments, **keywords):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "sureshot.top_k = slow\n"
        "main()"
    )
    stopped = run(["search", "data.npy", "query.npy"], folder, ("-c", program))
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert stopped.stderr == "sureshot: interrupted\n"


@pytest.mark.parametrize("door", ["sureshot", "sureshot.cli"])
@pytest.mark.parametrize("package", ["click", "rich"])
def test_missing_extra(folder: Path, package: str, door: str) -> None:
    how = {
        "sureshot": "import runpy\nrunpy.run_module('sureshot', run_name='__main__')",
        "sureshot.cli": "from sureshot.cli import main\nmain()",
    }
    program = f"import sys\nsys.modules[{package!r}] = None\n{how[door]}"
    stopped = run(["doctor"], folder, ("-c", program))
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert stopped.stderr == (
        "the command line needs click and rich: pip install 'sureshot[cli]'\n"
    )


def test_another_missing_module_is_not_hidden(folder: Path) -> None:
    program = "import sys\nsys.modules['inspect'] = None\nfrom sureshot.cli import main\nmain()"
    stopped = run(["doctor"], folder, ("-c", program))
    assert stopped.returncode == 1
    assert "Traceback" in stopped.stderr


def test_the_library_does_not_load_the_command_line(folder: Path) -> None:
    program = (
        "import sys, sureshot\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'click', 'rich', 'matplotlib'}))\n"
        "import sureshot.cli.commands\n"
        "print('matplotlib' in sys.modules)"
    )
    assert run([], folder, ("-c", program)).stdout == "[]\nFalse\n"
