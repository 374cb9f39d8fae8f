"""The race of betting elimination in plain numpy.

An arm is *active* while it is read round by round, *suspended* when the bets against it have won at
the guessed threshold, *dropped* when they have won at the exact one, *known* when its exact score has
been computed. The race is over when every arm is dropped or known.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from sureshot.errors import BoundsError
from sureshot.search import certificate
from sureshot.search.condition import estimate
from sureshot.search.problem import Answer, largest
from sureshot.search.race import costs, policy
from sureshot.search.race.ladder import Ladder
from sureshot.search.reward_limits import checked_totals, refuse_rewards
from tests.reference.estimates import Estimates
from tests.reference.evidence import Evidence
from tests.reference.order import DrawnOrder

if TYPE_CHECKING:
    from sureshot._types import Bools, Floats, Ints
    from sureshot.search.problem import Problem, Tally

# The undecided ones first.
ACTIVE, SUSPENDED, DROPPED, KNOWN = range(4)

# Under a budget the smallest stake is the best one for a search of as many steps as it affords if
# no arm is dropped; with a time limit, of this many.
STEPS_WITHIN_TIME = 100


class Race:
    """The state of one search, and the steps of its loop."""

    def __init__(
        self, problem: Problem, rng: np.random.Generator, tally: Tally, rules: policy.Policy
    ) -> None:
        n_arms = len(problem.arms)
        self.problem = problem
        self.tally = tally
        self.read_before = tally.numbers_read  # by a scan, say: not part of the budget
        self.rules = rules
        self.costs = costs.of(problem)
        self.order = DrawnOrder(problem.intervals.weight, int(rng.integers(2**63)))
        self.evidence = Evidence(problem, self.order)
        self.estimates = Estimates(problem, self.order)
        self.ladder = Ladder()
        self.log_level = math.log(problem.k) - math.log(problem.delta)
        self.evidence.floor = self._smallest_stake()
        self.status = np.full(n_arms, ACTIVE, dtype=np.int8)
        self.front = 0  # steps drawn
        self.seen_squares = np.zeros(n_arms)
        self.scores = np.full(n_arms, -np.inf)  # exact, of the known arms
        self.threshold = -math.inf
        self.guess = -math.inf
        self.block_sizes = problem.source.blocks.sums(np.ones(problem.source.n_coordinates))

    @property
    def fronts(self) -> Ints:
        """The steps read of each arm."""
        return self.estimates.steps

    def _smallest_stake(self) -> float:
        problem = self.problem
        if problem.budget is None and problem.deadline is None:
            return 0.0
        steps = STEPS_WITHIN_TIME
        if problem.budget is not None:
            steps = max(1, problem.budget // (len(problem.arms) * problem.source.blocks.size))
        return math.sqrt(2 * self.log_level / steps)

    def arms(self, status: int) -> Ints:
        """Return the positions of the arms that have the status."""
        return np.flatnonzero(self.status == status)

    def undecided(self) -> Ints:
        """Return the positions of the arms that are neither dropped nor known."""
        return np.flatnonzero(self.status <= SUSPENDED)

    def over(self) -> bool:
        """Return whether every arm is dropped or known."""
        return not (self.status <= SUSPENDED).any()

    def read_on(self) -> bool:
        """Read one more round, or as much of it as the budget allows; return whether it did."""
        active = self.arms(ACTIVE)
        if len(active) == 0:
            return self._resume()
        if self.front == self.order.length:
            # Everything has been read of them, so their exact scores cost nothing more.
            self._evaluate(active)
            return True
        start = self.front
        stop = self._next_front(len(active))
        affordable = self._affordable_numbers() // (len(active) * self.problem.source.blocks.size)
        stop = min(stop, start + affordable)
        if stop <= start:
            return False
        self.front = stop
        self.order.draw(stop)
        self.evidence.record_guess(self.guess + self.problem.epsilon, stop)
        self._read(active, start, stop)
        return True

    def _next_front(self, active: int) -> int:
        return policy.next_front(self.rules, self.costs, self.front, self.order.length, active)

    def _resume(self) -> bool:
        """Let suspended arms catch up with the front; without a threshold only the best of them.

        They read the drawn blocks in the same portions as the arms before them, and those that are
        beaten on the way are dropped there.
        """
        waiting = self.arms(SUSPENDED)
        if self.threshold == -math.inf:
            best = largest(self.estimates.of(waiting)[0], min(2 * self.problem.k, len(waiting)))
            waiting = waiting[best]
        for start, stop in self.evidence.history.portions():
            behind = waiting[(self.fronts[waiting] == start) & (self.status[waiting] != DROPPED)]
            if len(behind) == 0:
                continue
            cost = len(behind) * (stop - start) * self.problem.source.blocks.size
            if cost > self._affordable_numbers():
                return False
            self._read(behind, start, stop)
            self._drop(behind)
        # Not an arm that was dropped on the way and came back when the limit rose: it still lags.
        caught_up = (self.status[waiting] == SUSPENDED) & (self.fronts[waiting] == self.front)
        self.status[waiting[caught_up]] = ACTIVE
        return True

    def _affordable_numbers(self) -> int:
        """Return how many numbers the budget still allows."""
        if self.problem.deadline is not None and time.perf_counter() > self.problem.deadline:
            return 0
        if self.problem.budget is None:
            return np.iinfo(np.int64).max
        return max(0, self.problem.budget - (self.tally.numbers_read - self.read_before))

    def _read(self, positions: Ints, start: int, stop: int) -> None:
        """Read the drawn blocks [start, stop) of some arms, in address order."""
        problem, intervals = self.problem, self.problem.intervals
        if start == stop:
            return
        blocks = self.order.blocks[start:stop]
        by_address = np.argsort(blocks)
        drawn_order = np.argsort(by_address)
        squares = None
        if intervals.square_limit is not None:
            squares = np.empty((len(blocks), len(positions)))
        sums = problem.source.block_sums(problem.arms[positions], blocks[by_address], squares)
        sums = sums[drawn_order]
        if squares is not None:
            squares = squares[drawn_order]
        self.evidence.history.add(start, stop, positions, sums, squares)
        self.tally.numbers_read += len(positions) * int(self.block_sizes[blocks].sum())
        weight = self.order.weights[blocks, None]
        y = (sums - intervals.centre[blocks, None]) / weight
        self._check(positions, blocks, y, squares)
        self.estimates.add(positions, weight, y)

    def _check(self, positions: Ints, blocks: Ints, y: Floats, squares: Floats | None) -> None:
        """Stop if a reward breaks the limits the guarantee rests on."""
        intervals = self.problem.intervals
        if squares is not None:
            self._check_squares(positions, squares.sum(axis=0))
            return
        worst = np.abs(y).max(axis=0) if intervals.two_sided else y.max(axis=0)
        limit = self.evidence.limit[positions]
        if intervals.estimated:
            self._learn_limit(float(worst.max()))
        elif (worst > limit).any():
            at = int(np.argmax(worst > limit))
            refuse_rewards(self.problem, int(positions[at]), blocks, float(limit[at]))

    def _learn_limit(self, largest_met: float) -> None:
        """Climb the ladder of limits; dropped arms are tried again at a new limit."""
        first = self.ladder.limit == 0
        if not self.ladder.climb(largest_met):
            return
        if first:
            self.evidence.first_bet = self.front
        self.evidence.limit[:] = self.ladder.limit
        level = math.log(self.problem.k) - math.log(self.problem.delta)
        self.log_level = level - self.ladder.log_share
        self.status[self.status == DROPPED] = SUSPENDED
        self._drop(self.arms(SUSPENDED))

    def _check_squares(self, positions: Ints, squares: Floats) -> None:
        """Stop if a row turns out to have a larger norm than was promised."""
        limits = self.problem.intervals.square_limit
        self.seen_squares[positions] += squares
        if limits is None or (self.seen_squares[positions] <= limits[positions]).all():
            return
        at = int(np.argmax(self.seen_squares[positions] > limits[positions]))
        norm, limit = np.sqrt(self.seen_squares[positions[at]]), np.sqrt(limits[positions[at]])
        row = self.problem.arms[positions[at]]
        message = (
            f"data row {row} has a norm of at least {norm:.9g}, more than the {limit:.9g} which "
            f"the bounds promise, seen in block {self.order.blocks[self.fronts[positions[at]]]}: "
            "pass larger norms, or bounds='scan'"
        )
        raise BoundsError(message)

    def _known_scores(self) -> Floats:
        known: Floats = self.scores[self.status == KNOWN]
        return known

    def suspend_and_drop(self) -> None:
        """Suspend the active arms that are beaten at the guess, drop those beaten for sure."""
        active = self.arms(ACTIVE)
        estimates, errors = self.estimates.of(active)
        cautious = estimates - self.rules.caution * errors
        self.guess = policy.kth_largest(
            np.concatenate([self._known_scores(), cautious]), self.problem.k
        )
        self.guess = max(self.guess, self.threshold)
        if self.guess == -math.inf:
            return
        # The arms that seem best must stay to be evaluated: with epsilon > 0 even they are beaten.
        rivals = np.delete(active, self._candidates(estimates))
        beaten = rivals[self._beaten(rivals, self.guess)]
        self.status[beaten] = SUSPENDED
        if self.guess == self.threshold:
            self.status[beaten] = DROPPED
        else:
            self._drop(beaten)

    def _candidates(self, estimates: Floats) -> Ints:
        """Return which of the active arms are among the k best of exact scores and estimates."""
        known = self._known_scores()
        everything = np.concatenate([known, estimates])
        best = largest(everything, min(self.problem.k, len(everything)))
        return best[best >= len(known)] - len(known)

    def _beaten(self, positions: Ints, score: float) -> Bools:
        theta = score + self.problem.epsilon
        if theta == -math.inf or len(positions) == 0:
            return np.zeros(len(positions), dtype=bool)
        return self.evidence.peaks(positions, self.fronts[positions], theta) >= self.log_level

    def _drop(self, positions: Ints) -> None:
        self.status[positions[self._beaten(positions, self.threshold)]] = DROPPED

    def evaluate_candidates(self) -> None:
        """Evaluate the active arms that seem to belong to the top k, if that pays."""
        active = self.arms(ACTIVE)
        if len(active) == 0:
            return
        estimates, errors = self.estimates.of(active)
        chosen = self._candidates(estimates)
        if len(chosen) == 0:
            return
        others = np.delete(np.arange(len(active)), chosen)
        if len(others):
            next_best = int(others[np.argmax(estimates[others])])
            ahead = self._next_front(len(others)) - self.front
            pays = policy.evaluation_pays(
                self.rules,
                estimates[chosen],
                errors[chosen],
                float(estimates[next_best]),
                float(errors[next_best]),
                self.costs.row * (self.order.length - self.front),
                self.costs.step * len(others) * ahead + self.costs.round,
            )
            if not pays:
                return
        if self._affords(active[chosen]):
            self._evaluate(active[chosen])

    def _affords(self, positions: Ints) -> bool:
        """Return whether the budget allows to read these arms to the end."""
        unread = int((self.order.length - self.fronts[positions]).sum())
        return unread * self.problem.source.blocks.size <= self._affordable_numbers()

    def finish_if_hopeless(self) -> None:
        """Read the undecided arms to the end if sampling on would hardly be cheaper."""
        left = self.undecided()
        if self.threshold == -math.inf or len(left) == 0 or not self._affords(left):
            return
        theta = self.threshold + self.problem.epsilon
        needed = self.estimates.steps_needed(left, theta, self.log_level)
        unread = self.order.length - self.fronts[left]
        sampling = float(np.minimum(needed, unread).sum())
        ahead = self._next_front(len(self.problem.arms))
        length = self.order.length
        hopeless = policy.may_be_hopeless(self.rules, self.costs, self.front, ahead, length, 0)
        all_blocks = float(len(self.problem.arms) * length)
        if hopeless and policy.finishing_pays(
            self.costs, sampling, float(unread.sum()), float(len(left) * length), all_blocks, 0
        ):
            self._evaluate(left)

    def _evaluate(self, positions: Ints) -> None:
        """Compute exact scores by reading what has not been read, and raise the threshold."""
        problem, intervals = self.problem, self.problem.intervals
        constant = float(intervals.centre[intervals.weight == 0].sum())
        norms = intervals.square_limit is not None
        checked = intervals.two_sided and not norms and not intervals.estimated
        limit = self.evidence.limit if checked else np.full(len(problem.arms), np.inf)
        for front in np.unique(self.fronts[positions]):
            group = positions[self.fronts[positions] == front]
            blocks = self.order.undrawn(int(front))
            found = checked_totals(problem, group, blocks, limit[group], squares=norms)
            if found.squares is not None:
                self._check_squares(group, found.squares)
            if intervals.estimated:
                self._learn_limit(float(found.largest.max()))
            drawn = self.evidence.history.sums(group, int(front)).sum(axis=0)
            raw = found.high + found.low + drawn + constant
            self.scores[group] = self.problem.as_scores(problem.scale[group] * raw)
            self.tally.numbers_read += len(group) * int(self.block_sizes[blocks].sum())
        self.tally.exact_scores += len(positions)
        self.status[positions] = KNOWN
        before = self.threshold
        self.threshold = policy.kth_largest(self._known_scores(), problem.k)
        if self.threshold > before:
            self._drop(self.undecided())

    def end_round(self) -> None:
        """Tell where the search stands."""
        shown = None if self.threshold == -math.inf else self.threshold
        undecided, active = len(self.undecided()), len(self.arms(ACTIVE))
        self.tally.end_round(undecided, self.front, shown, active)

    def answer(self) -> Answer:
        """Return the k best known arms and what is guaranteed of them."""
        problem = self.problem
        reached = problem.epsilon
        if not self.over():
            reached = max(reached, self._stop_early())
        best = largest(self.scores, problem.k)
        if bool((self.status == KNOWN).all()):
            proved = certificate.exact_answer(problem)
        else:
            estimated = problem.intervals.estimated
            condition = estimate(self.ladder.limit) if estimated else problem.condition
            proved = certificate.promise(problem, reached, condition=condition)
        return Answer(best, self.scores[best], proved, "race")

    def _stop_early(self) -> float:
        """Evaluate the arms that seem best and return the epsilon that can be promised."""
        left = self.undecided()
        known = self._known_scores()
        everything = np.concatenate([known, self.estimates.of(left)[0]])
        seeming = largest(everything, self.problem.k)
        self._evaluate(left[seeming[seeming >= len(known)] - len(known)])
        left = self.undecided()
        if len(left) == 0:
            return 0.0
        limits = self.evidence.upper_limits(left, self.fronts[left], self.log_level)
        return float(limits.max() - self.threshold)
