"""Pulls of inspect_ai: an arm is a model, or any other arguments of its `eval`; a coordinate is a sample."""

from __future__ import annotations

from glob import escape
from statistics import fmean
from typing import TYPE_CHECKING, Any

from sureshot.evals.arms import chosen, names_of, refuse, settings_of
from sureshot.evals.extras import needed
from sureshot.evals.pulls import Answer, Pulls
from sureshot.evals.scores import reward_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

# The search decides what is evaluated, and `failure_reward` what an error means.
DECIDED = (
    "tasks",
    "sample_id",
    "limit",
    "sample_shuffle",
    "run_samples",
    "score",
    "log_samples",
    "log_header_only",
    "fail_on_error",
    "continue_on_fail",
)


def inspect_pull(
    task: Any,
    arms: Sequence[Any],
    *,
    names: Sequence[str] | None = None,
    scorer: str | None = None,
    key: str | None = None,
    reward: Callable[[Any], float] | None = None,
    failure_reward: float | None = None,
    **options: Any,
) -> InspectPulls:
    """Make a function for `best_arms` that evaluates samples of a task of inspect_ai.

    Parameters
    ----------
    task
        A ``Task``, or a function of no arguments that returns one, as ``@task`` makes them.
    arms
        What to compare: models (names or ``Model`` objects), or mappings of arguments of
        ``inspect_ai.eval`` that make up one arm each, such as ``{"model": ..., "solver": ...}``. Arms that
        differ in their models alone are evaluated in one call.
    names
        A name for each arm; by default its model, or the arguments.
    scorer
        Whose scores are the rewards, where the task has several scorers.
    key
        Which number, where a score has several.
    reward
        Makes a number of the ``Score`` of a sample, instead of `scorer` and `key`: gets the mapping from
        scorers to scores.
    failure_reward
        Reward of a sample that ended with an error. None: the search stops with `PullError`; what
        the call has paid for is kept.
    **options
        More arguments of ``inspect_ai.eval`` for every call, such as ``retry_on_error=3``, ``log_dir="logs"``,
        ``max_connections=20`` or ``epochs=2`` (then the reward is the mean over the epochs).

    Returns
    -------
    InspectPulls
        For ``best_arms(pulls, *pulls.shape, epsilon=..., journal=...)``.

    Examples
    --------
    >>> from inspect_ai import Task  # doctest: +SKIP
    >>> pulls = inspect_pull(task, ["openai/gpt-4o", "anthropic/claude-3-5-haiku"])  # doctest: +SKIP
    >>> found = best_arms(pulls, *pulls.shape, epsilon=0.02, journal="models.db")  # doctest: +SKIP
    >>> pulls.arms[found.indices[0]]  # doctest: +SKIP
    'openai/gpt-4o'
    """
    inspect_ai = needed("inspect_ai", "inspect_pull")
    if callable(task) and not isinstance(task, inspect_ai.Task):
        task = task()
    if not isinstance(task, inspect_ai.Task):
        message = (
            "task must be a Task of inspect_ai or a function that returns one, got "
            f"{type(task).__name__}: of a task in a file or package, pass the function itself"
        )
        raise TypeError(message)
    refuse(options, DECIDED, "inspect_pull")
    settings = settings_of(arms, DECIDED)
    if reward is None:
        reward = _OfScorer(scorer, key)
    elif scorer is not None or key is not None:
        raise ValueError("reward takes the place of scorer and key: pass it alone")
    shown = names_of(names, settings)
    return InspectPulls(inspect_ai.eval, task, settings, shown, reward, failure_reward, options)


class InspectPulls(Pulls):
    """Calls ``inspect_ai.eval`` with the models and the sample ids that a search asks for."""

    def __init__(
        self,
        evaluate: Callable[..., list[Any]],
        task: Any,
        settings: Sequence[Mapping[str, Any]],
        names: Sequence[str],
        reward: Callable[[Any], float],
        failure_reward: float | None,
        options: Mapping[str, Any],
    ) -> None:
        super().__init__(names, _sample_ids(task), failure_reward)
        self._eval = evaluate
        self._task = task
        self._settings = settings
        self._reward = reward
        # Every call is a log of its own; a display for each would fill the screen.
        self._options = {"display": "none", "score_display": False, **options}
        self._group = _groups(settings)
        self.eval_calls = 0

    def _evaluate(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
        groups: dict[int, list[int]] = {}
        for arm in arms:
            groups.setdefault(self._group[arm], []).append(arm)
        for group in groups.values():
            yield from self._evaluate_together(group, examples)

    def _evaluate_together(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
        """Evaluate arms that differ in their models alone, in one call."""
        shared = {name: value for name, value in self._settings[arms[0]].items() if name != "model"}
        if "model" in self._settings[arms[0]]:
            shared["model"] = [self._settings[arm]["model"] for arm in arms]
        self.eval_calls += 1
        logs = self._eval(
            self._task,
            **(self._options | shared),
            sample_id=[_pattern(self.examples[example]) for example in examples],
            fail_on_error=False,  # the other samples of the call are paid for, too
            log_samples=True,
        )
        if len(logs) != len(arms):
            raise RuntimeError(f"inspect_ai returned {len(logs)} logs for {len(arms)} arms")
        for arm, log in zip(arms, logs, strict=True):
            yield from self._answers(arm, examples, log)

    def _answers(self, arm: int, examples: list[int], log: Any) -> Iterator[Answer]:
        """Yield what a log says of each example."""
        samples: dict[str, list[Any]] = {}
        for sample in log.samples or []:
            samples.setdefault(str(sample.id), []).append(sample)
        for example in examples:
            epochs = samples.get(str(self.examples[example]), [])
            failures = [one.error.message for one in epochs if one.error is not None]
            if not epochs or failures:
                unsaid = "the log has no such sample" if log.error is None else log.error.message
                yield Answer(arm, example, None, failures[0] if failures else unsaid)
            else:
                yield self._scored(arm, example, epochs)

    def _scored(self, arm: int, example: int, epochs: Sequence[Any]) -> Answer:
        if not all(one.scores for one in epochs):
            return Answer(arm, example, None, "the sample was not scored")
        try:
            return Answer(arm, example, fmean(self._reward(one.scores) for one in epochs))
        except (TypeError, ValueError) as error:
            where = f"in the scores of {self.arms[arm]} on {self.examples[example]!r}"
            raise type(error)(f"{where}: {error}") from error


class _OfScorer:
    """The reward of the only scorer, or of one that is named."""

    def __init__(self, scorer: str | None, key: str | None) -> None:
        self._scorer, self._key = scorer, key

    def __call__(self, scores: Mapping[str, Any]) -> float:
        scorer = chosen("scorer", list(scores), self._scorer)
        return reward_of(scores[scorer].value, self._key)


def _groups(settings: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return a number for each arm that is the same for arms which differ in their models alone."""
    found: list[Mapping[str, Any]] = []
    numbers = []
    for one in settings:
        # An arm without a model uses the one of the environment, which is no list.
        rest = {name: value for name, value in one.items() if name != "model"}
        number = next(
            (at for at, other in enumerate(found) if "model" in one and _same(rest, other)),
            len(found),
        )
        if number == len(found):
            found.append(rest if "model" in one else {"": object()})
        numbers.append(number)
    return numbers


def _same(some: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Return whether the values are the same objects: those of inspect_ai need not be comparable."""
    if set(some) != set(others):
        return False
    return all(_alike(value, others[name]) for name, value in some.items())


def _alike(one: Any, other: Any) -> bool:
    plain = (str, int, float, bool, type(None))
    return one is other or (isinstance(one, plain) and type(one) is type(other) and one == other)


def _sample_ids(task: Any) -> list[str | int]:
    """Return the ids of the samples of a task; those without get theirs as inspect_ai gives them."""
    ids = [
        sample.id if sample.id is not None else number
        for number, sample in enumerate(task.dataset, 1)
    ]
    if not ids:
        raise ValueError("task must have samples, got an empty dataset")
    seen: set[str] = set()
    for one in ids:
        text = str(one)
        same = (
            str(int(text)) if text.isdigit() else text
        )  # to inspect_ai 7, "7" and "07" are the same
        if same in seen:
            raise ValueError(f"the samples of a task must have ids of their own, got {one!r} twice")
        seen.add(same)
    return ids


def _pattern(sample_id: Hashable) -> Hashable:
    """Return what selects this sample only: inspect_ai takes an id as a pattern of file names."""
    return escape(sample_id) if isinstance(sample_id, str) else sample_id
