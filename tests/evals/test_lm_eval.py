"""lm-evaluation-harness with a task and a data set in local files, and models made up here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.evals import lm_eval_pull

if TYPE_CHECKING:
    from pathlib import Path

lm_eval = pytest.importorskip("lm_eval", reason="lm_eval is not installed: nox -s evals")
tasks = pytest.importorskip("lm_eval.tasks")
model = pytest.importorskip("lm_eval.api.model")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of lm_eval are its own

N_DOCUMENTS = 80
QUALITY = (0.35, 0.6, 0.95)
RIGHT = np.random.default_rng(5).random((3, N_DOCUMENTS)) < np.array(QUALITY)[:, None]


class Made(model.LM):  # type: ignore[misc, name-defined]
    """A model that prefers the right choice, "yes", where it is right."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number
        self.asked: list[int] = []

    def loglikelihood(self, requests: Any, **_: Any) -> list[tuple[float, bool]]:
        answers = []
        for request in requests:
            context, choice = request.args
            document = int(context.split()[-1])
            self.asked.append(document)
            preferred = "yes" if RIGHT[self.number, document] else "no"
            answers.append((-1.0 if preferred in choice else -2.0, False))
        return answers

    def generate_until(self, requests: Any, **_: Any) -> list[str]:
        return ["yes" for _ in requests]

    def loglikelihood_rolling(self, requests: Any, **_: Any) -> list[float]:
        return [0.0 for _ in requests]


@pytest.fixture
def task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    data = tmp_path / "data.jsonl"
    lines = [json.dumps({"question": f"number {at}", "answer": 1}) for at in range(N_DOCUMENTS)]
    data.write_text("\n".join(lines), encoding="utf-8")
    metrics = [
        {"metric": name, "aggregation": "mean", "higher_is_better": True}
        for name in ("acc", "acc_norm")
    ]
    return {
        "task": "local",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}, "cache_dir": str(tmp_path / "cache")},
        "test_split": "test",
        "output_type": "multiple_choice",
        "doc_to_text": "{{question}}",
        "doc_to_choice": ["no", "yes"],
        "doc_to_target": "answer",
        "metric_list": metrics,
    }


def manager() -> Any:
    return tasks.TaskManager(include_defaults=False)


def search(pulls: Any, **more: Any) -> sureshot.TopK:
    return sureshot.best_arms(pulls, *pulls.shape, epsilon=0.1, delta=0.05, rng=1, **more)


def test_a_search_pays_for_the_documents_that_it_needs(
    task: dict[str, Any], tmp_path: Path
) -> None:
    models = [Made(number) for number in range(3)]
    pulls = lm_eval_pull(task, models, metric="acc", task_manager=manager(), names=list("abc"))
    assert pulls.shape == (3, N_DOCUMENTS)
    found = search(pulls, journal=tmp_path / "journal.db")
    expected = sureshot.best_arms(
        lambda arms, js: RIGHT[np.ix_(arms, js)], *RIGHT.shape, epsilon=0.1, delta=0.05, rng=1
    )
    assert pulls.arms[found.indices[0]] == "c"
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.certificate == expected.certificate
    asked = [one for model in models for one in model.asked]
    assert len(asked) == 2 * pulls.paid == 2 * found.work.numbers_read < 2 * RIGHT.size
    assert all(len(set(model.asked)) == len(model.asked) / 2 for model in models)
    # The journal continues it with other objects, and pays nothing.
    again = lm_eval_pull(task, [Made(0), Made(1), Made(2)], metric="acc", task_manager=manager())
    assert search(again, journal=tmp_path / "journal.db").scores.tolist() == found.scores.tolist()
    assert again.paid == 0


def test_options_of_one_arm_do_not_reach_another(task: dict[str, Any]) -> None:
    arms = [{"model": Made(2), "num_fewshot": 0}, {"model": "dummy", "batch_size": 4}]
    pulls = lm_eval_pull(task, arms, metric="acc_norm", task_manager=manager())
    assert pulls.arms == ("Made, num_fewshot=0", "dummy, batch_size=4")
    rewards = pulls(np.array([0, 1]), np.array([7, 3, 11]))
    assert rewards[0].tolist() == RIGHT[2, [7, 3, 11]].tolist()
    assert set(rewards[1].tolist()) <= {0.0, 1.0}


def test_bad_input_is_refused(task: dict[str, Any]) -> None:
    some = {"task": task, "arms": ["dummy"], "task_manager": manager()}
    for change, error, message in (
        ({"task": 7}, TypeError, "task must be the name of a task"),
        ({"arms": []}, ValueError, "at least one model"),
        ({"arms": [{"batch_size": 3}]}, ValueError, "an arm must have a model"),
        ({"limit": 3}, ValueError, "lm_eval_pull must not have limit"),
        ({"arms": [{"model": "dummy", "samples": {}}]}, ValueError, "an arm must not have samples"),
        ({"names": []}, ValueError, "one name for each of 1 arms, got 0"),
    ):
        with pytest.raises(error, match=message):
            lm_eval_pull(**(some | change))
    pulls = lm_eval_pull(**some)
    with pytest.raises(
        sureshot.PullError, match="metric must be one of 'acc', 'acc_norm'; none was"
    ):
        pulls(np.array([0]), np.array([1]))
