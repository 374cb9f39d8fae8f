"""A function for `best_arms` whose arms are models, prompts or programs, and whose coordinates are examples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sureshot import PullError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from sureshot._types import Floats, Ints


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one arm on one example: a reward, or the reason why there is none."""

    arm: int
    example: int
    reward: float | None
    failure: str = ""


class Pulls(ABC):
    """Evaluates just the answers that a search asks for: ``best_arms(pulls, *pulls.shape, ...)``.

    Attributes
    ----------
    arms
        Names of what is compared, in the order of the indices that a search returns.
    examples
        Ids of the examples, in the order of the coordinates.
    paid
        Answers that were asked of the tool so far, including those that failed.
    """

    def __init__(
        self, arms: Sequence[str], examples: Sequence[Hashable], failure_reward: float | None
    ) -> None:
        self.arms = tuple(arms)
        self.examples = tuple(examples)
        self.paid = 0
        self._failure_reward = failure_reward
        # Rewards that were known before, and those of calls that failed in part: not paid for again.
        self._known: dict[tuple[int, int], float] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of arms, and of examples."""
        return len(self.arms), len(self.examples)

    def __call__(self, arms: Ints, coordinates: Ints) -> Floats:
        """Return the reward of each arm at each example, shape (len(arms), len(coordinates))."""
        failures: list[Answer] = []
        cause: Exception | None = None
        try:
            for some, examples in self._missing(arms.tolist(), coordinates.tolist()):
                failures += self._pay(some, examples)
        except Exception as error:  # noqa: BLE001 - raised below, with the rewards that there are
            cause = error
        rewards = np.array(
            [
                [self._known.get((arm, example), np.nan) for example in coordinates.tolist()]
                for arm in arms.tolist()
            ]
        ).reshape(len(arms), len(coordinates))
        if failures or cause is not None:
            message = self._message(failures, cause, rewards.size)
            raise PullError(message, arms.tolist(), coordinates.tolist(), rewards) from cause
        return rewards

    @abstractmethod
    def _evaluate(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
        """Evaluate every one of some arms on every one of some examples."""

    def _missing(
        self, arms: list[int], examples: list[int]
    ) -> Iterator[tuple[list[int], list[int]]]:
        """Yield what is not known: arms that lack the same examples are evaluated together."""
        groups: dict[tuple[int, ...], list[int]] = {}
        for arm in arms:
            lacking = tuple(one for one in examples if (arm, one) not in self._known)
            groups.setdefault(lacking, []).append(arm)
        for lacking, group in groups.items():
            if lacking:
                yield group, list(lacking)

    def _pay(self, arms: list[int], examples: list[int]) -> list[Answer]:
        """Evaluate, keep the rewards, and return the failures that have no reward."""
        left = {(arm, example) for arm in arms for example in examples}
        failures = []
        for answer in self._evaluate(arms, examples):
            left.discard((answer.arm, answer.example))
            self.paid += 1
            reward = self._failure_reward if answer.reward is None else answer.reward
            if reward is None:
                failures.append(answer)
            else:
                self._known[answer.arm, answer.example] = reward
        missing = [Answer(*one, None, "there is no answer") for one in sorted(left)]
        return failures + missing

    def _message(self, failures: list[Answer], cause: Exception | None, asked: int) -> str:
        parts = []
        if failures:
            first = failures[0]
            parts.append(
                f"{len(failures):,} of {asked:,} answers failed; the first is {self.arms[first.arm]} on "
                f"example {self.examples[first.example]!r}: {first.failure}"
            )
        if cause is not None:
            parts.append(f"{type(cause).__name__}: {cause}")
        return "; ".join(parts)
