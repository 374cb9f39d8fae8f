"""``sureshot best``: both kinds of output, every option, and every way to refuse input."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from tests.cli.conftest import assert_refused, assert_same_result, rows_of, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Invoke

PROMISE = ["--epsilon", "0.01", "--delta", "0.05"]


def best_arms(folder: Path, **keywords: Any) -> sureshot.TopK:
    """Search as the command should."""
    table = np.load(folder / "rewards.npy")
    arguments: dict[str, Any] = {"epsilon": 0.01, "delta": 0.05} | keywords
    return sureshot.best_arms(lambda arms, js: table[np.ix_(arms, js)], *table.shape, **arguments)


def test_best_shows_what_the_library_finds(invoke: Invoke, folder: Path) -> None:
    shown = invoke("best", "rewards.npy", "-k", "3", *PROMISE, "--seed", "4")
    expected = best_arms(folder, k=3, rng=4)
    assert (shown.exit_code, shown.stderr) == (0, "")
    scores, indices = expected
    assert rows_of(shown.output) == [
        [str(rank), str(index), f"{score:.8g}"]
        for rank, (score, index) in enumerate(zip(scores, indices, strict=True), start=1)
    ]
    assert all(name in shown.output for name in ("rank", "arm", "mean reward"))
    assert str(expected.certificate) in shown.output
    assert f"Read {expected.work.numbers_read:,} numbers" in shown.output


def test_every_option_reaches_the_library(invoke: Invoke, folder: Path) -> None:
    arguments = ["-k", "2", *PROMISE, "--bounds", "-1,2", "--method", "betting", "--seed", "4"]
    budgets = ["--budget", "0.1", "--budget-seconds", "60"]
    found = json.loads(invoke("best", "rewards.npy", *arguments, *budgets, "--json").stdout)
    expected = best_arms(
        folder, k=2, bounds=(-1, 2), method="betting", rng=4, budget=0.1, budget_seconds=60
    ).to_dict()
    assert found["parameters"] == {
        "rewards": "rewards.npy",
        "k": 2,
        "epsilon": 0.01,
        "delta": 0.05,
        "bounds": [-1.0, 2.0],
        "method": "betting",
        "replacement": None,
        "budget": 0.1,
        "budget_seconds": 60.0,
        "seed": 4,
    }
    assert_same_result(found, expected)


def test_options_not_given_are_left_to_the_library(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[dict[str, Any]] = []

    def spy(pull: Any, n_arms: int, n_rewards: int, **keywords: Any) -> sureshot.TopK:
        passed.append({"n_arms": n_arms, "n_rewards": n_rewards, **keywords})
        return original(pull, n_arms, n_rewards, **keywords)

    original = sureshot.best_arms
    monkeypatch.setattr(sureshot, "best_arms", spy)
    found = invoke("best", "rewards.npy", "--epsilon", "0.01", "--json")
    assert found.exit_code == 0
    shape = {"n_arms": 20, "n_rewards": 1200}
    assert passed == [{**shape, "epsilon": 0.01, "progress": None}]
    parameters = inspect.signature(original).parameters
    used = json.loads(found.stdout)["parameters"]
    assert used["k"] == parameters["k"].default
    assert used["delta"] == parameters["delta"].default == 0.05
    assert used["bounds"] == list(parameters["bounds"].default)
    assert used["method"] == parameters["method"].default
    assert used["seed"] is None


def test_help(invoke: Invoke) -> None:
    shown = " ".join(invoke("best", "--help").output.split())
    parameters = inspect.signature(sureshot.best_arms).parameters
    for option in ("-k", "--bounds LOW,HIGH", "--budget SHARE", "--seed", "--json"):
        assert f"{option} " in shown
    for name in ("k", "delta", "method"):
        assert f"[default: {parameters[name].default}]" in shown
    assert "[default: 0,1]" in shown
    assert shown.count("[required]") == 1
    assert "sureshot best right.npy --epsilon 0.01" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.npy"], "cannot open absent.npy: No such file or directory"),
        (["text.npy"], "text.npy is not a .npy file"),
        (["cut.npy"], "cannot use cut.npy as an array of numbers"),
        (["query.npy"], "query.npy must have shape (arms, rewards) and not be empty, got shape"),
        (["cube.npy"], "cube.npy must have shape (arms, rewards) and not be empty, got shape"),
        (["no-arms.npy"], "no-arms.npy must have shape (arms, rewards) and not be empty"),
        (["complex.npy"], "complex.npy must hold real numbers, got complex128"),
        (["nan-data.npy"], "has reward nan at coordinate"),
        (["data.npy"], "outside bounds=(0, 1)"),
        (["rewards.npy", "-k", "0"], "k must be at least 1, got 0"),
        (["rewards.npy", "-k", "21"], "k must be at most the number of selected arms, 20, got 21"),
        (["rewards.npy", "--epsilon", "-1"], "epsilon must be at least 0, got -1"),
        (["rewards.npy", "--delta", "1"], "delta must lie strictly between 0 and 1, got 1"),
        (["rewards.npy", "--bounds", "1,0"], "bounds must have low < high, got (1, 0)"),
        (["rewards.npy", "--bounds", "scan"], "--bounds must be two numbers LOW,HIGH"),
        (["rewards.npy", "--bounds", "1"], "--bounds must be two numbers LOW,HIGH"),
        (["rewards.npy", "--method", "x"], "method must be one of 'betting'"),
        (["rewards.npy", "--budget", "2"], "budget must be a share"),
        (["rewards.npy", "--seed", "-1"], "rng must be None, a non-negative integer"),
    ],
)
def test_refused(invoke: Invoke, folder: Path, arguments: list[str], message: str) -> None:
    np.save(folder / "no-arms.npy", np.ones((0, 5)))
    np.save(folder / "complex.npy", np.ones((3, 5), complex))
    assert_refused(invoke("best", arguments[0], *PROMISE, *arguments[1:]), message)


def test_as_a_program(folder: Path) -> None:
    found = run(["best", "rewards.npy", *PROMISE, "--seed", "4", "--json"], folder)
    assert (found.returncode, found.stderr) == (0, "")
    assert json.loads(found.stdout)["indices"] == best_arms(folder, rng=4).indices.tolist()


@pytest.mark.parametrize("drawn", ["with", "without"])
def test_a_bandit_of_the_literature(invoke: Invoke, drawn: str) -> None:
    arguments = [*PROMISE, "--method", "lucb", f"--{drawn}-replacement", "--json"]
    found = json.loads(invoke("best", "rewards.npy", *arguments).stdout)
    assert f"drawn {drawn} replacement" in found["certificate"]["assumption"]


def test_it_says_what_was_saved(invoke: Invoke, folder: Path) -> None:
    read = best_arms(folder, rng=4).work.numbers_read
    everything = 20 * 1200
    shown = invoke("best", "rewards.npy", *PROMISE, "--seed", "4", "--price", "0.5").output
    saved = everything - read
    assert f"That is {saved:,} rewards fewer than all 24,000 (" in shown
    assert f"at 0.5 each {0.5 * read:,.2f} instead of 12,000.00." in shown
    shown = invoke("best", "rewards.npy", *PROMISE, "--method", "exact").output
    assert "That is all 24,000 rewards." in shown
    refused = invoke("best", "rewards.npy", *PROMISE, "--price", "-1")
    assert refused.exit_code == 2


def test_progress_says_how_many_are_left_and_what_is_certain(invoke: Invoke, folder: Path) -> None:
    shown = invoke("best", "rewards.npy", *PROMISE, "--seed", "4", "--progress")
    found = best_arms(folder, rng=4)
    lines = shown.stderr.splitlines()
    assert len(lines) == len(found.rounds)
    for line, info in zip(lines, found.rounds, strict=True):
        assert info.epsilon is not None
        arms = f"{info.arms} arm{'' if info.arms == 1 else 's'} undecided"
        assert line.startswith(f"round {info.round} · {arms} · ")
        assert line.endswith(f" · certificate so far: within {info.epsilon:.3g}")
    assert lines[-1].endswith("within 0.01")
    quiet = invoke("best", "rewards.npy", *PROMISE, "--method", "exact", "--progress")
    assert "certificate so far" not in quiet.stderr
    assert "undecided" in quiet.stderr
