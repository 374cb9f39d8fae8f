"""Pulls of lm-evaluation-harness: an arm is a model with its arguments; a coordinate is a document of a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sureshot.evals.arms import chosen, names_of, refuse, settings_of
from sureshot.evals.extras import needed
from sureshot.evals.pulls import Answer, Pulls
from sureshot.evals.scores import reward_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DECIDED = ("tasks", "samples", "limit", "log_samples", "task_manager", "predict_only")


def lm_eval_pull(
    task: Any,
    arms: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    metric: str | None = None,
    filter_name: str | None = None,
    task_manager: Any = None,
    **options: Any,
) -> Pulls:
    """Make a function for `best_arms` that evaluates documents of a task of lm-evaluation-harness.

    Parameters
    ----------
    task
        Name of a task, or the mapping that configures one. Groups of tasks are refused.
    arms
        What to compare: ``LM`` objects, names of models, or mappings of arguments of
        ``lm_eval.simple_evaluate`` that make up one arm each, such as
        ``{"model": "local-completions", "model_args": ..., "num_fewshot": 5}``. The harness loads a model
        that is given by name anew in every call: for weights on this machine pass ``LM`` objects.
    names
        A name for each arm; by default its model and its arguments.
    metric
        Whose value is the reward, where the task has several metrics.
    filter_name
        Which filter of the answers, where the task has several.
    task_manager
        A ``TaskManager`` that knows the task; by default one that knows the harness's own.
    **options
        More arguments of ``lm_eval.simple_evaluate`` for every call, such as ``num_fewshot`` or
        ``batch_size``.

    Returns
    -------
    Pulls
        For ``best_arms(pulls, *pulls.shape, epsilon=..., journal=...)``.
    """
    lm_eval = needed("lm_eval", "lm_eval_pull")
    if not isinstance(task, str | Mapping):
        message = f"task must be the name of a task or its configuration, got {type(task).__name__}"
        raise TypeError(message)
    refuse(options, DECIDED, "lm_eval_pull")
    settings = settings_of(arms, DECIDED)
    for one in settings:
        if "model" not in one:
            raise ValueError(f"an arm must have a model, got only {', '.join(one)}")
    if task_manager is None:
        task_manager = lm_eval.tasks.TaskManager()
    return LmEvalPulls(
        lm_eval.simple_evaluate,
        task_manager,
        task,
        [options | one for one in settings],
        names_of(names, settings),
        (metric, filter_name),
    )


class LmEvalPulls(Pulls):
    """Calls ``lm_eval.simple_evaluate`` with one model and the indices that a search asks for."""

    def __init__(
        self,
        evaluate: Callable[..., Any],
        manager: Any,
        task: str | Mapping[str, Any],
        settings: Sequence[Mapping[str, Any]],
        names: Sequence[str],
        wanted: tuple[str | None, str | None],
    ) -> None:
        self._evaluate_simply = evaluate
        self._manager = manager
        # A call writes its options (few-shot examples, generation) into the task, so every arm has its own.
        self._tasks = [self._loaded(task) for _ in settings]
        self._settings = settings
        self._metric, self._filter = wanted
        super().__init__(names, range(len(self._tasks[0].eval_docs)), None)
        if not self.examples:
            raise ValueError(f"task must have documents, got an empty {task!r}")

    def _loaded(self, task: str | Mapping[str, Any]) -> Any:
        found = self._manager.load([task if isinstance(task, str) else dict(task)])
        if found["groups"] or len(found["tasks"]) != 1:
            names = ", ".join([*found["groups"], *found["tasks"]])
            raise ValueError(f"task must be a single task, got {names}: compare on one of them")
        (single,) = found["tasks"].values()
        return single

    def _evaluate(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
        for arm in arms:
            task = self._tasks[arm]
            name = task.task_name
            found = self._evaluate_simply(
                **{"bootstrap_iters": 0, **self._settings[arm]},
                tasks=[task],
                samples={name: examples},
                task_manager=self._manager,
                log_samples=True,
            )
            for sample in self._of_filter(found["samples"][name]):
                yield Answer(arm, int(sample["doc_id"]), self._reward(sample))

    def _of_filter(self, samples: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Return the samples of one filter: every filter of the answers has its own."""
        filters = list(dict.fromkeys(sample["filter"] for sample in samples))
        wanted = chosen("filter_name", filters, self._filter)
        return [sample for sample in samples if sample["filter"] == wanted]

    def _reward(self, sample: Mapping[str, Any]) -> float:
        return reward_of(sample[chosen("metric", sample["metrics"], self._metric)])
