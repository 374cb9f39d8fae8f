"""The policy for GEPA on its own: which examples it asks for, what it counts, and which program is best."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import pytest

from sureshot.evals import gepa_race
from tests.evals.test_gepa_pulls import N_EXAMPLES, Adapter, right

VALSET = list(range(N_EXAMPLES))


@dataclass
class State:
    """What the policy uses of GEPA's state."""

    program_candidates: list[dict[str, str]]
    prog_candidate_val_subscores: list[dict[int, float]]
    pareto_front_valset: dict[int, float] = field(default_factory=dict)
    program_at_pareto_front_valset: dict[int, set[int]] = field(default_factory=dict)
    evaluation_cache: Any = None
    counted: int = 0

    def increment_evals(self, count: int) -> None:
        self.counted += count

    def get_program_average_val_subset(self, program: int) -> tuple[float, int]:
        scores = self.prog_candidate_val_subscores[program]
        return sum(scores.values()) / len(scores), len(scores)


def after_seed(adapter: Adapter, arguments: dict[str, Any]) -> State:
    """Return the state after the first program was evaluated, as GEPA does it."""
    seed, policy = {"quality": "0.6"}, arguments["val_evaluation_policy"]
    ids = policy.get_seed_eval_batch(VALSET)
    scores = arguments["adapter"].evaluate(ids, seed, capture_traces=False).scores
    known = dict(zip(ids, scores, strict=True))
    return State([seed], [known], dict(known), {one: {0} for one in known})


@pytest.mark.parametrize("quality", ["0.1", "0.62", "0.95"])
def test_a_new_program_is_searched_against_the_best(quality: str) -> None:
    adapter = Adapter()
    arguments = gepa_race(adapter, epsilon=0.05, first=16)
    recorder, policy = arguments["adapter"], arguments["val_evaluation_policy"]
    state = after_seed(adapter, arguments)
    assert len(state.prog_candidate_val_subscores[0]) == 16
    assert policy.get_best_program(state) == 0
    # An iteration: a parent and a child on the training set, then the child on what the policy says.
    child = {"quality": quality}
    recorder.evaluate([N_EXAMPLES + 1], state.program_candidates[0], capture_traces=True)
    recorder.evaluate([N_EXAMPLES + 1], child, capture_traces=True)
    ids = policy.get_eval_batch(VALSET, state)
    paid = list(adapter.asked)
    found = recorder.evaluate(ids, child, capture_traces=True)
    assert adapter.asked == paid  # it was evaluated by the search
    assert found.scores == [right(child, one) for one in ids]
    assert len(set(paid)) == len(paid)
    of_seed = state.prog_candidate_val_subscores[0]
    assert of_seed == {one: right(state.program_candidates[0], one) for one in of_seed}
    assert state.counted == len(of_seed) - 16  # GEPA counts those of the child itself
    if quality == "0.62":
        assert len(ids) > 60
    else:
        assert len(ids) < 60
    for one, best in state.pareto_front_valset.items():
        assert (best == of_seed[one]) == (0 in state.program_at_pareto_front_valset[one])
    # Evaluated again, it is evaluated.
    recorder.evaluate(ids, child, capture_traces=True)
    assert len(adapter.asked) == len(paid) + len(ids)


def test_the_best_program_is_compared_on_the_same_examples() -> None:
    # The second program has the higher average, on the easy examples alone.
    easy = dict.fromkeys(range(10), 1.0)
    first = easy | dict.fromkeys(range(10, 40), 0.5)
    second = {**easy, 3: 0.0}
    policy = gepa_race(Adapter(), epsilon=0.1)["val_evaluation_policy"]
    state = State([{}, {}], [first, second])
    averages = [policy.get_valset_score(program, state) for program in (0, 1)]
    assert averages == [0.625, 0.9]
    assert policy.get_best_program(state) == 0


def test_a_merged_program_begins_an_iteration() -> None:
    adapter = Adapter()
    arguments = gepa_race(adapter, epsilon=0.05)
    recorder, policy = arguments["adapter"], arguments["val_evaluation_policy"]
    state = after_seed(adapter, arguments)
    policy.get_best_program(state)
    recorder.evaluate([N_EXAMPLES + 1], {"quality": "0.3"}, capture_traces=True)  # not accepted
    recorder.evaluate([3], {"quality": "0.2"}, capture_traces=False)  # merged
    assert len(policy.get_eval_batch(VALSET, state)) < N_EXAMPLES
    assert recorder.proposed == [{"quality": "0.2"}]


def test_what_it_does_not_know_is_evaluated_on_everything() -> None:
    adapter = Adapter()
    arguments = gepa_race(adapter, epsilon=0.05)
    recorder, policy = arguments["adapter"], arguments["val_evaluation_policy"]
    state = after_seed(adapter, arguments)
    policy.get_best_program(state)
    recorder.evaluate([N_EXAMPLES], state.program_candidates[0], capture_traces=True)
    for quality in ("0.2", "0.3"):
        recorder.evaluate([N_EXAMPLES], {"quality": quality}, capture_traces=True)
    assert policy.get_eval_batch(VALSET, state) == VALSET
    assert policy.get_eval_batch(VALSET, state, target_program_idx=0) == VALSET
    state.evaluation_cache = {}
    with pytest.raises(ValueError, match="gepa_race needs cache_evaluation=False"):
        policy.get_eval_batch(VALSET, state)


def test_other_parts_of_the_adapter_are_there() -> None:
    recorder = gepa_race(Adapter(propose_new_texts=len), epsilon=0.1)["adapter"]
    assert recorder.propose_new_texts is len
    assert not hasattr(recorder, "batch_evaluate")
    assert copy.copy(recorder).adapter is recorder.adapter
