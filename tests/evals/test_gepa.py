"""GEPA itself, with an adapter and a proposer that need no model: what its validation costs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import sureshot
from sureshot.evals import gepa_pull, gepa_race
from tests.evals.test_gepa_pulls import N_EXAMPLES, Adapter, right

if TYPE_CHECKING:
    from pathlib import Path

gepa = pytest.importorskip("gepa", reason="gepa is not installed: nox -s evals")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of gepa are its own

# The best program before each of them is proposed.
BEST_SO_FAR = ("0.45", "0.50", "0.50", "0.50", "0.85", "0.85")
PROPOSED = ("0.50", "0.30", "0.20", "0.85", "0.60", "0.15")  # how good each new program is


class Stopped(BaseException):
    """What ends a run without a word, as kill -9 does."""


class Optimised(Adapter):
    """Proposes these programs, one after the other, and finds every one better on the training set."""

    def __init__(self, done: int = 0, stop_at: int | None = None) -> None:
        super().__init__()
        self.left = list(PROPOSED[done:])
        self.stop_at = stop_at
        self.propose_new_texts = lambda *_: {"quality": self.left.pop(0)}

    def evaluate(
        self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False
    ) -> Any:
        found = super().evaluate(batch, candidate, capture_traces)
        if self.stop_at is not None and len(self.asked) >= self.stop_at:
            raise Stopped
        if batch and batch[0] >= N_EXAMPLES:  # the training set: later programs are accepted
            order = ["0.45", *PROPOSED]
            found.scores = [float(order.index(candidate["quality"]))] * len(batch)
        return found

    def make_reflective_dataset(self, *_: Any) -> dict[str, list[dict[str, str]]]:
        return {"quality": [{"Feedback": "better, please"}]}


class Batched(Optimised):
    """The same, for several programs at a time."""

    def batch_evaluate(self, items: list[tuple[dict[str, str], list[int]]]) -> list[Any]:
        return [self.evaluate(batch, candidate, capture_traces=True) for candidate, batch in items]


def optimise(adapter: Optimised, arguments: dict[str, Any]) -> Any:
    return gepa.optimize(
        seed_candidate={"quality": "0.45"},
        trainset=list(range(N_EXAMPLES, N_EXAMPLES + 3)),
        valset=list(range(N_EXAMPLES)),
        reflection_lm=lambda _: "unused",
        reflection_minibatch_size=1,
        stop_callbacks=lambda _: not adapter.left,
        skip_perfect_score=False,
        display_progress_bar=False,
        seed=0,
        **arguments,
    )


def validated(adapter: Adapter) -> list[tuple[str, int]]:
    return [(quality, one) for quality, one in adapter.asked if one < N_EXAMPLES]


@pytest.mark.parametrize("kind", [Optimised, Batched])
def test_bad_programs_are_evaluated_on_few_examples(kind: type[Optimised]) -> None:
    everywhere, raced = kind(), kind()
    whole = optimise(everywhere, {"adapter": everywhere})
    found = optimise(raced, gepa_race(raced, epsilon=0.05, seed=1))
    assert [one["quality"] for one in found.candidates] == ["0.45", *PROPOSED]
    assert found.candidates == whole.candidates
    all_answers, answers = validated(everywhere), validated(raced)
    assert len(all_answers) == N_EXAMPLES * (1 + len(PROPOSED))
    assert len(set(answers)) == len(answers) < 0.7 * len(all_answers)
    counts = {
        quality: len(scores)
        for quality, scores in zip(("0.45", *PROPOSED), found.val_subscores, strict=True)
    }
    assert counts["0.15"] < counts["0.60"] < N_EXAMPLES
    # GEPA counts what was paid for, with the training set: a parent and a child in each iteration.
    assert found.total_metric_calls == len(raced.asked)
    # What it knows of a program is what the adapter said.
    for program, scores in zip(found.candidates, found.val_subscores, strict=True):
        assert scores == {one: right(program, one) for one in scores}


def test_a_run_that_was_stopped_goes_on_to_the_same_result(tmp_path: Path) -> None:
    whole, first = Optimised(), Optimised(stop_at=250)
    expected = optimise(whole, gepa_race(whole, epsilon=0.05, seed=1))
    run = {"run_dir": str(tmp_path), "raise_on_exception": True}
    with pytest.raises(Stopped):
        optimise(first, gepa_race(first, epsilon=0.05, seed=1) | run)
    saved = pytest.importorskip("gepa.core.state").GEPAState.load(str(tmp_path))
    done = len(saved.program_candidates) - 1
    assert 0 < done < len(PROPOSED)
    second = Optimised(done)
    found = optimise(second, gepa_race(second, epsilon=0.05, seed=1) | run)
    assert found.candidates == expected.candidates
    assert found.val_subscores == expected.val_subscores
    # What the last iteration had asked for is lost, and GEPA asks again for the examples of the seed program.
    lost = Counter(validated(first) + validated(second)) - Counter(validated(whole))
    assert {quality for quality, _ in lost} <= {"0.45", PROPOSED[done], BEST_SO_FAR[done]}


def test_the_best_of_a_run_has_a_certificate() -> None:
    adapter = Optimised()
    result = optimise(adapter, gepa_race(adapter, epsilon=0.05))
    before = len(adapter.asked)
    pulls = gepa_pull(
        adapter, result.candidates, list(range(N_EXAMPLES)), known=result.val_subscores
    )
    found = sureshot.best_arms(pulls, *pulls.shape, epsilon=0.05, rng=99)
    assert result.candidates[found.indices[0]]["quality"] == "0.85"
    assert found.certificate.unconditional
    assert len(adapter.asked) - before == pulls.paid < found.work.numbers_read


def test_the_policy_is_one_of_gepa() -> None:
    policies = pytest.importorskip("gepa.strategies.eval_policy")
    arguments = gepa_race(Adapter(), epsilon=0.1)
    assert isinstance(arguments["val_evaluation_policy"], policies.EvaluationPolicy)


def test_the_cache_of_gepa_is_refused() -> None:
    adapter = Optimised()
    arguments = gepa_race(adapter, epsilon=0.05) | {"cache_evaluation": True}
    with pytest.raises(ValueError, match="gepa_race needs cache_evaluation=False"):
        optimise(adapter, arguments | {"raise_on_exception": True})
