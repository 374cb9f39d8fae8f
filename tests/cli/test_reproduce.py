"""``sureshot reproduce``: what it writes, how it goes on, and what it tells."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sureshot.cli import reproduction
from sureshot.experiments import fig1, fig4, reproduce, rows
from sureshot.experiments.reproduce import Step
from tests.cli.conftest import PATCHED, assert_refused

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Invoke


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = replace(fig1.SCALES["small"], n_arms=20, n_rewards=1_100, epsilons=(0.6,), runs=2)
    monkeypatch.setitem(fig1.SCALES, "small", sizes)


def test_rows_figures_and_report(invoke: Invoke, tmp_path: Path) -> None:
    first = invoke("reproduce", "fig1", "--out", str(tmp_path))
    assert first.exit_code == 0, first.stderr
    assert first.stdout.startswith(f"30 new rows in {tmp_path / 'rows'}. Report: ")
    assert "30/30 fig1: betting, uniform, δ=0.3: largest loss" in first.stderr
    assert "(done)" in first.stderr
    assert (tmp_path / "figures" / "fig1.svg").exists()
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
    again = invoke("reproduce", "fig1", "--out", str(tmp_path))
    assert again.stdout.startswith("0 new rows")
    assert again.stderr == ""


def test_the_folder_is_named_after_the_scale(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    from click.testing import CliRunner  # noqa: PLC0415

    from sureshot.cli import commands  # noqa: PLC0415

    done = CliRunner().invoke(commands.cli, ["reproduce", "fig1"])
    assert done.exit_code == 0
    assert (tmp_path / "results" / "reproduce-small" / "report.html").exists()


def test_data_that_is_not_there_is_told(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = reproduce.EXPERIMENTS["fig4"]
    changed = replace(experiment, lacking=lambda _folder: dict.fromkeys(ALL_DATA, "no file"))
    monkeypatch.setitem(reproduce.EXPERIMENTS, "fig4", changed)
    refused = invoke("reproduce", "fig4", "--out", str(tmp_path))
    assert refused.exit_code == 2
    assert "fig4: Netflix scores is left out: no file" in refused.stderr
    assert "nothing to report" in refused.stderr


def test_a_file_that_is_something_else_is_told_and_loses_nothing(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(folder: Path | None) -> dict[str, str]:
        return fig4.lacking(folder) | {fig4.DIGITS: "not in this test"}

    monkeypatch.setitem(
        reproduce.EXPERIMENTS, "fig4", replace(reproduce.EXPERIMENTS["fig4"], lacking=lacking)
    )
    out, data = tmp_path / "out", tmp_path / "data"
    data.mkdir()
    np.savez(data / "images_fashion_mnist.npz", other=np.arange(3))
    invoke("reproduce", "fig1", "--out", str(out))
    (out / "report.html").unlink()
    refused = invoke("reproduce", "fig4", "--data", str(data), "--out", str(out))
    assert refused.exit_code == 2
    assert "Fashion-MNIST gradients: cannot read images_fashion_mnist.npz" in refused.stderr
    assert "The rows so far are in" in refused.stderr
    assert "Figure 1" in (out / "report.html").read_text(encoding="utf-8")


ALL_DATA = {case.data for case in reproduce.EXPERIMENTS["fig4"].cases("small")}


def test_a_missing_package_is_told_at_once(
    invoke: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None if name == "scipy" else True)
    refused = invoke("reproduce", "all", "--out", str(tmp_path))
    assert_refused(refused, "scipy is not installed: pip install 'sureshot[baselines]'")
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None)
    refused = invoke("reproduce", "fig1", "--out", str(tmp_path))
    assert_refused(refused, "matplotlib is not installed: pip install 'sureshot[report]'")
    assert not list(tmp_path.iterdir())


def test_ctrl_c_keeps_the_rows_and_the_same_command_goes_on(tmp_path: Path) -> None:
    program = (
        f"{PATCHED}"
        "from dataclasses import replace\n"
        "from sureshot.experiments import fig1, rows\n"
        "small = fig1.SCALES['small']\n"
        "small = replace(small, n_arms=20, n_rewards=1_100, epsilons=(0.6,), runs=2)\n"
        "fig1.SCALES['small'] = small\n"
        "append, left = rows.append, int(os.environ['ROWS'])\n"
        "def spy(path, row):\n"
        "    global left\n"
        "    append(path, row)\n"
        "    left -= 1\n"
        "    if left == 0:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "rows.append = spy\n"
        "main()"
    )
    path = reproduce.rows_file(tmp_path, "fig1")
    for limit, expected in ((7, 7), (9, 16), (99, 30)):
        found = subprocess.run(
            [sys.executable, "-c", program, "reproduce", "fig1", "--out", str(tmp_path)],
            env={**os.environ, "ROWS": str(limit)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        if expected < 30:
            assert found.returncode == 130
            assert found.stderr.endswith(
                f"the rows so far are in {path.parent}: the same command continues\n"
                "sureshot: interrupted\n"
            )
        else:
            assert found.stdout.startswith("14 new rows")
        assert len(path.read_text(encoding="utf-8").splitlines()) == expected
    assert rows.missing(fig1.cases("small"), rows.read(path)) == []


@pytest.mark.parametrize(
    "arguments",
    [[], ["fig5"], ["fig1", "--scale", "huge"], ["fig4", "--data", "absent"]],
)
def test_wrong_usage(invoke: Invoke, arguments: list[str]) -> None:
    refused = invoke("reproduce", *arguments)
    assert refused.exit_code == 2
    assert "Usage: sureshot reproduce" in refused.stderr


def test_help(invoke: Invoke) -> None:
    shown = " ".join(invoke("reproduce", "--help").output.split())
    assert "{fig1|fig2|fig3|fig4|table1|all}" in shown
    for option in ("--scale [small|paper]", "--data", "--out"):
        assert option in shown


def test_lines_come_now_and_then_and_tell_the_time_left(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = iter(range(0, 1000, 2))
    monkeypatch.setattr("time.monotonic", lambda: float(next(clock)))
    steps = (Step("fig1", done, 9, f"row {done}") for done in range(3, 10))
    assert reproduction.follow(steps) == 7
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "3/9 fig1: row 3 (about 12 s left)"
    assert lines[-1] == "9/9 fig1: row 9 (done)"
    assert len(lines) == 3
