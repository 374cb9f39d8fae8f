"""Certificates: one builder, and conditions that become sentences only there."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from sureshot.search import certificate
from sureshot.search.condition import Condition, assumption, estimate, fact

FACT = fact("a distance has no negative terms")
GIVEN = assumption("the data lies within the given bounds")
UNCHECKED = assumption("nobody has peeked", checkable=False)
ESTIMATE = estimate(2.5)
BEYOND = (
    "unless some normalised block sum that was not read exceeds 2.5 "
    "(an estimate, since no bounds were given)"
)


def problem(condition: Condition = GIVEN, score_condition: Condition | None = None) -> Any:
    return SimpleNamespace(condition=condition, score_condition=score_condition, delta=0.05)


@pytest.mark.parametrize(
    ("condition", "alone", "of_theorem", "unconditional"),
    [
        (FACT, "unconditional: a distance has no negative terms", "T: a distance has", True),
        (GIVEN, "unconditional as long as the data lies", "T as long as the data lies", True),
        (UNCHECKED, "as long as nobody has peeked", "T as long as nobody has peeked", False),
        (ESTIMATE, BEYOND, f"T {BEYOND}", False),
    ],
)
def test_a_condition_becomes_a_sentence(
    condition: Condition, alone: str, of_theorem: str, unconditional: bool
) -> None:
    found = certificate.promise(problem(condition), 0.5)
    assert found.assumption.startswith(alone)
    assert found.unconditional == unconditional
    assert found.limit == condition.limit
    assert (found.epsilon, found.delta, found.exact, found.scores) == (0.5, 0.05, False, "exact")
    # A theorem whose proof has gaps is never called unconditional.
    published = certificate.promise(problem(condition), 0.5, theorem="T")
    assert published.assumption.startswith(of_theorem)
    assert not published.unconditional


def test_what_a_search_knows_better_replaces_the_condition_of_the_problem() -> None:
    found = certificate.promise(problem(estimate()), 0.0, condition=ESTIMATE)
    assert found.assumption == BEYOND
    assert found.limit == 2.5


def test_nothing_is_promised_before_a_limit_is_met() -> None:
    found = certificate.promise(problem(estimate()), 0.0)
    assert (found.epsilon, found.delta) == (math.inf, 1.0)
    assert "nothing but zeros was read" in found.assumption
    assert not found.unconditional
    assert not found.every_position
    assert found.limit is None


def test_a_remark_follows_the_condition() -> None:
    found = certificate.promise(problem(FACT), 0.0, remark="drawn by lot")
    assert found.assumption.endswith("no negative terms; drawn by lot")
    guess = certificate.no_promise("none", loss=3.0, remark="drawn by lot", scores_known=False)
    assert guess.assumption == "none; drawn by lot"
    assert (guess.epsilon, guess.delta, guess.scores) == (3.0, 1.0, "estimate")


def test_an_exact_answer_rests_on_its_scores_alone() -> None:
    found = certificate.exact_answer(problem(UNCHECKED))
    assert (found.epsilon, found.delta, found.exact) == (0.0, 0.0, True)
    assert found.unconditional
    assert found.every_position
    assert found.assumption == "no assumption is needed"
    given = certificate.exact_answer(problem(UNCHECKED, assumption("the norms are right")))
    assert given.assumption == "as long as the norms are right"


def test_nothing_that_is_not_proved_is_called_exact_or_unconditional() -> None:
    found = certificate.no_promise("none")
    assert (found.epsilon, found.delta, found.scores) == (math.inf, 1.0, "exact")
    assert not found.exact
    assert not found.unconditional
    assert not found.early
    assert not found.every_position
