"""Builds every certificate: of an exact answer, of a promise, and of an answer without one."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from sureshot.result import Certificate

if TYPE_CHECKING:
    from sureshot.search.condition import Condition
    from sureshot.search.problem import Problem


@lru_cache(maxsize=16)  # to write one takes longer than to look it up
def _exact(assumption: str) -> Certificate:
    return Certificate(
        epsilon=0.0,
        delta=0.0,
        exact=True,
        scores="exact",
        unconditional=True,
        assumption=assumption,
        every_position=True,
    )


_EXACT = _exact("no assumption is needed")


def exact_answer(problem: Problem) -> Certificate:
    """Return the certificate of an answer for which every score was computed."""
    return exact_on(problem.score_condition)


def exact_on(rests_on: Condition | None) -> Certificate:
    """Return the same, given what even an exact score rests on, if there is anything."""
    return _EXACT if rests_on is None else _exact(rests_on.sentence)


def promise(
    problem: Problem,
    epsilon: float,
    *,
    condition: Condition | None = None,
    theorem: str | None = None,
    remark: str = "",
    scores_known: bool = True,
    every_position: bool = True,
    early: bool = False,
) -> Certificate:
    """Return the certificate of an answer that is within epsilon, with probability 1 - delta.

    Parameters
    ----------
    problem
        What was asked.
    epsilon
        The loss that is proved, in the units of the scores.
    condition
        What the promise rests on, if a search knows better than the problem.
    theorem
        The name of a theorem whose proof has gaps: then nothing is called unconditional.
    remark
        What is said after the condition.
    scores_known
        Whether the returned scores are exact.
    every_position
        Whether the promise holds for each of the k positions.
    early
        Whether a budget ended the search.
    """
    rests_on = problem.condition if condition is None else condition
    if rests_on.limit == 0:
        return no_promise(
            "no bounds were given, and nothing but zeros was read before the budget ended",
            scores_known=scores_known,
        )
    unconditional = rests_on.unconditional and theorem is None
    words = rests_on.sentence
    if theorem is not None or unconditional:
        words = rests_on.after(theorem or "unconditional")
    return Certificate(
        epsilon=epsilon,
        delta=problem.delta,
        exact=False,
        scores=_scores(known=scores_known),
        unconditional=unconditional,
        assumption=_with_remark(words, remark),
        every_position=every_position,
        early=early,
        limit=rests_on.limit,
    )


def no_promise(
    reason: str, *, loss: float = math.inf, remark: str = "", scores_known: bool = True
) -> Certificate:
    """Return the certificate of an answer of which nothing is proved.

    `loss` is the most that any answer could lose, if that is known.
    """
    return Certificate(
        epsilon=loss,
        delta=1.0,
        exact=False,
        scores=_scores(known=scores_known),
        unconditional=False,
        assumption=_with_remark(reason, remark),
    )


def _scores(*, known: bool) -> Literal["exact", "estimate"]:
    return "exact" if known else "estimate"


def _with_remark(words: str, remark: str) -> str:
    return f"{words}; {remark}" if remark else words
