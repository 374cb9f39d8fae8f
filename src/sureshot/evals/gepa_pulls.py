"""Pulls of GEPA: an arm is a candidate program, a coordinate an example of the validation set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sureshot.evals.pulls import Answer, Pulls

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence


def gepa_pull(
    adapter: Any,
    candidates: Sequence[Mapping[str, str]],
    valset: Any,
    *,
    known: Sequence[Mapping[Any, float]] | None = None,
    names: Sequence[str] | None = None,
) -> Pulls:
    """Make a function for `best_arms` that evaluates candidates with an adapter of GEPA.

    GEPA itself reports the candidate with the best average. Where candidates were not all evaluated on
    the whole validation set, or where the set was looked at many times, that average proves nothing; a search
    with an order of its own does.

    Parameters
    ----------
    adapter
        What ``gepa.optimize`` was given: ``adapter.evaluate(batch, candidate)`` returns scores.
    candidates
        The programs to choose from: ``result.candidates``.
    valset
        A sequence of examples, or a ``DataLoader``.
    known
        Scores of each candidate that are paid for already, by the id of the example: ``result.val_subscores``.
    names
        A name for each candidate; by default its number.

    Returns
    -------
    Pulls
        For ``best_arms(pulls, *pulls.shape, epsilon=..., bounds=...)``.

    Examples
    --------
    >>> class Adapter:
    ...     def evaluate(self, batch, candidate, capture_traces=False):
    ...         self.scores = [float(candidate["prompt"] in example) for example in batch]
    ...         return self
    >>> prompts = [{"prompt": letter} for letter in "aeo"]
    >>> pulls = gepa_pull(Adapter(), prompts, ["hello", "world", "hat", "fold"])
    >>> from sureshot import best_arms
    >>> found = best_arms(pulls, *pulls.shape, epsilon=0, rng=0)
    >>> pulls.arms[found.indices[0]], pulls.paid
    ('candidate 2', 12)
    """
    check_adapter(adapter)
    if not candidates:
        raise ValueError("candidates must have at least one program, got none")
    for argument, given in (("known", known), ("names", names)):
        if given is not None and len(given) != len(candidates):
            expected = f"{argument} must have one entry for each of {len(candidates)} candidates"
            raise ValueError(f"{expected}, got {len(given)}")
    shown = names or [f"candidate {number}" for number in range(len(candidates))]
    return GepaPulls(adapter, candidates, valset, known or [{} for _ in candidates], shown)


class GepaPulls(Pulls):
    """Calls the adapter with one candidate and the examples whose scores are not known."""

    def __init__(
        self,
        adapter: Any,
        candidates: Sequence[Mapping[str, str]],
        valset: Any,
        known: Sequence[Mapping[Hashable, float]],
        names: Sequence[str],
    ) -> None:
        super().__init__(names, ids_of(valset), None)
        self._adapter = adapter
        self._candidates = candidates
        self._valset = valset
        for arm, scores in enumerate(known):
            for example, one in enumerate(self.examples):
                if one in scores:
                    self._known[arm, example] = float(scores[one])

    def _evaluate(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
        for arm in arms:
            batch = fetched(self._valset, [self.examples[example] for example in examples])
            found = self._adapter.evaluate(batch, dict(self._candidates[arm]), capture_traces=False)
            for example, score in zip(examples, found.scores, strict=True):
                yield Answer(arm, example, float(score))


def check_adapter(adapter: Any) -> None:
    """Raise an error for what is no adapter."""
    if not callable(getattr(adapter, "evaluate", None)):
        name = type(adapter).__name__
        raise TypeError(f"adapter must have a method evaluate(batch, candidate), got {name}")


def ids_of(valset: Any) -> list[Any]:
    """Return the ids of the examples of a sequence or a ``DataLoader``, in its order."""
    loader = hasattr(valset, "all_ids")
    if not loader and not hasattr(valset, "__getitem__"):
        message = f"valset must be a sequence or a DataLoader of GEPA, got {type(valset).__name__}"
        raise TypeError(message)
    ids = list(valset.all_ids()) if loader else list(range(len(valset)))
    if not ids:
        raise ValueError("valset must have examples, got an empty one")
    return ids


def fetched(valset: Any, ids: Sequence[Any]) -> list[Any]:
    """Return the examples that have these ids."""
    return list(valset.fetch(list(ids))) if hasattr(valset, "fetch") else [valset[i] for i in ids]
