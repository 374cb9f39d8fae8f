"""Pulls of a tool: what a call has paid for is never paid again, not even after an error and a restart."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot import evals
from sureshot.evals.pulls import Answer, Pulls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

N_ARMS, N_EXAMPLES = 4, 200
TABLE = np.random.default_rng(1).random((N_ARMS, N_EXAMPLES)) < np.array(
    [[0.3], [0.5], [0.7], [0.9]]
)


class Tool(Pulls):
    """A tool that counts, fails in part, or breaks off."""

    def __init__(
        self,
        fails: Callable[[int, int, int], object] = lambda *_: None,
        failure_reward: float | None = None,
    ) -> None:
        super().__init__([f"m{at}" for at in range(N_ARMS)], range(N_EXAMPLES), failure_reward)
        self.answers: Counter[tuple[int, int]] = Counter()
        self.calls = 0
        self.fails = fails

    def _evaluate(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
        self.calls += 1
        for arm in arms:
            for example in examples:
                failure = self.fails(self.calls, arm, example)
                if failure:
                    yield Answer(arm, example, None, str(failure))
                else:
                    self.answers[arm, example] += 1
                    yield Answer(arm, example, float(TABLE[arm, example]))


def search(tool: Tool, **more: Any) -> sureshot.TopK:
    return sureshot.best_arms(tool, *tool.shape, epsilon=0.05, delta=0.05, rng=2, **more)


def in_third_call(call: int, arm: int, _example: int) -> str | None:
    return "no answer" if call == 3 and arm == 3 else None


def breaks_off(call: int, arm: int, _example: int) -> None:
    if call == 3 and arm == 3:
        raise ConnectionError("gone")


@pytest.mark.parametrize("fails", [in_third_call, breaks_off])
def test_a_call_that_failed_in_part_is_repeated_for_the_rest(fails: Any) -> None:
    expected = search(Tool())
    tool = Tool(fails)
    found = search(tool, retries=1)
    assert set(tool.answers.values()) == {1}
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.rounds == expected.rounds


@pytest.mark.parametrize("fails", [in_third_call, breaks_off])
def test_the_journal_has_what_a_call_that_failed_in_part_has_paid_for(
    fails: Any, tmp_path: Path
) -> None:
    expected = search(Tool())
    first, second = Tool(fails), Tool()
    with pytest.raises(sureshot.PullError) as raised:
        search(first, journal=tmp_path / "journal.db")
    assert isinstance(raised.value.__cause__, sureshot.PullError)
    found = search(second, journal=tmp_path / "journal.db")
    assert set((first.answers + second.answers).values()) == {1}
    assert found.work.pulls_paid == sum(second.answers.values())
    assert found.scores.tolist() == expected.scores.tolist()
    assert found.rounds == expected.rounds


def test_a_failure_may_have_a_reward() -> None:
    arms, examples = np.arange(N_ARMS), np.array([5, 9, 11])
    rewards = Tool(lambda _, arm, example: arm == 2 and example == 9, 0.25)(arms, examples)
    expected = TABLE[np.ix_(arms, examples)].astype(float)
    expected[2, 1] = 0.25
    assert rewards.tolist() == expected.tolist()


def test_the_error_says_what_failed_and_has_what_did_not() -> None:
    tool = Tool(lambda _, arm, example: arm == 2 and example == 9 and "overloaded")
    with pytest.raises(
        sureshot.PullError, match="1 of 8 answers failed; the first is m2 on example 9: ov"
    ) as raised:
        tool(np.arange(N_ARMS), np.array([9, 3]))
    assert raised.value.rewards is not None
    assert np.argwhere(np.isnan(raised.value.rewards)).tolist() == [[2, 0]]


def test_an_answer_that_is_missing_is_a_failure() -> None:
    class Forgetful(Tool):
        def _evaluate(self, arms: list[int], examples: list[int]) -> Iterator[Answer]:
            yield from list(super()._evaluate(arms, examples))[1:]

    with pytest.raises(sureshot.PullError, match=r"1 of 4 answers failed.*there is no answer"):
        Forgetful()(np.arange(2), np.array([0, 1]))


@pytest.mark.parametrize(
    ("package", "call", "message"),
    [
        ("inspect_ai", "inspect_pull(None, ['a'])", "pip install 'sureshot[evals]'"),
        ("lm_eval", "lm_eval_pull('a', ['b'])", "pip install lm_eval"),
    ],
)
def test_a_tool_that_is_not_there_is_named(package: str, call: str, message: str) -> None:
    code = f"import sys; sys.modules[{package!r}] = None\nfrom sureshot.evals import *\n{call}"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert message in found.stderr.splitlines()[-1]


def test_the_same_object_does_not_pay_twice() -> None:
    tool = Tool()
    first, second = search(tool), search(tool)
    assert tool.paid == first.work.numbers_read
    assert first.scores.tolist() == second.scores.tolist()
    assert isinstance(tool, evals.Pulls)
