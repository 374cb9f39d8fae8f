"""What a search returns: the answer, what is guaranteed about it, and what it cost."""

from __future__ import annotations

import dataclasses
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
        the true k-th best, in the units of the returned scores.
    delta
        How often that may fail, over the random order of one query. 0 when `exact`, 1 if nothing is
        promised.
    exact
        True if the score of every arm was known exactly, so that no probability is involved.
    unconditional
        True if the guarantee is proved in ``docs/theory.md`` or ``docs/bandits.md`` and rests on
        nothing estimated from the data.
    scores
        ``"exact"`` if the returned scores are exact up to rounding, ``"estimate"`` if not.
    assumption
        What the guarantee rests on, in words.
    """

    epsilon: float
    delta: float
    exact: bool
    scores: str
    unconditional: bool
    assumption: str

    def __str__(self) -> str:
        if self.exact:
            promise = "This is the exact answer: the score of every arm was computed"
        elif self.delta == 1:
            promise = "This is a guess"
        else:
            loss = "" if self.epsilon == 0 else f" within {self.epsilon:.6g} of"
            promise = f"With probability at least {1 - self.delta:.6g} this is{loss} the true top k"
        returned = "" if self.scores == "exact" else " The returned scores are estimates."
        return f"{promise}; {self.assumption}.{returned}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Work:
    """What a search cost.

    Attributes
    ----------
    numbers_read
        Rewards looked at; a number read twice counts twice.
    share
        `numbers_read` as a share of all the rewards of the searched arms.
    bytes_read
        The same in bytes of the data's element type.
    rounds
        Rounds of the search.
    exact_scores
        Arms whose exact score was computed.
    seconds
        Wall-clock time.
    pulls_paid
        Of `best_arms`: rewards that `pull` returned in this call; the others were found in the
        journal. 0 for arrays.
    """

    numbers_read: int
    share: float
    bytes_read: int
    rounds: int
    exact_scores: int
    seconds: float
    pulls_paid: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as a dictionary ready for JSON."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class RoundInfo:
    """Where a search stood at the end of one round.

    Attributes
    ----------
    query
        Position of the query in the call; 0 for a single query.
    round
        Number of the round, from 1.
    arms
        Arms that were still undecided after the round.
    active
        Those of them that are still being read; the others seem beaten and wait for a threshold.
    pulls
        Rewards pulled so far of each active arm; of the leader pulled most, where arms are pulled
        unequally often.
    numbers_read
        Numbers read so far in this search.
    threshold
        The k-th best exactly known score so far, if there is one.
    """

    query: int
    round: int
    arms: int
    active: int
    pulls: int
    numbers_read: int
    threshold: float | None

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
        What is guaranteed. For several queries: what holds for each of them alone.
    work
        What it cost, added up over the queries.
    rounds
        One entry per round, query after query.
    queries
        The result of each query on its own; for a single query, this result itself.
    """

    scores: Floats
    indices: Ints
    certificate: Certificate
    work: Work
    rounds: tuple[RoundInfo, ...]
    _queries: tuple[TopK, ...] = field(default=())

    def __post_init__(self) -> None:
        # Frozen means frozen: an answer that travels with a certificate must not be edited.
        self.scores.setflags(write=False)
        self.indices.setflags(write=False)

    @property
    def queries(self) -> tuple[TopK, ...]:
        """The result of each query on its own."""
        return self._queries or (self,)

    def __reduce__(self) -> tuple[type[TopK], tuple[Any, ...]]:
        # Through the constructor, so that what arrives elsewhere is frozen too.
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
        """Return everything as a dictionary ready for JSON."""
        return {
            "scores": self.scores.tolist(),
            "indices": self.indices.tolist(),
            "certificate": self.certificate.to_dict(),
            "work": self.work.to_dict(),
            "rounds": [info.to_dict() for info in self.rounds],
            "queries": [query.to_dict() for query in self._queries],
        }

    def plot(self, axes: Any = None) -> Any:
        """Draw the elimination race: how many arms were left as numbers were read.

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


def stack(results: Sequence[TopK], seconds: float) -> TopK:
    """Put the results of several queries, which took so long together, into one."""
    certificates = [result.certificate for result in results]
    works = [result.work for result in results]
    certificate = Certificate(
        epsilon=max(one.epsilon for one in certificates),
        delta=max(one.delta for one in certificates),
        exact=all(one.exact for one in certificates),
        scores="exact" if all(one.scores == "exact" for one in certificates) else "estimate",
        unconditional=all(one.unconditional for one in certificates),
        assumption="; ".join(dict.fromkeys(one.assumption for one in certificates)),
    )
    work = Work(
        numbers_read=sum(one.numbers_read for one in works),
        share=sum(one.share for one in works) / len(works),
        bytes_read=sum(one.bytes_read for one in works),
        rounds=sum(one.rounds for one in works),
        exact_scores=sum(one.exact_scores for one in works),
        seconds=seconds,
    )
    return TopK(
        scores=np.stack([result.scores for result in results]),
        indices=np.stack([result.indices for result in results]),
        certificate=certificate,
        work=work,
        rounds=tuple(info for result in results for info in result.rounds),
        _queries=tuple(results),
    )
