"""The race of betting elimination, checked after every step against what plain numpy makes of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot._native import ACTIVE, DROPPED, KNOWN, SUSPENDED
from sureshot.search.race.race import Race
from tests.reference.estimates import estimates_of
from tests.reference.evidence import Evidence

if TYPE_CHECKING:
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Answer, Problem, Tally
    from sureshot.search.race.policy import Policy
    from tests.reference.tables import Table


class CheckedRace(Race):
    """A race that fails as soon as it differs from the table of all block sums.

    The drawn blocks, the guesses, and how far each arm was read are taken from the race; sums,
    estimates, thresholds, evidence and counts are computed anew from the table.
    """

    def __init__(
        self, table: Table, problem: Problem, rng: np.random.Generator, tally: Tally, rules: Policy
    ) -> None:
        super().__init__(problem, rng, tally, rules)
        self.table = table
        self.evidence = Evidence(table, self.order, self._floor())
        blocks = problem.source.blocks
        self.block_sizes = blocks.sums(np.ones(blocks.n_coordinates)).astype(np.int64)
        self.verdicts = {SUSPENDED: 0, DROPPED: 0}  # that were checked
        self.came_back = 0  # arms that were suspended and read on
        # Numbers read by a race that a budget has ended; some arms may have been read since its last round.
        self.raced: int | None = None

    def _floor(self) -> float:
        """Return the stake that is best for as many steps as all arms are raced for sure."""
        problem = self.problem
        if problem.budget is None:
            return 0.0
        affordable = problem.budget // (len(problem.arms) * problem.source.blocks.size)
        steps = math.floor(self.allowance.share * affordable)
        return math.sqrt(2 * math.log(problem.k / problem.delta) / steps)

    def read_on(self) -> bool:
        """Check what was read, and that no arm is left that is beaten at the threshold."""
        before = self.ledger.status.copy()
        rung, limit, guess = self.ladder.rung, self.ladder.limit, self.guess
        resumed = not (before == ACTIVE).any()
        went_on = super().read_on()
        if not went_on:
            self.raced = self.tally.numbers_read
        staked = not self.problem.intervals.estimated or limit > 0
        self.evidence.record_guess(guess + self.problem.epsilon, self.front, stakes=staked)
        self._check_limit(limit)
        self._check_level()
        self._check_sums()
        self._check_verdicts(before)
        self._check_exact_scores()
        active = self.ledger.arms_with(ACTIVE)
        assert (self.ledger.steps[active] == self.front).all()
        if resumed:
            self.came_back += len(active)
        if resumed and went_on and self.ladder.rung == rung:
            self._check_none_is_beaten()
        return went_on

    def suspend_and_drop(self) -> None:
        """Check the guess, and the evidence against every arm that was suspended or dropped."""
        before = self.ledger.status.copy()
        super().suspend_and_drop()
        active = np.flatnonzero(before == ACTIVE)
        known = self.table.scores[before == KNOWN]
        estimates, errors = self._estimates(active)
        cautious = np.concatenate([known, estimates - self.rules.caution * errors])
        expected = max(_kth_largest(cautious, self.problem.k), self.threshold)
        np.testing.assert_allclose(self.guess, expected, rtol=1e-7)
        best = np.argsort(-np.concatenate([known, estimates]))[: self.problem.k] - len(known)
        assert (self.ledger.status[active[best[best >= 0]]] == ACTIVE).all()
        self._check_verdicts(before)

    def evaluate_candidates(self) -> None:
        """Check the exact scores and the threshold."""
        super().evaluate_candidates()
        self._check_exact_scores()

    def arms_to_finish(self) -> Ints:
        """Check the arms that were dropped: the others are read to the end."""
        before = self.ledger.status.copy()
        left = super().arms_to_finish()
        self._check_exact_scores()
        self._check_verdicts(before)
        if len(left):
            np.testing.assert_array_equal(left, self.undecided())
            self._check_none_is_beaten()
        return left

    def end_round(self) -> None:
        """Check what the round reports."""
        super().end_round()
        self._check_exact_scores()
        status, info = self.ledger.status, self.tally.rounds[-1]
        assert info.numbers_read == self.numbers_expected()
        assert info.arms == np.isin(status, (ACTIVE, SUSPENDED)).sum()
        assert info.active == (status == ACTIVE).sum()
        assert info.pulls == self.front
        assert info.threshold == (self.threshold if self.threshold > -math.inf else None)

    def answer(self) -> Answer:
        """Check which arms are returned, and the epsilon of a search that a budget has ended."""
        early = not self.over()
        if self.problem.intervals.estimated:  # larger ones may have been met after the race
            self.evidence.limit[:] = self.ladder.limit
            self._check_level()
        answer = super().answer()
        self._check_exact_scores()
        known = self.ledger.arms_with(KNOWN)
        best = known[np.argsort(-self.table.scores[known])[: self.problem.k]]
        assert sorted(answer.positions) == sorted(best)
        np.testing.assert_allclose(answer.scores, self.table.scores[answer.positions], rtol=1e-12)
        assert self.tally.numbers_read == self.numbers_expected() + self._read_by_shortlist()
        if early and math.isfinite(answer.certificate.epsilon):
            self._check_ceiling(self.threshold + answer.certificate.epsilon)
        return answer

    def numbers_expected(self) -> int:
        """Return how many numbers were read: the drawn blocks of every arm, and rows read whole."""
        drawn = np.concatenate([[0], np.cumsum(self.block_sizes[self.order.blocks])])
        whole = int((self.ledger.status == KNOWN).sum()) * self.problem.source.n_coordinates
        return int(drawn[self.ledger.steps].sum()) + whole

    def _read_by_shortlist(self) -> int:
        """Return how many numbers were read of the arms that seemed best, after the race."""
        if self.raced is None or not self.tally.rounds:
            return 0
        return max(0, self.tally.rounds[-1].numbers_read - self.raced)

    def _estimates(self, positions: Ints) -> tuple[Floats, Floats]:
        return estimates_of(self.table, self.order, positions, self.ledger.steps[positions])

    def _check_sums(self) -> None:
        """Check the estimates, and the sums that they are made of."""
        read = np.flatnonzero((self.ledger.steps > 0) & (self.ledger.status != KNOWN))
        estimates, errors = self._estimates(read)
        np.testing.assert_allclose(self.ledger.estimates[read], estimates, rtol=1e-9)
        np.testing.assert_allclose(self.ledger.errors[read], errors, rtol=1e-6)

    def _check_limit(self, before: float) -> None:
        """Check the limit of the rewards where none was given."""
        if not self.problem.intervals.estimated:
            return
        read = np.flatnonzero(self.ledger.steps > 0)
        blocks, weights = self.order.blocks, -np.diff(self.order.left)
        y = np.abs(self.table.sums[np.ix_(blocks, read)]) / weights[:, None]
        y[np.arange(len(blocks))[:, None] >= self.ledger.steps[read]] = 0.0
        assert max(y.max(), before) <= self.ladder.limit
        if before == 0:
            assert self.ladder.limit >= 1.9 * y.max()
        self.evidence.limit[:] = self.ladder.limit

    def _check_level(self) -> None:
        """Check the level at which bets win: delta over k, or the share of it of the limit's rung."""
        level = math.log(self.problem.k / self.problem.delta)
        if self.problem.intervals.estimated and self.ladder.limit > 0:
            level -= self.ladder.log_share
        assert math.isclose(self.log_level, level, rel_tol=1e-12)

    def _check_verdicts(self, before: Ints) -> None:
        """Check the evidence against the arms that have been suspended or dropped since `before`."""
        after = self.ledger.status
        for verdict, score in ((SUSPENDED, self.guess), (DROPPED, self.threshold)):
            # An arm that was dropped comes back when the limit rises, without any evidence.
            beaten = np.flatnonzero((after == verdict) & (before != verdict) & (before != DROPPED))
            if len(beaten) == 0:
                continue
            assert score > -math.inf
            steps, theta = self.ledger.steps[beaten], score + self.problem.epsilon
            _, slack = self.evidence.last(beaten, steps, theta)
            peaks = self.evidence.peaks(beaten, steps, theta)
            assert (peaks >= self.log_level - slack).all()
            self.verdicts[verdict] += len(beaten)

    def _check_none_is_beaten(self) -> None:
        """Check that the bets against every undecided arm have not won at the threshold."""
        left = self.undecided()
        if self.threshold == -math.inf or len(left) == 0:
            return
        theta = self.threshold + self.problem.epsilon
        last, slack = self.evidence.last(left, self.ledger.steps[left], theta)
        # The native code keeps room above a limit rounded up: what is only just certain is not yet.
        assert not (np.isfinite(last) & (last >= self.log_level + slack)).any()

    def _check_exact_scores(self) -> None:
        known, scores = self.ledger.arms_with(KNOWN), self.table.scores
        # A score near zero is the sum of far larger terms.
        off = 1e-15 * float(np.abs(scores).max())
        np.testing.assert_allclose(self.ledger.scores[known], scores[known], 1e-12, off)
        expected = _kth_largest(scores[known], self.problem.k)
        np.testing.assert_allclose(self.threshold, expected, 1e-12, off)
        assert self.tally.exact_scores == len(known)

    def _check_ceiling(self, ceiling: float) -> None:
        """Check that all arms left are beaten at the ceiling, and not all of them well below it."""
        left = self.undecided()
        steps = self.ledger.steps[left]
        _, slack = self.evidence.last(left, steps, ceiling)
        beaten = self.evidence.peaks(left, steps, ceiling) >= self.log_level - slack
        assert (beaten | (self.evidence.certain_limits(left, steps) <= ceiling)).all()
        below = ceiling - 0.01 * (ceiling - self.threshold)
        last, slack = self.evidence.last(left, steps, below)
        assert (last < self.log_level + slack).any()


def _kth_largest(values: Floats, k: int) -> float:
    return float(np.sort(values)[-k]) if len(values) >= k else -math.inf
