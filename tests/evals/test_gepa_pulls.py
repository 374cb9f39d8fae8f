"""GEPA's candidates as arms: the adapter is called for unknown scores only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import sureshot
from sureshot.evals import gepa_pull, gepa_race

N_EXAMPLES = 150
QUALITY = (0.4, 0.6, 0.9)


def right(candidate: dict[str, str], example: int) -> float:
    """Return the score of a candidate, which says itself how good it is."""
    drawn = np.random.default_rng(example).random()
    return float(drawn < float(candidate["quality"]))


@dataclass
class Found:
    outputs: list[Any]
    scores: list[float]
    trajectories: list[Any] | None = None
    objective_scores: list[dict[str, float]] | None = None
    num_metric_calls: int | None = None


@dataclass
class Adapter:
    """An adapter that counts its answers."""

    asked: list[tuple[str, int]] = field(default_factory=list)
    propose_new_texts: Any = None

    def evaluate(
        self, batch: list[int], candidate: dict[str, str], capture_traces: bool = False
    ) -> Found:
        self.asked += [(candidate["quality"], example) for example in batch]
        scores = [right(candidate, example) for example in batch]
        return Found([None] * len(batch), scores, [{}] * len(batch) if capture_traces else None)


CANDIDATES = [{"quality": str(quality)} for quality in QUALITY]


def search(pulls: Any) -> sureshot.TopK:
    return sureshot.best_arms(pulls, *pulls.shape, epsilon=0.05, delta=0.05, rng=0)


def test_known_scores_are_not_paid_for() -> None:
    first, second = Adapter(), Adapter()
    examples = list(range(N_EXAMPLES))
    pulls = gepa_pull(first, CANDIDATES, examples)
    found = search(pulls)
    assert pulls.arms[found.indices[0]] == "candidate 2"
    assert len(first.asked) == len(set(first.asked)) == pulls.paid == found.work.numbers_read
    known = [{at: right(one, at) for at in range(0, N_EXAMPLES, 2)} for one in CANDIDATES]
    again = gepa_pull(second, CANDIDATES, examples, known=known, names=["a", "b", "c"])
    same = search(again)
    assert same.scores.tolist() == found.scores.tolist()
    assert set(second.asked) == {one for one in first.asked if one[1] % 2}
    assert again.arms == ("a", "b", "c")


class Loader:
    """Examples by name, as a DataLoader of GEPA has them."""

    def all_ids(self) -> list[str]:
        return [f"v{at}" for at in range(N_EXAMPLES)]

    def fetch(self, ids: list[str]) -> list[int]:
        return [int(one[1:]) for one in ids]

    def __len__(self) -> int:
        return N_EXAMPLES


def test_a_loader_has_ids_of_its_own() -> None:
    pulls = gepa_pull(Adapter(), CANDIDATES, Loader())
    assert pulls.examples[3] == "v3"
    assert (
        search(pulls).scores.tolist()
        == search(gepa_pull(Adapter(), CANDIDATES, list(range(N_EXAMPLES)))).scores.tolist()
    )


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None, CANDIDATES, [1]), TypeError, "adapter must have a method evaluate"),
        ((Adapter(), [], [1]), ValueError, "candidates must have at least one program"),
        ((Adapter(), CANDIDATES, []), ValueError, "valset must have examples"),
        ((Adapter(), CANDIDATES, 7), TypeError, "valset must be a sequence or a DataLoader"),
    ],
)
def test_bad_input_is_refused(arguments: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        gepa_pull(*arguments)


def test_lists_of_another_length_are_refused() -> None:
    with pytest.raises(
        ValueError, match="known must have one entry for each of 3 candidates, got 1"
    ):
        gepa_pull(Adapter(), CANDIDATES, [1], known=[{}])
    with pytest.raises(
        ValueError, match="names must have one entry for each of 3 candidates, got 2"
    ):
        gepa_pull(Adapter(), CANDIDATES, [1], names=["a", "b"])
    with pytest.raises(TypeError, match="adapter must have a method evaluate"):
        gepa_race(None, epsilon=0.1)
    with pytest.raises(ValueError, match="first must be at least 1, got 0"):
        gepa_race(Adapter(), epsilon=0.1, first=0)
    with pytest.raises(ValueError, match="epsilon must be at least 0, got -1"):
        gepa_race(Adapter(), epsilon=-1)
    with pytest.raises(ValueError, match="bounds must have low < high"):
        gepa_race(Adapter(), epsilon=0.1, bounds=(1, 0))
