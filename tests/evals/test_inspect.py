"""inspect_ai: only the samples that are asked for are evaluated, and every kind of score is a reward."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot import evals
from tests.evals.inspect_mock import (
    MODELS,
    N_SAMPLES,
    Asked,
    mock_models,
    mock_task,
    right,
    search,
)

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: nox -s evals")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of inspect_ai are its own

ROOT = Path(__file__).parents[2]


def arms_and_js(arms: list[int], js: list[int]) -> tuple[Any, Any]:
    return np.array(arms, dtype=np.int64), np.array(js, dtype=np.int64)


def pulls_of(folder: Path, **more: Any) -> tuple[Any, Asked]:
    asked = Asked(folder / "asked.txt")
    options = {"log_dir": str(folder / "logs")} | more
    return evals.inspect_pull(mock_task(), mock_models(asked), **options), asked


def test_a_search_pays_for_the_samples_that_it_needs_and_finds_what_a_table_gives(
    tmp_path: Path,
) -> None:
    pulls, asked = pulls_of(tmp_path)
    assert (pulls.arms, pulls.shape) == (MODELS, (3, N_SAMPLES))
    found = search(pulls)
    table = right()
    expected = sureshot.best_arms(
        lambda arms, js: table[np.ix_(arms, js)], *table.shape, epsilon=0.1, delta=0.05, rng=4
    )
    assert pulls.arms[found.indices[0]] == "mockllm/large"
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.certificate == expected.certificate
    assert found.work.numbers_read == expected.work.numbers_read < table.size
    lines = asked.lines()
    assert set(Counter(lines).values()) == {1}
    assert len(lines) == pulls.paid == found.work.pulls_paid
    assert pulls.eval_calls < len(lines) / 4  # several models and samples in each


def test_arms_that_differ_in_their_models_share_a_call_and_others_do_not(tmp_path: Path) -> None:
    solver = pytest.importorskip("inspect_ai.solver")
    asked = Asked(tmp_path / "asked.txt")
    models = mock_models(asked)
    instructed = solver.system_message("Answer with yes or no."), solver.generate()
    arms = [
        models[0],
        {"model": models[1], "solver": instructed},
        models[1],
        {"model": models[2], "solver": instructed},
    ]
    pulls = evals.inspect_pull(
        mock_task(), arms, names=["a", "b", "c", "d"], log_dir=str(tmp_path / "logs")
    )
    rewards = pulls(*arms_and_js([0, 1, 2, 3], [5, 2]))
    assert pulls.arms == ("a", "b", "c", "d")
    assert pulls.eval_calls == 2
    assert rewards.tolist() == right()[np.ix_([0, 1, 1, 2], [5, 2])].tolist()
    assert len(asked.lines()) == 8


@pytest.mark.parametrize("epochs", [1, 2])
def test_every_kind_of_score_is_a_reward(tmp_path: Path, epochs: int) -> None:
    scoring = pytest.importorskip("inspect_ai.scorer")
    values: list[Any] = ["C", "P", "I", "N", 0.25, True, {"style": 0.5, "facts": 1}]

    def graded() -> Any:
        async def score(state: Any, _target: Any) -> Any:
            return scoring.Score(value=values[int(state.input_text.split()[-1])])

        return score

    graded = scoring.scorer(metrics=[scoring.mean()], name="graded")(graded)
    models = mock_models(Asked(tmp_path / "asked.txt"))[:1]
    ids = [f"q{at}" for at in range(len(values))]
    options: dict[str, Any] = {"log_dir": str(tmp_path / "logs"), "epochs": epochs}
    pulls = evals.inspect_pull(mock_task(ids, graded()), models, **options)
    rewards = pulls(*arms_and_js([0], list(range(6))))
    assert rewards.tolist() == [[1.0, 0.5, 0.0, 0.0, 0.25, 1.0]]
    with pytest.raises(sureshot.PullError, match="key must be one of 'style', 'facts'; none was g"):
        pulls(*arms_and_js([0], [6]))
    facts = evals.inspect_pull(mock_task(ids, graded()), models, key="facts", **options)
    assert facts(*arms_and_js([0], [6])).tolist() == [[1.0]]
    # Rewards of one's own: from all scorers of a sample.
    own = evals.inspect_pull(
        mock_task(ids, graded()), models, reward=lambda scores: len(scores) / 4, **options
    )
    assert own(*arms_and_js([0], [6])).tolist() == [[0.25]]


def test_a_task_with_several_scorers_needs_a_name(tmp_path: Path) -> None:
    scoring = pytest.importorskip("inspect_ai.scorer")
    task = mock_task(["a", "b"], [scoring.match(), scoring.includes()])
    models = mock_models(Asked(tmp_path / "asked.txt"))[1:2]
    logs = str(tmp_path / "logs")
    pulls = evals.inspect_pull(task, models, log_dir=logs)
    with pytest.raises(sureshot.PullError, match="scorer must be one of 'match', 'includes'"):
        pulls(*arms_and_js([0], [0]))
    named = evals.inspect_pull(task, models, log_dir=logs, scorer="includes")
    assert named(*arms_and_js([0], [0, 1])).tolist() == right()[1:2, :2].tolist()


def failing(at: int, times: int) -> Any:
    """Return what fails at one sample so many times."""
    left = [times]

    def stop(_model: int, sample: int, _count: int) -> None:
        if sample == at and left[0]:
            left[0] -= 1
            raise ConnectionError("the service is overloaded")

    return stop


def test_errors_are_retried_or_have_a_reward_or_end_the_search(tmp_path: Path) -> None:
    logs = str(tmp_path / "logs")
    asked = Asked(tmp_path / "asked.txt")
    expected = right()[np.ix_([0, 1], [3, 7, 9])].astype(float)

    models = mock_models(asked, failing(7, times=1))[:2]
    retried = evals.inspect_pull(mock_task(), models, log_dir=logs, retry_on_error=1)
    assert retried(*arms_and_js([0, 1], [3, 7, 9])).tolist() == expected.tolist()

    models = mock_models(asked, failing(7, times=99))[:2]
    valued = evals.inspect_pull(mock_task(), models, log_dir=logs, failure_reward=0.5)
    with_value = expected.copy()
    with_value[:, 1] = 0.5
    assert valued(*arms_and_js([0, 1], [3, 7, 9])).tolist() == with_value.tolist()

    models = mock_models(asked, failing(7, times=2))[:2]
    ended = evals.inspect_pull(mock_task(), models, log_dir=logs)
    with pytest.raises(
        sureshot.PullError, match=r"2 of 6 answers failed.*small on example 8: Conn"
    ):
        ended(*arms_and_js([0, 1], [3, 7, 9]))
    before = len(asked.lines())
    assert ended(*arms_and_js([0, 1], [3, 7, 9])).tolist() == expected.tolist()
    assert len(asked.lines()) == before + 2  # what was paid for is not paid again


@pytest.mark.parametrize("most", [20, 61])
def test_killed_and_resumed_is_the_same_search(tmp_path: Path, most: int) -> None:
    (tmp_path / "whole").mkdir()
    whole, _ = pulls_of(tmp_path / "whole")
    expected = search(whole)
    killed = subprocess.run(
        [sys.executable, "-m", "tests.evals.inspect_mock", str(tmp_path), str(most)],
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    pulls, asked = pulls_of(tmp_path)
    assert len(asked.lines()) == most
    found = search(pulls, tmp_path / "journal.db")
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.certificate == expected.certificate
    assert found.rounds == expected.rounds
    # The call that was killed is lost, and no other: the first one asks for 8 samples of 3 models.
    counts = Counter(asked.lines())
    assert len(counts) == whole.paid
    lost = sum(count - 1 for count in counts.values())
    assert lost == most + pulls.paid - whole.paid
    assert pulls.paid < whole.paid or most < 24


def test_ids_are_not_patterns(tmp_path: Path) -> None:
    asked = Asked(tmp_path / "asked.txt")
    task = mock_task(["a*", "ab", "a[b]", "x?", "xy", "7"])
    pulls = evals.inspect_pull(task, mock_models(asked)[:1], log_dir=str(tmp_path / "logs"))
    assert pulls.examples == ("a*", "ab", "a[b]", "x?", "xy", "7")
    rewards = pulls(*arms_and_js([0], [0, 2, 3, 5]))
    assert rewards.tolist() == right()[:1, [0, 2, 3, 5]].tolist()
    assert sorted(sample for _, sample in asked.lines()) == [0, 2, 3, 5]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"task": "file.py@task"}, TypeError, "task must be a Task of inspect_ai"),
        ({"arms": []}, ValueError, "at least one model, got none"),
        ({"arms": [{}]}, ValueError, "an arm must have arguments"),
        ({"arms": [{"model": ["a", "b"]}]}, TypeError, "an arm must have one model"),
        ({"arms": [{"limit": 3}]}, ValueError, "an arm must not have limit"),
        ({"sample_id": [1]}, ValueError, "inspect_pull must not have sample_id"),
        ({"fail_on_error": True}, ValueError, "must not have fail_on_error"),
        ({"names": ["a", "b"]}, ValueError, "one name for each of 1 arms, got 2"),
        ({"reward": len, "key": "a"}, ValueError, "reward takes the place of scorer and key"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], error: type, message: str) -> None:
    arguments: dict[str, Any] = {"task": mock_task(), "arms": ["mockllm/model"]} | change
    with pytest.raises(error, match=message):
        evals.inspect_pull(**arguments)


@pytest.mark.parametrize("ids", [["a", "a"], ["7", "07"], [7, "7"]])
def test_samples_need_ids_of_their_own(ids: list[Any]) -> None:
    with pytest.raises(ValueError, match="ids of their own"):
        evals.inspect_pull(mock_task(ids), ["mockllm/model"])
