"""Results of several searches as one: of the parts of a store, and of several queries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sureshot import Certificate, TopK, Work
from sureshot.result import stack

# What the certificate of an exact answer says.
NOTHING_ASSUMED = "no assumption is needed"

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sureshot._types import Floats, Ints


def of_parts(found: Sequence[TopK], firsts: Sequence[int], numbers: int, k: int) -> TopK:
    """Return the k best of the results of several parts, query by query.

    Parameters
    ----------
    found
        The result of each part, each for the same queries.
    firsts
        The number of the first row of each part.
    numbers
        How many numbers the searched rows of all parts have.
    k
        How many rows to return.
    """
    queries = []
    for each in zip(*(result.queries for result in found), strict=True):
        scores = np.concatenate([result.scores for result in each])
        indices = np.concatenate(
            [result.indices + first for result, first in zip(each, firsts, strict=True)]
        )
        best = np.lexsort((indices, -scores))[:k]
        queries.append(combined(each, scores[best], indices[best], numbers))
    return queries[0] if found[0].scores.ndim == 1 else stack(queries)


def combined(
    found: Sequence[TopK],
    scores: Floats,
    indices: Ints,
    numbers: int,
) -> TopK:
    """Return one answer that rests on several searches: it is wrong only if one of them is.

    `numbers` is how many numbers the searched rows have.
    """
    certificates = [result.certificate for result in found]
    works = [result.work for result in found]
    limits = [one.limit for one in certificates if one.limit is not None]
    read = sum(one.numbers_read for one in works)
    return TopK(
        scores=scores,
        indices=indices,
        certificate=Certificate(
            epsilon=max(one.epsilon for one in certificates),
            delta=min(1.0, sum(one.delta for one in certificates)),
            exact=all(one.exact for one in certificates),
            scores="exact" if all(one.scores == "exact" for one in certificates) else "estimate",
            unconditional=all(one.unconditional for one in certificates),
            assumption=_assumption(certificates),
            every_position=all(one.every_position for one in certificates),
            early=any(one.early for one in certificates),
            limit=min(limits, default=None),
        ),
        work=Work(
            numbers_read=read,
            share=read / numbers,
            bytes_read=sum(one.bytes_read for one in works),
            rounds=sum(one.rounds for one in works),
            exact_scores=sum(one.exact_scores for one in works),
            seconds=sum(one.seconds for one in works),
            numbers_scanned=sum(one.numbers_scanned for one in works),
            choice="; ".join(dict.fromkeys(one.choice for one in works if one.choice)),
        ),
        rounds=tuple(info for result in found for info in result.rounds),
        algorithm=", ".join(dict.fromkeys(result.algorithm for result in found)),
    )


def _assumption(certificates: Sequence[Certificate]) -> str:
    """Return what several guarantees assume together."""
    words = dict.fromkeys(one.assumption for one in certificates)
    if len(words) > 1:
        words.pop(NOTHING_ASSUMED, None)
    return "; and ".join(words)


def negated(found: TopK) -> TopK:
    """Return the result of a search with the negated query as one with the query itself."""
    if found.scores.ndim == 2:
        return stack([negated(query) for query in found.queries])
    rounds = tuple(
        info if info.threshold is None else replace(info, threshold=0.0 - info.threshold)
        for info in found.rounds
    )
    return replace(found, scores=0.0 - found.scores, rounds=rounds)
