"""Writes down what the kernels have found: results, certificates and work."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sureshot._lazy import LazySequence
from sureshot.cuda.layout import MULTIPLIED, REASONS, SKIMMED
from sureshot.errors import BoundsError
from sureshot.result import Certificate, TopK, Work

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.cuda.matrix import Norms

NO_ASSUMPTION = "no assumption is needed"

# By how much of itself a score must exceed the largest possible one to prove that a norm is wrong.
LEAST_EXCESS = 1e-6


def exact_certificate(assumption: str = NO_ASSUMPTION) -> Certificate:
    """Return the certificate of an answer for which every arm was evaluated."""
    return Certificate(0.0, 0.0, True, "exact", True, assumption, True)


class Kind(NamedTuple):
    """What all answers of a call share."""

    metric: str
    k: int
    n: int  # searched rows
    width: int
    itemsize: int
    block: int
    first_rows: int
    arms: Ints | None
    row_scale: Floats | None
    norms: Norms
    promised: Certificate
    exact: Certificate
    multiplied: Certificate

    @classmethod
    def of(cls, request: Any, search: Any, norms: Norms) -> Kind:
        """Return it for a request and the search that answers it."""
        words = NO_ASSUMPTION
        if request.metric == "cosine":  # even exact scores are divided by the norms
            given = "the given norms are the rows' norms"
            words = f"as long as {given if norms.rounding > 0 else norms.words}"
        return cls(
            metric=request.metric,
            k=request.k,
            n=search.n,
            width=search.width,
            itemsize=request.array.itemsize,
            block=search.plan.block,
            first_rows=search.plan.first_rows,
            arms=request.arms,
            row_scale=request.row_scale,
            norms=norms,
            promised=Certificate(
                request.epsilon,
                request.delta,
                False,
                "exact",
                True,
                f"unconditional as long as {norms.words}",
                True,
            ),
            exact=exact_certificate(words),
            multiplied=exact_certificate(f"as long as {norms.words}"),
        )

    def result(self, record: Any, scores: Floats, positions: Ints, seconds: float) -> TopK:
        """Return the result of one query; `record` has the fields of its work."""
        reason = record.reason
        exact = _is_exact(reason, record.stage)
        rows = record.rows + self.first_rows
        numbers = record.blocks * self.block + rows * self.width
        scores, indices = self.shown(scores, positions, record.square)
        return TopK(
            scores,
            indices,
            self.certificate(reason, exact=exact),
            Work(
                numbers,
                numbers / (self.n * self.width),
                numbers * self.itemsize,
                record.stage + 1,
                rows,
                seconds,
                0,
                0,
                REASONS[reason],
            ),
            (),
            "exact" if exact else "race",
        )

    def results(self, works: Any, scores: Floats, positions: Ints, seconds: float) -> TopK:
        """Return the result of several queries; that of each is made when it is asked for."""
        # Of some queries, numbers of Python take less time than arrays do.
        count = len(works)
        shown, indices = self.shown(scores, positions, works["square"][:, None])
        reasons, stages = works["reason"].tolist(), works["stage"].tolist()
        ways = dict.fromkeys(zip(reasons, stages, strict=True))  # few, in the order of the queries
        exact = [_is_exact(*way) for way in ways]
        rows = sum(works["rows"].tolist()) + count * self.first_rows
        numbers = sum(works["blocks"].tolist()) * self.block + rows * self.width
        used = dict.fromkeys(["exact" if one else "race" for one in exact])
        choices = dict.fromkeys([REASONS[reason] for reason, _ in ways])

        def one(at: int) -> TopK:
            record = works[at : at + 1].view(np.recarray)[0]
            return self.result(_plain(record), scores[at], positions[at], seconds / count)

        return TopK(
            shown,
            indices,
            self.certificate(MULTIPLIED if MULTIPLIED in reasons else 0, exact=all(exact)),
            Work(
                numbers,
                numbers / (count * self.n * self.width),
                numbers * self.itemsize,
                sum(stages) + count,
                rows,
                seconds,
                choice="; ".join(choices),
            ),
            (),
            ", ".join(used),
            LazySequence(count, one),
        )

    def certificate(self, reason: int, *, exact: bool) -> Certificate:
        """Return what is guaranteed: a product of many queries rests on the norms, as bets do."""
        if not exact:
            return self.promised
        return self.multiplied if reason == MULTIPLIED else self.exact

    def shown(self, scores: Floats, positions: Ints, square: Any) -> tuple[Floats, Ints]:
        """Return scores and rows as a user sees them."""
        if self.metric == "cosine":
            scores = scores / np.sqrt(square)
        elif self.metric == "sqeuclidean":
            scores = -scores
        else:
            scores = scores.copy()
        return scores, positions.astype(np.int64) if self.arms is None else self.arms[positions]

    def refuse_bad(self, record: Any, epoch: int) -> None:
        """Raise what the kernels have found to be wrong."""
        if record.bad_query == epoch:
            raise ValueError("query must be finite")
        if record.bad_norm == epoch:
            row = record.bad_row if self.arms is None else int(self.arms[record.bad_row])
            raise BoundsError(
                f"data row {row} is longer than its norm, or holds values that are not finite"
            )
        if record.bad_score == epoch:
            raise ValueError(
                "data or query hold values that are not finite, or too large for a score"
            )
        if self.metric == "cosine" and record.square == 0:
            raise ValueError("metric='cosine' needs a query that is not all zeros")

    def refuse_any(self, works: Any, scores: Floats, positions: Ints, epoch: int) -> None:
        """Raise what is wrong with any of several queries; `works` is an array of their records."""
        wrong = any(
            epoch in works[name].tolist() for name in ("bad_query", "bad_norm", "bad_score")
        )
        wrong = wrong or (self.metric == "cosine" and 0 in works["square"].tolist())
        if wrong:
            for one in works.view(np.recarray):
                self.refuse_bad(one, epoch)
        if self.norms.rounding == 0:
            return
        for one, own, places in zip(works["square"], scores, positions, strict=True):
            self.refuse_long(own, places, float(one))

    def refuse_long(self, scores: Floats, positions: Ints, square: float) -> None:
        """Raise an error if a row of the answer must be longer than its norm, by Cauchy and Schwarz.

        The races notice this of the rows that they read, but not of those that are evaluated at once. Norms that
        were measured need no such check.
        """
        if self.norms.rounding == 0 or self.metric == "sqeuclidean":
            return
        rows = positions if self.arms is None else self.arms[positions]
        allowed = np.full(len(rows), math.sqrt(square))
        if self.metric != "cosine":
            allowed *= np.sqrt(self.norms.squares[rows])
        if self.row_scale is not None:
            allowed *= self.row_scale[rows]
        long = np.abs(scores) > allowed * (1 + self.norms.rounding + LEAST_EXCESS)
        if long.any():
            raise BoundsError(f"data row {rows[np.argmax(long)]} is longer than its norm")


def _is_exact(reason: int, stage: int) -> bool:
    """Return whether every arm was evaluated, or multiplied and the best of them evaluated."""
    return reason in (MULTIPLIED, SKIMMED) or (reason != 0 and stage == 0)


class _Plain(NamedTuple):
    """The part of a work record that a result needs."""

    reason: int
    rows: int
    blocks: int
    stage: int
    square: float


def _plain(record: Any) -> _Plain:
    return _Plain(
        int(record.reason),
        int(record.rows),
        int(record.blocks),
        int(record.stage),
        float(record.square),
    )
