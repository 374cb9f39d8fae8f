"""Questions that depend on earlier answers: one generator, one delta, one certificate for all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import sureshot
from sureshot.solvers.products import dot

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# Where an atom's neighbour in memory is that of another atom, so many samples are read together: to bet on
# the sum of them costs little more than to bet on one, and residuals are hardly ever seen in a single sample.
SAMPLES_AT_ONCE = 16
# Where an atom lies in one piece, a question that had to read more than this share of the numbers is followed by one
# that reads two cache lines together: for so many samples the second line, which costs less than the first, pays.
LARGE_SHARE = 0.05
TWO_LINES = 128  # bytes
# When two questions in a row were sampled in vain, the next ones are answered exactly at once: so many at most
# before sampling is tried again.
LONGEST_WAIT = 16


@dataclass(frozen=True)
class PathCertificate:
    """What is guaranteed about all answers of a path together.

    Attributes
    ----------
    claim
        What holds, in words.
    delta
        The probability, over the random orders of all questions, that it does not: the sum of the shares
        of those answers that were not exact.
    exact
        True if every answer was exact, so that no probability is involved.
    unconditional
        True if the guarantee of every answer is.
    assumption
        What the guarantee assumes, in words.
    questions
        How many questions were asked.
    """

    claim: str
    delta: float
    exact: bool
    unconditional: bool
    assumption: str
    questions: int

    def __str__(self) -> str:
        if self.exact:
            return f"This is certain: {self.claim}; {self.assumption}."
        return f"With probability at least {1 - self.delta:.6g} {self.claim}; {self.assumption}."


@dataclass(frozen=True, eq=False, kw_only=True)
class Solution:
    """What a solver has found: coefficients of atoms, and what is known of them.

    Attributes
    ----------
    coef
        The coefficient of every atom, most of them 0.
    certificate
        What is guaranteed about the whole path.
    work
        What the searches cost, including the scan.
    answers
        The search of each question, in the order in which they were asked.
    """

    coef: NDArray[np.float64]
    certificate: PathCertificate
    work: sureshot.Work
    answers: Sequence[sureshot.TopK]


class Path:
    """Asks for the best atom again and again.

    The query of a question depends on earlier answers, and these on earlier random orders. So every
    question has an order of its own, drawn from one generator: given all that was before, its answer is wrong with a
    probability of at most its share of delta. The shares add up to at most delta, so that with probability 1 - delta all
    answers are right (docs/theory.md, Theorem 19).

    Parameters
    ----------
    atoms
        One atom in each row.
    metric, bounds, method, rng, threads
        As in `sureshot.top_k`; ``bounds="scan"`` reads all atoms once, before the first question.
    delta
        Allowed probability that any answer is wrong.
    questions
        The most that will be asked, if known: each then has the same share of delta.
    about
        Otherwise about how many there will be: so many have equal shares of one half of delta. Of the other half, or of all
        of delta if that is not known either, the t-th question has 1 / (t (t + 1)).
    """

    def __init__(
        self,
        atoms: NDArray[Any],
        *,
        metric: str,
        delta: float,
        questions: int | None,
        bounds: Any,
        method: str,
        rng: Any,
        threads: int | None,
        about: int | None = None,
    ) -> None:
        self.atoms = atoms
        self.answers: list[sureshot.TopK] = []
        self._scanned = isinstance(bounds, str) and bounds == "scan"
        self._bounds = sureshot.scan(atoms, threads=threads) if self._scanned else bounds
        self._delta, self._questions, self._about, self._spent = delta, questions, about, 0.0
        self._in_vain = self._waiting = 0
        self._options: dict[str, Any] = {"metric": metric, "method": method, "threads": threads}
        self._in_pieces = abs(atoms.strides[0]) >= abs(atoms.strides[1])
        if method == "betting" and not self._in_pieces:
            self._options["block"] = SAMPLES_AT_ONCE
        self._generator = np.random.default_rng(rng)

    def expected_score(self, signal: NDArray[np.float64], n_atoms: int) -> float | None:
        """Return what the best score is about, if a signal is made of so many atoms in equal parts."""
        norms = self._bounds.norms if isinstance(self._bounds, sureshot.Bounds) else None
        usual = 1.0 if norms is None else float(np.median(np.asarray(norms, dtype=np.float64)))
        expected = usual * math.sqrt(dot(signal, signal) / n_atoms)
        return expected if math.isfinite(expected) else None

    def ask(
        self, query: NDArray[np.float64], epsilon: float = 0.0, expected: float | None = None
    ) -> sureshot.TopK:
        """Return the best atom for a query, up to a loss.

        Its score is expected to be as given, or else about what the last best score was: that changes little from one
        question to the next.
        """
        share = self._share(len(self.answers) + 1)
        if expected is None and self.answers:
            expected = float(self.answers[-1].scores[0])
        answer = sureshot.top_k(
            self.atoms,
            query,
            1,
            epsilon=epsilon,
            delta=share,
            bounds=self._bounds,
            rng=self._generator,
            expected_score=expected,
            **(self._options | ({"method": "exact"} if self._waiting else {})),
        )
        self.answers.append(answer)
        self._learn(answer)
        if not answer.certificate.exact:
            self._spent += share
        return answer

    def _share(self, t: int) -> float:
        """Return the share of delta that the t-th question has; those of all questions add up to at most delta."""
        if self._questions is not None:
            return self._delta / self._questions
        shrinking = self._delta / (t * (t + 1))
        if self._about is None:
            return shrinking
        return (shrinking + (self._delta / self._about if t <= self._about else 0.0)) / 2

    def _learn(self, answer: sureshot.TopK) -> None:
        """Find out from an answer whether to sample next time, and in what blocks: neighbouring questions are alike."""
        if self._waiting:
            self._waiting -= 1
        elif answer.work.share < 1 or self._options["method"] != "betting":
            self._in_vain = 0
            if self._in_pieces and self._options["method"] == "betting":
                much = answer.work.share > LARGE_SHARE
                self._options["block"] = TWO_LINES // self.atoms.itemsize if much else None
        else:
            self._in_vain += 1
            self._waiting = min(2**self._in_vain // 4, LONGEST_WAIT)

    def certificate(self, claim: str) -> PathCertificate:
        """Return what is guaranteed if all answers are right."""
        every = [answer.certificate for answer in self.answers]
        words = list(dict.fromkeys(one.assumption for one in every)) or ["nothing was asked"]
        return PathCertificate(
            claim=claim,
            delta=self._spent,
            exact=all(one.exact for one in every),
            unconditional=all(one.unconditional for one in every),
            assumption=words[0] if len(words) == 1 else _several(words),
            questions=len(every),
        )

    def work(self) -> sureshot.Work:
        """Return what all questions cost, the scan with them; the share is one of what exact answers would read."""
        works = [answer.work for answer in self.answers]
        scanned = self.atoms.size if self._scanned else 0
        read = scanned + sum(one.numbers_read for one in works)
        return sureshot.Work(
            numbers_read=read,
            share=read / (self.atoms.size * max(1, len(works))),
            bytes_read=read * self.atoms.itemsize,
            rounds=sum(one.rounds for one in works),
            exact_scores=sum(one.exact_scores for one in works),
            seconds=sum(one.seconds for one in works),
            numbers_scanned=scanned,
        )


def _several(words: list[str]) -> str:
    """Return what different answers assume, in one sentence: all of it, or how much there is."""
    if len(words) <= 3:
        return "; and ".join(words)
    return f"{words[0]}; and so on: the assumptions of all answers, {len(words)} different ones"
