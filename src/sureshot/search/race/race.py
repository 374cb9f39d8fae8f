"""The race of betting elimination: what has become of each arm, and what is done next.

An arm is *active* while it is read round by round, *suspended* when the bets against it have won at
the guessed threshold, *dropped* when they have won at the exact one, *known* when its exact score has
been computed. The race is over when every arm is dropped or known.

All that costs time for each arm is done by the native ledger, which keeps what was read of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sureshot import _native
from sureshot._native import ACTIVE, DROPPED, KNOWN, SUSPENDED
from sureshot._seed import generator_of, seed_from
from sureshot.search import certificate
from sureshot.search.best import Best
from sureshot.search.budget import Budget
from sureshot.search.condition import estimate
from sureshot.search.problem import Answer, largest
from sureshot.search.race import policy
from sureshot.search.race.allowance import Allowance
from sureshot.search.race.coming_back import bring_back
from sureshot.search.race.constants import BET_CONSTANTS, prediction_rules
from sureshot.search.race.costs import costs_of
from sureshot.search.race.ladder import Ladder
from sureshot.search.race.reading import Reading, blocks_of_scores
from sureshot.search.race.remaining import arms_to_finish, much_is_spent
from sureshot.search.reward_limits import refuse_arm
from sureshot.theory.rounding import rounding_share

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Floats, Ints
    from sureshot.search.problem import Problem, Tally


class Race:
    """The state of one search, and the steps of its loop."""

    def __init__(self, problem: Problem, rng: Rng, tally: Tally, rules: policy.Policy) -> None:
        intervals = problem.intervals
        self.problem = problem
        self.tally = tally
        self.budget = Budget(problem, tally)
        self.rules = rules
        self.weight = np.ascontiguousarray(intervals.weight)
        self.centre = np.ascontiguousarray(intervals.centre)
        self.estimated = intervals.estimated
        self.rng = generator_of(rng)
        self.order = _native.Order(self.weight, seed_from(self.rng))
        blocks = problem.source.blocks
        of_scores = blocks_of_scores(problem.source, self.order)
        count = blocks.count if of_scores is None else len(of_scores)
        self.costs = costs_of(
            problem.source.costs,
            len(problem.arms),
            blocks_per_step=count / self.order.length,
            of_scores=of_scores,
            norms=intervals.square_limit is not None,
        )
        self.allowance = Allowance(self)
        self.ladder = Ladder()
        self.log_level = math.log(problem.k) - math.log(problem.delta)
        self.ledger = _native.Ledger(
            problem.scale,
            np.zeros(len(problem.arms)) if self.estimated else intervals.limit,
            intervals.square_limit,
            centres=float(self.centre.sum()),
            magnitude=intervals.magnitude,
            weights=float(self.order.left[0]),
            rounding=rounding_share(blocks.n_coordinates, blocks.size),
            floor=self._smallest_stake(),
            estimated=self.estimated,
            two_sided=intervals.two_sided,
            both_signs=len(problem.signs) == 2,
            constants=BET_CONSTANTS,
            rules=prediction_rules(rules),
        )
        self.reading = Reading(problem, self.order, self.ledger, of_scores)
        self.fronts = [0]  # steps drawn at the end of each round
        self.steps_read = 0  # of all arms together
        self.excluded = 0  # arms that a screen proved not to be among the k best
        self.threshold = -math.inf
        self.guess = self._first_guess()
        self.highest_guess = self.guess  # at which an arm may have been suspended
        # Up to where the active arms are read next, while none of them is judged or evaluated.
        self.next_stop: int | None = None
        self.next_look = (
            0.0  # the steps of all arms before which it is asked again whether to give up
        )
        self.survey: _native.Survey | None = None
        # Where rows are expensive: the steps of some first rounds, and the estimates that these make.
        self.first_estimates: tuple[int, Floats] | None = None
        self.put_off = self._put_off()

    def _put_off(self) -> int:
        """Suspend arms, unread, that may turn out to be too short for any threshold; return how many."""
        problem, limits = self.problem, self.problem.score_limits
        if limits is None or self.allowance.limited:
            return 0
        least = policy.limit_to_begin(self.rules, self.costs, limits, problem.k, self.order.length)
        if least is None:
            return 0
        waiting = limits < least
        self.ledger.status[waiting] = SUSPENDED
        return int(np.count_nonzero(waiting))

    def _first_guess(self) -> float:
        """Return the expected score, if norms allow one so large: then it can be bet on from the first step on."""
        expected = self.problem.expected_score
        limits = None if expected == -math.inf else self.problem.score_limits
        if limits is None:
            return -math.inf
        largest_score = math.sqrt(self.order.left[0]) * float(limits.max())
        return expected if expected <= largest_score else -math.inf

    @property
    def front(self) -> int:
        """The steps drawn so far."""
        return self.fronts[-1]

    def _smallest_stake(self) -> float:
        problem = self.problem
        if not self.allowance.limited:
            return 0.0
        steps = policy.STEPS_WITHIN_TIME
        if problem.budget is not None:
            affordable = problem.budget // (len(problem.arms) * problem.source.blocks.size)
            steps = max(1, math.floor(self.allowance.share * affordable))
        return math.sqrt(2 * self.log_level / steps)

    def cost_of_visits(self) -> float:
        """Return what it has cost to come back to the arms, where that counts: by column, where steps cost little."""
        if not self.problem.source.coordinate_major:
            return 0.0
        return self.tally.visits * self.costs.visit

    def reach(self) -> float:
        """Return the largest score that a typical limit allows, above the centres; 0 with norms, which set none."""
        if self.problem.intervals.square_limit is not None:
            return 0.0
        limit = self.ladder.limit if self.estimated else np.median(self.problem.intervals.limit)
        return float(self.order.left[0]) * float(limit)

    def undecided(self) -> Ints:
        """Return the positions of the arms that are neither dropped nor known."""
        return np.flatnonzero(self.ledger.status <= SUSPENDED)

    def over(self) -> bool:
        """Return whether every arm is dropped or known."""
        return self.ledger.n_undecided == 0

    def read_on(self) -> bool:
        """Read one more round, or as much of it as the budget allows; return whether it did."""
        self.survey = None
        active = self.ledger.n_active
        if active == 0:
            return self._resume()
        if self.front == self.order.length:
            # Everything has been read of them, so their exact scores cost nothing more.
            self.evaluate(self.ledger.arms_with(ACTIVE))
            return True
        start = self.front
        stop = self._end_of_round(active)
        stop = min(stop, start + self.allowance.steps(self, active))
        if stop <= start:
            return False
        self.next_stop = None
        met = self.reading.read_on(
            self.centre,
            start,
            stop,
            self.guess + self.problem.epsilon,
            # Before a limit is known, nothing can be staked.
            stakes=not self.estimated or self.ladder.limit > 0,
        )
        self.fronts.append(stop)
        self._take_in(met, active, start, stop)
        if (
            stop >= self.rules.fewest_steps
            and self.first_estimates is None
            and self.costs.first_row
        ):
            self.first_estimates = stop, self.ledger.estimates.copy()
        return True

    def _next_front(self, active: int) -> int:
        return policy.next_front(
            self.rules,
            self.costs,
            self.front,
            self.order.length,
            active,
            guessed=self.guess > -math.inf,
        )

    def _end_of_round(self, active: int) -> int:
        """Return up to where that many arms are read next."""
        if self.next_stop is None:
            self.next_stop = self._next_front(active)
            if self.guess <= self.threshold:
                # Where hardly an arm will be beaten there is nothing to look for.
                predicted = self.ledger.predicted_front(self.rules.few_beaten, self.log_level)
                leap = policy.predicted_front(
                    self.rules, self.costs, self.front, self.order.length, predicted
                )
                self.next_stop = max(self.next_stop, leap)
        return self.next_stop

    def _resume(self) -> bool:
        """Drop suspended arms, and let those that are left catch up with the front.

        Without a threshold only the best of them.
        """
        ledger = self.ledger
        self.drop(ledger.arms_with(SUSPENDED))
        waiting = ledger.arms_with(SUSPENDED)
        self.put_off = 0
        if self.threshold == -math.inf:
            best = largest(ledger.estimates[waiting], min(2 * self.problem.k, len(waiting)))
            waiting = np.sort(waiting[best])
        return self.catch_up(waiting)

    def catch_up(self, waiting: Ints, guess: float | None = None) -> bool:
        """Read suspended arms up to the front; return whether the budget allowed it.

        They read the drawn blocks in the same portions as the arms before them, and those that are
        beaten on the way are dropped there, or suspended if it is at a guess. Where much has been spent they wait
        after a portion, until it was asked whether to give up.
        """
        ledger, read = self.ledger, False
        ledger.status[waiting] = ACTIVE
        for start, stop in zip(self.fronts, self.fronts[1:], strict=False):
            there = (ledger.steps[waiting] == start) & (ledger.status[waiting] == ACTIVE)
            behind = waiting[there]
            if len(behind) == 0:
                continue
            slow = self._slowest(behind, start, stop)
            if len(slow) and self.affords(slow):
                self.evaluate(slow)
                behind = behind[ledger.status[behind] == ACTIVE]
                if len(behind) == 0:
                    continue
            steps = len(behind) * (stop - start)
            affordable = self.budget.allows(steps * self.problem.source.blocks.size)
            if not affordable or (read and much_is_spent(self, steps)):
                ledger.status[waiting[ledger.status[waiting] == ACTIVE]] = SUSPENDED
                return affordable
            self._read(behind, start, stop)
            read = True
            if guess is None:
                self.drop(behind)
            else:
                self.judge(behind, guess, SUSPENDED)
        return True

    def _read(self, positions: Ints, start: int, stop: int) -> None:
        """Read the drawn blocks [start, stop) of some arms and bet on them."""
        self._take_in(self.reading.bet_on(positions, start, stop), len(positions), start, stop)

    def _take_in(self, met: _native.Met, arms: int, start: int, stop: int) -> None:
        """Count the drawn blocks [start, stop) that were read of so many arms; refuse or learn what was met."""
        self.steps_read += arms * (stop - start)
        self.tally.visits += arms
        self.tally.numbers_read += arms * self.reading.numbers_in(start, stop)
        if met.outside >= 0:
            refuse_arm(self.problem, met.outside, self.order.blocks[:stop], start)
        if self.estimated:
            self.learn_limit(met.largest)

    def learn_limit(self, largest_met: float) -> None:
        """Climb the ladder of limits; dropped arms are tried again at a new limit."""
        if not self.ladder.climb(largest_met):
            return
        self.ledger.raise_limit(self.ladder.limit)
        level = math.log(self.problem.k) - math.log(self.problem.delta)
        self.log_level = level - self.ladder.log_share
        status = self.ledger.status
        status[status == DROPPED] = SUSPENDED

    def known_scores(self) -> Floats:
        """Return the exact scores that have been computed."""
        known: Floats = self.ledger.scores[self.ledger.arms_with(KNOWN)]
        return known

    def suspend_and_drop(self) -> None:
        """Suspend the active arms that are beaten at the guess, or drop them if it is no guess."""
        problem = self.problem
        self.survey = self.ledger.take_stock(
            problem.team,
            problem.k,
            self.rules.caution,
            self.threshold,
            problem.epsilon,
            self.log_level,
        )
        self.guess = self.survey.guess
        self.highest_guess = max(self.highest_guess, self.guess)

    def judge(self, positions: Ints, score: float, beaten: int) -> None:
        """Give those of the arms another status against which the bets win at a score."""
        theta = score + self.problem.epsilon
        self.ledger.judge(self.problem.team, positions, theta, self.log_level, beaten)

    def drop(self, positions: Ints) -> None:
        """Drop those of the arms that are beaten for sure."""
        self.next_stop = None
        if self.threshold > -math.inf and len(positions):
            self.judge(positions, self.threshold, DROPPED)

    def evaluate_candidates(self) -> None:
        """Evaluate the active arms that seem to belong to the top k, if that pays."""
        survey = self.survey
        if survey is None:
            return
        chosen = survey.candidates
        if survey.others and not (len(chosen) and self._evaluation_pays(survey)):
            slow = self._slow_arms(survey)
            # These are no candidates.
            chosen = np.sort(np.concatenate([chosen, slow])) if len(slow) else slow
        if len(chosen) and self.affords(chosen) and not bring_back(self, chosen):
            self.evaluate(chosen)

    def _evaluation_pays(self, survey: _native.Survey) -> bool:
        ahead = self._next_front(survey.others) - self.front
        return policy.evaluation_pays(
            self.rules,
            survey.waste,
            self.costs.row * (self.order.length - self.front),
            self.costs.of_steps(survey.others, ahead) + self.costs.round,
            # The first ones are evaluated sooner or later.
            self.costs.of_rows(0, self.order.length) if self.threshold > -math.inf else 0.0,
        )

    def _slow_arms(self, survey: _native.Survey) -> Ints:
        """Return the active arms, no candidates, that are known sooner than they are beaten."""
        if self.front < self.rules.fewest_steps or survey.others > self.rules.most_slow_arms:
            return np.empty(0, dtype=np.int64)
        others = self.ledger.other_arms(survey)
        return self._slowest(others, self.front, self._next_front(survey.others))

    def _slowest(self, positions: Ints, start: int, stop: int) -> Ints:
        """Return those of some arms, which have read up to `start`, that cost less to evaluate than to read on.

        The next round would read them up to `stop`.
        """
        rules, costs, length = self.rules, self.costs, self.order.length
        if policy.few_arms_are_slow(costs, len(positions), stop - start, length):
            return positions
        if start < rules.fewest_steps or len(positions) > rules.most_slow_arms:
            return positions[:0]
        score = max(self.guess, self.threshold) + self.problem.epsilon
        needed = self.ledger.needed_steps(positions, length, score, self.log_level)
        count = policy.how_many_to_evaluate(costs, needed, start, length)
        slow: Ints = positions[np.argsort(-needed, kind="stable")[:count]]
        return slow

    def affords(self, positions: Ints) -> bool:
        """Return whether the budget allows to evaluate these arms."""
        numbers = self.reading.numbers_of_rows(positions)
        # The speed so far is that of bets; whole rows are read faster.
        in_time = numbers * self.costs.row <= self.budget.predicted() * self.costs.step
        return self.budget.allows(numbers) and (self.problem.deadline is None or in_time)

    def arms_to_finish(self) -> Ints:
        """Return the undecided arms if to read them to the end is cheaper than to sample on."""
        return arms_to_finish(self)

    def steps_ahead(self) -> int:
        """Return how many steps of all arms together are read next."""
        active = self.ledger.n_active
        if active:
            return active * (self._end_of_round(active) - self.front)
        steps = self.ledger.steps[self.ledger.arms_with(SUSPENDED)]
        start = int(steps.min(initial=self.front))
        stop = next((front for front in self.fronts if front > start), start)
        return int(np.count_nonzero(steps == start)) * (stop - start)

    def forget_bets(self) -> None:
        """Free the memory of the bets: nothing is judged any more."""
        self.ledger.forget_bets()

    def evaluate(self, positions: Ints) -> None:
        """Compute exact scores, and raise the threshold."""
        if len(positions):
            self.accept(positions, *self.reading.exact_sums(positions))

    def accept(self, positions: Ints, sums: Floats, numbers: int) -> None:
        """Take the exact sums of some arms, for which so many numbers were read."""
        self.next_stop = None
        scores = self.problem.scores(positions, sums)
        self.threshold = self.ledger.learn(positions, scores, self.problem.k)
        self.tally.numbers_read += numbers
        self.tally.exact_scores += len(positions)

    def best(self) -> Best:
        """Return the k best of the arms that are known."""
        best, known = Best(self.problem.k), self.ledger.arms_with(KNOWN)
        best.add(known, self.ledger.scores[known])
        return best

    def accept_screened(self, positions: Ints, best: Best) -> None:
        """Take the k best arms so far, after some more were screened: the others of these are proved to be smaller."""
        status = self.ledger.status
        found = np.flatnonzero(status[best.positions] != KNOWN)
        status[positions] = DROPPED
        self.excluded += len(positions) - len(found)
        self.threshold = self.ledger.learn(
            best.positions[found], best.scores[found], self.problem.k
        )

    def end_round(self) -> None:
        """Tell where the search stands."""
        ledger = self.ledger
        self.tally.end_round(
            ledger.n_undecided, self.front, self.shown_threshold(), ledger.n_active
        )

    def shown_threshold(self) -> float | None:
        """Return the threshold if there is one."""
        return None if self.threshold == -math.inf else self.threshold

    def answer(self) -> Answer:
        """Return the k best known arms and what is guaranteed of them."""
        problem, ledger = self.problem, self.ledger
        reached = problem.epsilon
        early = not self.over()
        if early:
            reached = max(reached, self._proved_loss())
        known = ledger.arms_with(KNOWN)
        best = known[largest(ledger.scores[known], problem.k)]
        if len(known) + self.excluded == len(problem.arms):
            proved = certificate.exact_answer(problem)
        else:
            condition = estimate(self.ladder.limit) if self.estimated else problem.condition
            proved = certificate.promise(problem, reached, condition=condition, early=early)
        return Answer(best, ledger.scores[best], proved, "race")

    def _proved_loss(self) -> float:
        """Return the epsilon that can be promised of the k best known arms."""
        self.drop(self.undecided())
        left = self.undecided()
        if len(left) == 0:
            return 0.0
        ceiling = self.ledger.ceiling(self.problem.team, left, self.log_level, self.threshold)
        return ceiling - self.threshold
