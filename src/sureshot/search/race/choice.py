"""Decides before a race whether there is one: from costs, and where these leave it open from a few arms.

Racing must not cost more than a tenth of what evaluating every arm costs if the data has no gap. Rounds have a
price for every arm before anything can be dropped: where that is small next to evaluating everything, the race
begins; where it is large, it does not. Between the two some arms are read a little, and how far they lie below the
best of them predicts what a race would cost.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sureshot._seed import generator_of
from sureshot.search.race import policy
from sureshot.search.race.costs import costs_of
from sureshot.search.race.race import Race

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot.search.problem import Problem, Tally
    from sureshot.sources.costs import ReadingCosts

# Where weights are smaller than this, or scores larger, arms are evaluated and not raced.
SMALLEST_WEIGHT = 2.0**-960
LARGEST_SCORE = 2.0**1000


@dataclass(frozen=True, slots=True)
class Choice:
    """Whether to race, and why, in words."""

    race: bool
    why: str
    sure: bool = True  # or a sample of the arms is to be asked
    bets: bool = True  # or the race ends before it begins, and the arms that seem best are read on

    @property
    def words(self) -> str:
        """What is done, and why."""
        way = "raced" if self.bets else "without bets the arms that seem best read on"
        return f"{way if self.race else 'every arm evaluated'}: {self.why}"


# What sizes and costs decide.
ALL_WANTED = Choice(race=False, why="all arms are wanted")
PULLS_PAID = Choice(race=True, why="every pull is paid for")
WITH_BUDGET = Choice(race=True, why="there is a budget")
WITH_SMALL_BUDGET = Choice(
    race=True,
    why="there is a budget, and the first rounds of a race would cost too much of it",
    bets=False,
)
ROUNDS_COST_MORE = Choice(
    race=False, why="to evaluate every arm costs less than the rounds of a race"
)
FIRST_ROUNDS_COST_LITTLE = Choice(
    race=True, why="to evaluate every arm costs far more than the first rounds"
)
HARDLY_CHEAPER = Choice(race=False, why="to evaluate every arm costs hardly more than a race")
PERHAPS_CHEAPER = Choice(race=True, why="a race may cost less", sure=False)


class Sizes(NamedTuple):
    """How much there is to search, and what it costs to read: all that a first choice rests on."""

    n_arms: int
    n_coordinates: int
    n_blocks: int
    k: int
    costs: ReadingCosts

    @classmethod
    def of(cls, problem: Problem) -> Sizes:
        """Return those of a problem."""
        source = problem.source
        return cls(
            len(problem.arms), source.n_coordinates, source.blocks.count, problem.k, source.costs
        )


def choose(problem: Problem, rng: Rng, tally: Tally, rules: policy.Policy) -> Choice:
    """Decide whether to race the arms of a problem or to evaluate all of them."""
    choice = choose_by_cost(problem, rules)
    if not choice.race:
        return choice
    possible = if_possible(problem, choice)
    if not possible.race or choice.sure:
        return possible
    wanted = cost_of_everything(Sizes.of(problem)) / rules.sampled_gain
    if sampled_cost(problem, rng, tally, rules, wanted) < wanted:
        return Choice(race=True, why="a sample of the arms predicts that racing costs less")
    return Choice(race=False, why="a sample of the arms predicts that racing costs more")


def choose_by_cost(problem: Problem, rules: policy.Policy = policy.DEFAULT) -> Choice:
    """Decide from sizes and costs alone: the same for all queries of the same data."""
    sizes = Sizes.of(problem)
    choice = choose_by_sizes(sizes, rules)
    if choice is ALL_WANTED or choice is PULLS_PAID:
        return choice
    if problem.limited:
        everything = cost_of_everything(sizes)
        if not _surely_in_time(problem, everything, rules):
            gain = everything / least_cost(sizes, rules)
            return WITH_BUDGET if gain >= rules.sure_gain else WITH_SMALL_BUDGET
    if choice is ROUNDS_COST_MORE:
        return replace(choice, why=choice.why + better_layout(problem, rules))
    return choice


def choose_by_sizes(sizes: Sizes, rules: policy.Policy = policy.DEFAULT) -> Choice:
    """Decide the same where nothing limits the search."""
    if sizes.n_arms == sizes.k:
        return ALL_WANTED
    if sizes.costs.each_number_is_paid:
        return PULLS_PAID
    everything = cost_of_everything(sizes)
    gain = everything / least_cost(sizes, rules)
    if gain < rules.least_gain:
        return ROUNDS_COST_MORE
    if gain >= rules.sure_gain:
        return FIRST_ROUNDS_COST_LITTLE
    return HARDLY_CHEAPER if everything < rules.worth_a_sample else PERHAPS_CHEAPER


def better_layout(problem: Problem, rules: policy.Policy) -> str:
    """Return words for a layout of the storage in which the arms could be raced, if there is one."""
    for words, source in problem.source.in_other_layouts():
        other = Sizes.of(replace(problem, source=source))
        if cost_of_everything(other) >= rules.least_gain * least_cost(other, rules):
            return f"; stored as {words} they could be raced"
    return ""


def _surely_in_time(problem: Problem, everything: float, rules: policy.Policy) -> bool:
    """Return whether nothing but time is limited, and there is enough to evaluate every arm on slow storage."""
    if problem.deadline is None or problem.budget is not None:
        return False
    left = problem.deadline - time.perf_counter()
    return rules.sure_seconds * everything <= 1e9 * left


def cost_of_everything(sizes: Sizes) -> float:
    """Return what it costs to evaluate every arm."""
    return sizes.costs.everything * sizes.n_blocks * sizes.n_arms


def least_cost(sizes: Sizes, rules: policy.Policy, n_begin: int | None = None) -> float:
    """Return what a race costs if all arms but the k best are dropped as soon as anything is predicted.

    With `n_begin` only so many arms are read, and what these find is enough for the others.
    """
    one_round = sizes.costs.round
    if cost_of_everything(sizes) < rules.least_gain * one_round:
        return (
            one_round  # There is at least one: for a small array the others need not be added up.
        )
    costs = costs_of(sizes.costs, sizes.n_arms)
    n_arms, length = n_begin or sizes.n_arms, sizes.n_blocks
    front, cost = 0, costs.of_rows(sizes.k, length)
    while front < min(rules.fewest_steps, length):
        stop = policy.next_front(rules, costs, front, length, n_arms)
        cost += costs.round + n_arms * costs.visit
        cost += (n_arms * costs.step + costs.draw) * (stop - front)
        front = stop
    return cost


def sampled_cost(
    problem: Problem,
    rng: Rng,
    tally: Tally,
    rules: policy.Policy,
    wanted: float = math.inf,
) -> float:
    """Return what a race is predicted to cost, from a few rounds of some arms.

    They are read in an order of their own, so that nothing is learnt of the order of the race. First predictions are
    rough, and on data without a gap too small: there they grow with the root of the steps. While one is neither far
    below what is wanted nor far above, and a round costs little next to that, the arms are read on.
    """
    n_arms, own = len(problem.arms), generator_of(rng).spawn(1)[0]
    some = np.sort(own.choice(n_arms, min(rules.sampled_arms, n_arms), replace=False))
    squares = problem.intervals.square_limit
    known = replace(
        problem.intervals,
        limit=problem.intervals.limit[some],
        square_limit=None if squares is None else squares[some],
    )
    sample = replace(
        problem,
        arms=problem.arms[some],
        factors=None if problem.factors is None else problem.factors[some],
        k=max(1, round(problem.k * len(some) / n_arms)),
        known=lambda: (known, problem.condition),
    )
    trial = Race(sample, own, replace(tally, progress=None, rounds=[]), rules)
    trial.log_level = math.log(problem.k) - math.log(problem.delta)
    front, predicted = rules.fewest_steps, math.inf
    while trial.front < trial.order.length:
        while trial.front < min(front, trial.order.length) and trial.read_on():
            trial.suspend_and_drop()
        predicted = least_cost(Sizes.of(problem), rules) + _cost_of_steps(trial, n_arms)
        front *= 2
        one_round = trial.costs.round + len(some) * trial.costs.step * (front - trial.front)
        if (
            predicted < rules.sampled_trust * wanted
            or predicted > rules.sampled_doubt * wanted
            or front > rules.sampled_steps
            or one_round > rules.sampled_share * wanted
        ):
            break
    tally.numbers_read = trial.tally.numbers_read
    return predicted


def _cost_of_steps(trial: Race, n_arms: int) -> float:
    """Return what the steps cost that so many arms are predicted to need, if they are like those of a trial."""
    problem = trial.problem
    # A sample does not show the few arms that stand out among many: an earlier query may have.
    likely = max(trial.ledger.likely_threshold(problem.k), problem.expected_score)
    needed, _ = trial.ledger.remaining_steps(
        problem.team, trial.order.length, likely + problem.epsilon, trial.log_level
    )
    return trial.costs.step * needed * n_arms / len(problem.arms)


def if_possible(problem: Problem, choice: Choice) -> Choice:
    """Race, as was chosen, if there is anything to race for and float64 has the numbers for it."""
    intervals = problem.intervals
    # Scores, their squares and quotients must be numbers of float64, too.
    with np.errstate(over="ignore", invalid="ignore"):
        weight = float(intervals.weight.sum())
        if weight == 0:
            return Choice(race=False, why="every arm has the same score")
        if intervals.square_limit is not None:
            score = math.sqrt(weight) * math.sqrt(intervals.square_limit.max())
        elif intervals.estimated:
            score = weight
        else:
            score = intervals.magnitude + weight * float(np.abs(intervals.limit).max())
        if weight > SMALLEST_WEIGHT and score < LARGEST_SCORE:
            return choice
    return Choice(race=False, why="scores are too large or too small for bets in float64")
