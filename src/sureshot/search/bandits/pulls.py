"""The pulls of the bandits: with or without replacement, and what they say of each arm.

Rewards are centred, as in `bounded_me`, so that all of them lie in one interval of width R.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot._seed import generator_of
from sureshot.search import certificate
from sureshot.search.bandits.sample import Sample
from sureshot.search.budget import Budget
from sureshot.search.problem import Answer, largest
from sureshot.search.reward_limits import checked_totals
from sureshot.theory.elimination import Lists

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem, Tally

# Pulls with replacement never show which of two equal arms is better, and of two nearly equal ones
# only after very many. So an arm is read to the end rather than pulled more than this many times the
# length of its list: that costs a thousandth of what the pulls would, and ends every search.
MOST_PASSES = 1000

# Rewards that are read between two checks of the clock: some tens of milliseconds.
NUMBERS_PER_PORTION = 1 << 22
# Rewards that are asked of a function in one call, and coordinates that are drawn at once.
NUMBERS_PER_CALL = 1 << 18


class Pulls:
    """Pulls the arms of a problem, and keeps the sums.

    Means, `epsilon` and `width` are in units of the scores, divided by the length of the lists.
    Arms are given by their positions in the problem. `algorithm` is the name under which answers
    are returned.
    """

    def __init__(self, problem: Problem, rng: Rng, tally: Tally, algorithm: str) -> None:
        intervals, n_arms = problem.intervals, len(problem.arms)
        drawable = np.flatnonzero(intervals.weight > 0)
        farthest = float((problem.scale * intervals.limit).max())
        self.problem, self.tally = problem, tally
        self.budget = Budget(problem, tally, always_starts=True)
        self.replacement = problem.replacement
        self.n_rewards = len(drawable)
        self.width = 2 * float(intervals.weight.max()) * farthest
        self.range = 2 * float(intervals.weight.sum()) * farthest  # of the scores
        self.epsilon = problem.epsilon / self.n_rewards
        # A bad arm can be overestimated in as many ways as signs count, a good one underestimated in
        # one; no proof here needs both for one arm.
        self.sides = len(problem.signs)
        self.counts = np.zeros(n_arms, dtype=np.int64)
        self.scores = np.zeros(n_arms)  # estimates, or exact where `known`
        self.known = np.zeros(n_arms, dtype=np.bool_)
        self.front = 0  # without replacement: coordinates that some arm has pulled
        self._sums = np.zeros(n_arms)  # of the centred rewards
        self._constant = float(intervals.centre.sum())
        self._rng = generator_of(rng)
        self._algorithm = algorithm
        self._coordinates = drawable
        if not self.replacement:
            self._coordinates = drawable[self._rng.permutation(self.n_rewards)]

    @property
    def means(self) -> Floats:
        """The scores divided by the length of the lists."""
        return self.scores / self.n_rewards

    def too_many(self, pulls: float, positions: Ints) -> bool:
        """Return whether to read the arms to the end rather than to pull each of them so often.

        Only if the budget allows to read them.
        """
        if not self.replacement or pulls <= MOST_PASSES * self.n_rewards:
            return False
        return self.budget.allows(len(positions) * self.problem.source.n_coordinates)

    def lists(self) -> Lists | None:
        """Return what is unread of the lists if they are read without replacement."""
        return None if self.replacement else Lists(self.n_rewards, self.n_rewards - self.front)

    def add(self, positions: Ints, count: int) -> None:
        """Pull each of the arms, which have as many pulls as each other, so many times more."""
        if count == 0:
            return
        before = int(self.counts[positions[0]])
        after = before + count
        self._sums[positions] += self._pull(positions, before, count)
        self.counts[positions] = after
        self.scores[positions] = self._scores(positions, self._sums[positions] / after)
        if not self.replacement:
            self.front = max(self.front, after)
            self.known[positions] = after == self.n_rewards

    def fresh(self, positions: Ints, wanted: float) -> Sample:
        """Pull each of the arms so many times anew, or as often as budget and time allow.

        What was pulled before plays no part in the estimates; but without replacement what was read
        of a list is known, and the fresh pulls are a sample of the rest. For that all the arms are
        first brought to the same front.
        """
        unread = self.n_rewards - self.front
        if not self.replacement:
            if self.budget.late():
                return Sample(self, positions, 0, 0, unread)
            for count in np.unique(self.counts[positions]).tolist():
                behind = positions[self.counts[positions] == count]
                if not self.budget.allows(len(behind) * (self.front - count)):
                    return Sample(self, positions, 0, 0, unread)
                self.add(behind, self.front - count)
            wanted = min(wanted, unread)
        left = self.budget.left
        if left is not None:
            wanted = min(wanted, left // len(positions))
        sums, pulls, portions = np.zeros(len(positions)), 0, 0
        size = max(1, NUMBERS_PER_PORTION // len(positions))
        while pulls < wanted and not (portions and self.budget.late()):
            count = int(min(size, wanted - pulls))
            sums += self._pull(positions, self.front + pulls, count)
            pulls, portions = pulls + count, portions + 1
        if pulls:
            means = sums / pulls
            if not self.replacement:
                means = (self._sums[positions] + sums * (unread / pulls)) / self.n_rewards
                self.front += pulls
                self.known[positions] = pulls == unread
            self._sums[positions] += sums
            self.counts[positions] += pulls
            self.scores[positions] = self._scores(positions, means)
        return Sample(self, positions, pulls, portions, unread)

    def evaluate(self, positions: Ints) -> None:
        """Read arms to the end, so that their scores are exact."""
        unknown = positions[~self.known[positions]]
        if len(unknown) == 0:
            return
        problem = self.problem
        sums = problem.source.exact_scores(problem.arms[unknown])
        self.scores[unknown] = problem.scores(unknown, sums)
        self.known[unknown] = True
        self.tally.numbers_read += len(unknown) * problem.source.n_coordinates
        self.tally.exact_scores += len(unknown)

    def best_of(self, positions: Ints) -> Ints:
        """Return the one of the arms with the largest score, as an array."""
        return positions[largest(self.scores[positions], 1)]

    def answer(self, positions: Ints, reached: float | None = None, refusal: str = "") -> Answer:
        """Return these arms as the answer.

        Parameters
        ----------
        positions
            The arms.
        reached
            If the search had to stop early: the loss that can be promised, in units of `epsilon`.
        refusal
            For methods that promise nothing: that, in words.
        """
        problem, rounds = self.problem, self.tally.rounds
        if not rounds or rounds[-1].numbers_read < self.tally.numbers_read:
            self.tally.end_round(len(positions), int(self.counts[positions].max()))
        if self.known.all():
            best = largest(self.scores, problem.k)
            proved = certificate.exact_answer(problem)
            return Answer(best, self.scores[best], proved, self._algorithm)
        if not problem.source.costs.each_number_is_paid:
            self.evaluate(positions)
        scores_known = bool(self.known[positions].all())
        drawn = f"rewards were drawn {'with' if self.replacement else 'without'} replacement"
        if refusal:
            proved = certificate.no_promise(
                refusal, loss=self.range, remark=drawn, scores_known=scores_known
            )
        else:
            epsilon = problem.epsilon
            if reached is not None:
                epsilon = max(epsilon, min(reached * self.n_rewards, self.range))
            proved = certificate.promise(
                problem,
                epsilon,
                remark=drawn,
                scores_known=scores_known,
                every_position=problem.k == 1,
                early=epsilon > problem.epsilon,
            )
        return Answer(positions, self.scores[positions], proved, self._algorithm)

    def _scores(self, positions: Ints, centred_means: Floats) -> Floats:
        sums = centred_means * self.n_rewards + self._constant
        return self.problem.scores(positions, sums)

    def _pull(self, positions: Ints, before: int, count: int) -> Floats:
        """Return the sum of so many centred rewards of each arm, at the same coordinates.

        Only which they are matters, not their order, so that they are read in address order.
        """
        sums = np.zeros(len(positions))
        for start in range(before, before + count, NUMBERS_PER_CALL):
            stop = min(start + NUMBERS_PER_CALL, before + count)
            drawn: slice | Ints = slice(start, stop)
            if self.replacement:
                drawn = self._rng.integers(self.n_rewards, size=stop - start)
            sums += self._read(positions, np.sort(self._coordinates[drawn]))
        return sums

    def _read(self, positions: Ints, coordinates: Ints) -> Floats:
        """Return the sum of the centred rewards of each arm at these coordinates."""
        problem = self.problem
        centre = problem.intervals.centre[coordinates]
        self.tally.numbers_read += len(positions) * len(coordinates)
        if not problem.source.costs.each_number_is_paid:
            limit = problem.intervals.limit[positions]
            found = checked_totals(problem, positions, coordinates, limit)
            total = float(centre.sum())
            return (found.high - total) + found.low
        sums = np.zeros(len(positions))
        size = max(1, NUMBERS_PER_CALL // len(positions))
        for start in range(0, len(coordinates), size):
            some = slice(start, start + size)
            rewards = problem.source.block_sums(problem.arms[positions], coordinates[some])
            sums += (rewards - centre[some, None]).sum(axis=0)
        return sums


def trivial(problem: Problem) -> bool:
    """Return whether there is nothing to choose, or nothing to read."""
    return len(problem.arms) == problem.k or not (problem.intervals.weight > 0).any()
