"""What is asked of inspect_ai and lm-evaluation-harness, and what is made of what they return; without them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.evals.inspect_pulls import InspectPulls
from sureshot.evals.lm_eval_pulls import LmEvalPulls


def js(*numbers: int) -> Any:
    return np.array(numbers, dtype=np.int64)


def sample(one: Any, value: Any, error: str | None = None) -> Any:
    return SimpleNamespace(
        id=one,
        scores=None if value is None else {"match": SimpleNamespace(value=value)},
        error=None if error is None else SimpleNamespace(message=error),
    )


class Eval:
    """Stands in for ``inspect_ai.eval``: notes its arguments, and returns a log for each model."""

    def __init__(self, value: Any = "C", error: str | None = None) -> None:
        self.calls: list[dict[str, Any]] = []
        self.value, self.error = value, error

    def __call__(self, task: Any, **arguments: Any) -> list[Any]:
        self.calls.append(arguments)
        samples = [sample(one, self.value, self.error) for one in arguments["sample_id"]]
        return [
            SimpleNamespace(samples=samples, error=None) for _ in arguments.get("model", [None])
        ]


def pulls_of(
    evaluate: Any, settings: list[dict[str, Any]], ids: tuple[Any, ...] = ("a", "b", None)
) -> InspectPulls:
    task = SimpleNamespace(dataset=[SimpleNamespace(id=one) for one in ids])
    names = [str(number) for number in range(len(settings))]

    def reward(scores: Any) -> float:
        return float(scores["match"].value == "C")

    return InspectPulls(evaluate, task, settings, names, reward, None, {"epochs": 1})


def test_one_call_for_the_models_that_differ_in_nothing_else() -> None:
    evaluate, solver = Eval(), object()
    settings: list[dict[str, Any]] = [
        {"model": "x"},
        {"model": "y", "solver": solver},
        {"model": "z"},
        {"solver": solver},
        {"model": "w", "solver": object()},
        {"model": "v", "solver": solver},
    ]
    pulls = pulls_of(evaluate, settings)
    assert pulls.examples == ("a", "b", 3)  # as inspect_ai numbers samples without an id
    assert pulls(js(0, 1, 2, 3, 4, 5), js(2, 0)).tolist() == [[1, 1]] * 6
    models = [call.get("model") for call in evaluate.calls]
    assert models == [["x", "z"], ["y", "v"], None, ["w"]]
    for call in evaluate.calls:
        assert call["sample_id"] == [3, "a"]
        assert (call["fail_on_error"], call["epochs"], call["display"]) == (False, 1, "none")
    assert pulls.eval_calls == 4


@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        (
            Eval(error="overloaded"),
            "4 of 4 answers failed; the first is 0 on example 'a': overloaded",
        ),
        (Eval(value=None), "the sample was not scored"),
        (lambda *_, **__: [], "inspect_ai returned 0 logs for 2 arms"),
        (
            lambda *_, **__: (
                [SimpleNamespace(samples=None, error=SimpleNamespace(message="no key"))] * 2
            ),
            "no key",
        ),
        (
            lambda *_, **__: [SimpleNamespace(samples=[], error=None)] * 2,
            "the log has no such sample",
        ),
    ],
)
def test_failures_are_named(evaluate: Any, message: str) -> None:
    pulls = pulls_of(evaluate, [{"model": "x"}, {"model": "y"}])
    with pytest.raises(sureshot.PullError, match=message):
        pulls(js(0, 1), js(0, 1))


class Manager:
    """Stands in for a ``TaskManager``."""

    def __init__(self, groups: tuple[str, ...] = (), documents: int = 9) -> None:
        self.groups, self.documents = groups, documents

    def load(self, _tasks: Any) -> dict[str, Any]:
        task = SimpleNamespace(task_name="t", eval_docs=range(self.documents))
        return {"tasks": {"t": task}, "groups": dict.fromkeys(self.groups)}


def harness(calls: list[dict[str, Any]]) -> Any:
    def simple_evaluate(**arguments: Any) -> dict[str, Any]:
        calls.append(arguments)
        samples = [
            {"doc_id": at, "filter": name, "metrics": ["acc"], "acc": at % 2 == (name == "strict")}
            for at in arguments["samples"]["t"]
            for name in ("strict", "flexible")
        ]
        return {"samples": {"t": samples}}

    return simple_evaluate


def test_the_harness_gets_indices_and_one_model_at_a_time() -> None:
    calls: list[dict[str, Any]] = []
    settings: list[dict[str, Any]] = [{"model": "x", "num_fewshot": 2}, {"model": "y"}]
    pulls = LmEvalPulls(harness(calls), Manager(), "t", settings, ["x", "y"], (None, "strict"))
    assert pulls.shape == (2, 9)
    assert pulls(js(0, 1), js(5, 2)).tolist() == [[1, 0], [1, 0]]
    assert [call["model"] for call in calls] == ["x", "y"]
    assert [call.get("num_fewshot") for call in calls] == [2, None]
    assert all(call["samples"] == {"t": [5, 2]} for call in calls)
    assert (
        calls[0]["tasks"][0] is not calls[1]["tasks"][0]
    )  # a call writes its options into the task


def test_the_harness_needs_to_know_which_filter_and_which_task() -> None:
    def pulls(manager: Manager) -> LmEvalPulls:
        return LmEvalPulls(harness([]), manager, "t", [{"model": "x"}], ["x"], (None, None))

    with pytest.raises(sureshot.PullError, match="filter_name must be one of 'strict', 'flexible'"):
        pulls(Manager())(js(0), js(1))
    with pytest.raises(ValueError, match="task must be a single task, got mmlu, t"):
        pulls(Manager(groups=("mmlu",)))
    with pytest.raises(ValueError, match="task must have documents, got an empty 't'"):
        pulls(Manager(documents=0))
