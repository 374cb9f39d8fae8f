"""What a search returns: the answer, what is guaranteed about it, and what it cost."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sureshot._types import Array, Floats, Ints


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is guaranteed about an answer, and under which assumption.

    Attributes
    ----------
    epsilon
        With probability at least ``1 - delta`` the k-th best returned arm is within this much of
        the true k-th best, in the units of the returned scores. With `every_position` the j-th
        best is within it of the true j-th best, for all j up to k at once; where epsilon is 0, the
        answer is the true top k, up to ties. Infinite if nothing is guaranteed.
    delta
        The probability, over the random order of one query, that this fails. 0 if `exact`, 1 if nothing
        is guaranteed.
    exact
        True if the score of every arm was computed, exactly or as far as it takes to prove that others are
        better, so that no probability is involved. `assumption` may still name a condition, such as how
        numpy rounds.
    unconditional
        True if the guarantee is proved in ``docs/theory.md`` or ``docs/bandits.md`` and uses nothing
        estimated from the data.
    scores
        ``"exact"`` if the returned scores are exact up to rounding, ``"estimate"`` if not.
    assumption
        What the guarantee assumes, in words.
    every_position
        True if the guarantee holds for every position, as for betting elimination and exact answers;
        False if it holds for the k-th position only, as for the other methods.
    early
        True if a budget ended the search: epsilon is then proved for all arms, and usually far larger
        than the loss.
    limit
        Where no bounds were given: an estimated limit. The guarantee holds if no unread normalised block
        sum exceeds it. None if no such limit is assumed. For several queries the smallest of their
        limits, which is valid for all of them.

    Examples
    --------
    >>> import numpy as np
    >>> import sureshot
    >>> found = sureshot.top_k(np.eye(5), [0, 0, 0, 2, 1], k=2)
    >>> print(found.certificate)
    This is the exact answer: the score of every arm was computed; no assumption is needed.
    """

    epsilon: float
    delta: float
    exact: bool
    scores: str
    unconditional: bool
    assumption: str
    every_position: bool = False
    early: bool = False
    limit: float | None = None

    def __str__(self) -> str:
        if self.exact:
            promise = "This is the exact answer: the score of every arm was computed"
        elif self.delta == 1:
            promise = "This is a guess"
        else:
            promise = f"With probability at least {1 - self.delta:.6g} {self._answer()}"
            if self.early:
                promise += " (this is proved of all arms; the loss is as a rule far smaller)"
        returned = "" if self.scores == "exact" else " The returned scores are estimates."
        return f"{promise}; {self.assumption}.{returned}"

    def _answer(self) -> str:
        if self.every_position:
            loss = "" if self.epsilon == 0 else f"within {self.epsilon:.6g} of "
            return f"this is {loss}the true top k, position by position"
        loss = "as good as" if self.epsilon == 0 else f"within {self.epsilon:.6g} of"
        return f"the last of these is {loss} the true k-th best"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON; an infinite epsilon becomes None."""
        content = dataclasses.asdict(self)
        content["epsilon"] = self.epsilon if math.isfinite(self.epsilon) else None
        return content


@dataclass(frozen=True, slots=True)
class Work:
    """What a search cost.

    Attributes
    ----------
    numbers_read
        Rewards that were read; a number read twice counts twice.
    numbers_scanned
        The part of `numbers_read` that ``bounds="scan"`` has read before the first query: all numbers of
        the searched arms once, and those of a sample of the arms once more.
    share
        `numbers_read` as a share of all the rewards of the searched arms.
    bytes_read
        The same in bytes of the data's element type.
    rounds
        Rounds of the search.
    exact_scores
        Arms whose exact score was computed.
    seconds
        Wall-clock time. The times of the queries of a batch add up to the time of the batch: work for
        several queries at once is divided evenly, and while queries are searched at the same time,
        the time that passes is divided in proportion to the time that each takes.
    pulls_paid
        Of `best_arms`: rewards that `pull` returned in this call; the others were found in the
        journal. 0 for arrays.
    choice
        How the search went about it and why, in words, where it had a choice: a race, every arm
        evaluated, or a matrix product. Empty where the method leaves none.

    Examples
    --------
    >>> import numpy as np
    >>> import sureshot
    >>> found = sureshot.top_k(np.eye(5), [0, 0, 0, 2, 1], k=2)
    >>> found.work.numbers_read, found.work.share
    (25, 1.0)
    """

    numbers_read: int
    share: float
    bytes_read: int
    rounds: int
    exact_scores: int
    seconds: float
    pulls_paid: int = 0
    numbers_scanned: int = 0
    choice: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class RoundInfo:
    """The state of a search at the end of one round.

    Attributes
    ----------
    query
        Position of the query in the call; 0 for a single query.
    round
        Number of the round, from 1.
    arms
        Arms that were still undecided after the round.
    active
        The undecided arms that are still read; the others are suspended until the threshold is known.
    pulls
        Rewards pulled so far of each active arm; where arms are pulled unequally often, the largest
        number among the leaders.
    numbers_read
        Numbers read so far in this search.
    threshold
        The k-th best exactly known score so far, if there is one.
    epsilon
        The certificate so far: if the search ended now, the arms that seem best would be within this much
        of the true ones, with the same probability as at the end. None where a search does not say so.

    Examples
    --------
    >>> import numpy as np
    >>> import sureshot
    >>> rounds = []
    >>> found = sureshot.top_k(np.eye(5), [0, 0, 0, 2, 1], k=2, progress=rounds.append)
    >>> rounds[-1].arms, rounds[-1].threshold
    (0, 1.0)
    """

    query: int
    round: int
    arms: int
    active: int
    pulls: int
    numbers_read: int
    threshold: float | None
    epsilon: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class ScanInfo:
    """How far a scan has come.

    Attributes
    ----------
    rows
        Rows that are done, including those of an interrupted scan that is continued.
    all_rows
        Rows of the data.
    numbers_read
        Numbers that this call has read so far, including the sample at its beginning.

    Examples
    --------
    >>> import numpy as np
    >>> import sureshot
    >>> done = []
    >>> bounds = sureshot.scan(np.eye(5), progress=done.append)
    >>> done[-1].rows, done[-1].all_rows
    (5, 5)
    """

    rows: int
    all_rows: int
    numbers_read: int

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TopK:
    """The best arms of one query, or of several.

    Unpacks as ``scores, indices = result``.

    Attributes
    ----------
    scores
        Best first, ties by the smaller index. Shape (k,), or (queries, k) for several queries.
    indices
        Rows of the data, int64, same shape.
    certificate
        What is guaranteed. For several queries: what holds for each query, in one sentence; `queries`
        has the certificate of each.
    work
        What it cost, added up over the queries.
    rounds
        One entry per round, query after query.
    algorithm
        Which algorithm found the answer, since a method may leave a problem to another one.
        ``"race"``: the race of ``method="betting"``. ``"leaders"``: what that method does instead
        with at most 512 arms and expensive pulls; scores may be estimates. ``"exact"``: every arm
        was read to the end, because the user asked for it or sampling gains nothing. Otherwise the name of
        the method. Of several queries all that were used, separated by commas; each has its own in
        `queries`.
    queries
        The result of each query on its own; for a single query, this result itself.

    Examples
    --------
    >>> import numpy as np
    >>> import sureshot
    >>> scores, indices = sureshot.top_k(np.eye(5), [0, 0, 0, 2, 1], k=2)
    >>> scores.tolist(), indices.tolist()
    ([2.0, 1.0], [3, 4])
    """

    scores: Floats
    indices: Ints
    certificate: Certificate
    work: Work
    rounds: Sequence[RoundInfo]
    algorithm: str
    _queries: Sequence[TopK] = field(default=())

    def __post_init__(self) -> None:
        # The arrays are read-only, too: an answer must not change after its certificate was made.
        self.scores.setflags(write=False)
        self.indices.setflags(write=False)

    @property
    def queries(self) -> Sequence[TopK]:
        """The result of each query on its own."""
        return self._queries or (self,)

    def __reduce__(self) -> tuple[type[TopK], tuple[Any, ...]]:
        # Through the constructor, so that an unpickled result is read-only, too.
        return TopK, tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def __iter__(self) -> Iterator[Array]:
        return iter((self.scores, self.indices))

    def __repr__(self) -> str:
        shown = np.array2string
        return (
            f"TopK(scores={shown(self.scores, precision=6, threshold=20)},\n"
            f"     indices={shown(self.indices, threshold=20)},\n"
            f"     read {self.work.numbers_read:,} numbers ({self.work.share:.3%}) "
            f"in {self.work.rounds} rounds, {self.work.seconds:.3g} s.\n"
            f"     {self.certificate})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary ready for JSON.

        For several queries ``"queries"`` has one such dictionary for each, with its rounds; for a single
        query it is empty, and ``"rounds"`` has the rounds.
        """
        content = {
            "scores": self.scores.tolist(),
            "indices": self.indices.tolist(),
            "algorithm": self.algorithm,
            "certificate": self.certificate.to_dict(),
            "work": self.work.to_dict(),
            "queries": [query.to_dict() for query in self._queries],
        }
        if not self._queries:
            content["rounds"] = [info.to_dict() for info in self.rounds]
        return content

    def plot(self, axes: Any = None) -> Any:
        """Draw the elimination: how many arms were left as numbers were read.

        Parameters
        ----------
        axes
            A matplotlib ``Axes`` to draw on; a new figure if not given.

        Returns
        -------
        matplotlib.axes.Axes
            The axes drawn on.
        """
        from sureshot._plot import elimination_race  # noqa: PLC0415 - matplotlib is an extra

        return elimination_race(self, axes)


def unless_beyond(limit: float) -> str:
    """Return, in words, the assumption that no unread block sum exceeds an estimated limit."""
    return (
        f"unless some normalised block sum that was not read exceeds {limit:.6g} "
        "(an estimate, since no bounds were given)"
    )


def share_time(results: Sequence[TopK], seconds: float) -> list[TopK]:
    """Divide the part of the seconds of a call that no query has counted evenly among its queries."""
    rest = (seconds - sum(one.work.seconds for one in results)) / len(results)
    return [
        dataclasses.replace(
            one, work=dataclasses.replace(one.work, seconds=one.work.seconds + rest)
        )
        for one in results
    ]


def stack(results: Sequence[TopK]) -> TopK:
    """Put the results of several queries into one."""
    certificates = [result.certificate for result in results]
    works = [result.work for result in results]
    certificate = Certificate(
        epsilon=max(one.epsilon for one in certificates),
        delta=max(one.delta for one in certificates),
        exact=all(one.exact for one in certificates),
        scores="exact" if all(one.scores == "exact" for one in certificates) else "estimate",
        unconditional=all(one.unconditional for one in certificates),
        assumption=_assumption_of_each(certificates),
        every_position=all(one.every_position for one in certificates),
        early=any(one.early for one in certificates),
        limit=min((one.limit for one in certificates if one.limit is not None), default=None),
    )
    work = Work(
        numbers_read=sum(one.numbers_read for one in works),
        share=sum(one.share for one in works) / len(works),
        bytes_read=sum(one.bytes_read for one in works),
        rounds=sum(one.rounds for one in works),
        exact_scores=sum(one.exact_scores for one in works),
        seconds=sum(one.seconds for one in works),
        numbers_scanned=sum(one.numbers_scanned for one in works),
        choice=_of_each([one.choice for one in works]),
    )
    return TopK(
        scores=np.stack([result.scores for result in results]),
        indices=np.stack([result.indices for result in results]),
        certificate=certificate,
        work=work,
        rounds=tuple(info for result in results for info in result.rounds),
        algorithm=", ".join(dict.fromkeys(result.algorithm for result in results)),
        _queries=tuple(results),
    )


def _assumption_of_each(certificates: Sequence[Certificate]) -> str:
    """Return in one sentence what the guarantee of each of several queries assumes."""
    limits = [one.limit for one in certificates if one.limit is not None]
    beyond = ""
    if limits:
        beyond = unless_beyond(max(limits))
        if min(limits) < max(limits):
            beyond = (
                "unless some normalised block sum that was not read exceeds the limit of that query, "
                f"{min(limits):.6g} to {max(limits):.6g} (estimates, since no bounds were given)"
            )
    return _of_each([one.assumption if one.limit is None else beyond for one in certificates])


def _of_each(sentences: Sequence[str]) -> str:
    """Return what is said of several queries, each of them alone, in one sentence."""
    shared = Counter(sentences)
    if len(shared) == 1:
        return sentences[0]
    return "; ".join(
        f"for {count:,} of {len(sentences):,} queries: {words or 'no choice'}"
        for words, count in shared.items()
    )
