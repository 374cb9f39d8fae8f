"""A whole search of a device, stage by stage in numpy: the oracle of the kernels.

The stages: order and first rows, then up to three pairs of a race and an evaluation. Each race goes on from
the step where the one before it ended, at the threshold known by then, which never falls. Thresholds are
therefore functions of the blocks drawn before the steps they are used for (section 18 of ``docs/theory.md``).
Wherever float32 or float64 numbers are added or compared, the order of the operations is the one of the kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from sureshot.cuda import bets, rounding
from sureshot.cuda import plan as plans
from sureshot.cuda.order import (
    Order,
    block_squares,
    folded,
    in_sequence,
    order_of,
    square_of,
)
from sureshot.cuda.scores import row_sums

if TYPE_CHECKING:
    from sureshot._types import Array, Bools, Floats, Ints
    from sureshot.cuda.bets import Float32s

_f = np.float32

Metric = Literal["ip", "abs-ip", "cosine", "sqeuclidean"]

# Steps that an arm needs: 2 log(k / delta) (spread / d**2), and log 2 for the logarithm of base 2.
STEPS_PER_LEVEL = _f(1.3863)


@dataclass(frozen=True)
class Question:
    """What is searched for. Scores are in the units in which the device ranks.

    These are the inner product times the row's scale, its absolute value, the inner product over the norm of the
    row, or the negated squared distance; `epsilon` is in the same units.
    """

    data: Array
    query: Array
    k: int
    squares: (
        Floats  # upper bounds of the squared norms; the squared norms for cosines and distances
    )
    seed: int
    metric: Metric = "ip"
    epsilon: float = 0.0
    delta: float = 0.05
    row_scale: Floats | None = None
    arms: Ints | None = None  # the searched rows, ascending; all by default
    spread: bool = False  # the first rows are spread evenly, since nothing is known of the norms


@dataclass
class Stage:
    """What one stage did: the arms it read, the threshold it used, the steps and the arms that are left."""

    name: str
    tau: float
    begin: int
    cap: int
    left: Ints
    steps_read: int
    dropped_at: dict[int, int] = field(default_factory=dict)  # arm: round's last step


@dataclass
class Found:
    """The answer, largest scores first and ties by the smaller index, and how it came about."""

    indices: Ints
    scores: Floats
    order: Order | None
    stages: list[Stage]
    evaluated: dict[int, float]
    too_long: list[int]  # arms that are longer than their norms: an error
    choice: str

    @property
    def steps_read(self) -> int:
        """Blocks read by the races."""
        return sum(stage.steps_read for stage in self.stages)


class Search:
    """One query on one matrix."""

    def __init__(self, question: Question, plan: plans.Plan | None = None) -> None:
        self.question = question
        n_rows, n_columns = question.data.shape
        self.arms = np.arange(n_rows) if question.arms is None else np.asarray(question.arms)
        self.k = min(question.k, len(self.arms))
        itemsize = question.data.dtype.itemsize
        self.plan = plan or plans.plan_of(len(self.arms), n_columns, self.k, itemsize)
        self.query = np.asarray(question.query, dtype=np.float64)
        squares = block_squares(self.query, self.plan.block, self.plan.chunk)
        self.query_square = square_of(squares)
        self.evaluated: dict[int, float] = {}
        self.stages: list[Stage] = []
        self.too_long: list[int] = []
        self.tau = -math.inf
        self.signs = (1, -1) if question.metric == "abs-ip" else (1,)

    # -- what is known of a row

    def widened_squares(self, arms: Ints) -> Float32s:
        """Return the squared norms in float32, widened."""
        share = rounding.square_share(self.plan.chunk, self.plan.steps)
        squares = (self.question.squares[arms] * (1 + share)).astype(_f)
        return np.fmax(squares, _f(rounding.LEAST_SQUARE))

    def thresholds(self, arms: Ints) -> Float32s:
        """Return the inner product that an arm needs to reach tau + epsilon, less the guard, in scaled units."""
        question = self.question
        tau = self.tau + question.epsilon
        if question.metric == "cosine":
            needed = tau * np.sqrt(question.squares[arms])
        elif question.metric == "sqeuclidean":
            both = self.query_square + question.squares[arms]
            needed = (tau + both) * 0.5 - both * rounding.EXACT_SHARE
        elif question.row_scale is not None:
            needed = tau / question.row_scale[arms]
        else:
            needed = np.full(len(arms), tau)
        scaled = (needed * self.order.scale).astype(_f)
        share = _f(rounding.guard_share(self.plan.chunk, self.plan.steps))
        root = np.sqrt(self.widened_squares(arms) * self.order.left[0])
        guard = share * root + _f(rounding.THRESHOLD_SHARE) * np.abs(scaled)
        lowered: Float32s = scaled - guard
        return lowered

    def ranks(self, arms: Ints, inner: Float32s) -> Float32s:
        """Return the estimated score of arms, in scaled units, of the estimated inner product."""
        question = self.question
        if question.metric == "cosine":
            inner = np.divide(inner, np.sqrt(question.squares[arms]).astype(_f))
        elif question.metric == "sqeuclidean":
            halves = question.squares[arms] * (0.5 * self.order.scale)
            inner = inner - halves.astype(_f)
        elif question.row_scale is not None:
            inner = inner * question.row_scale[arms].astype(_f)
        return np.fabs(inner) if question.metric == "abs-ip" else inner

    # -- exact scores

    def evaluate(self, arms: Ints) -> None:
        """Evaluate arms in float64 and raise the threshold: the k-th best score of all evaluated so far."""
        question = self.question
        far = question.metric == "sqeuclidean"
        rows = question.data[arms]
        scores = row_sums(rows, self.query, self.plan.chunk, squared_distance=far)
        if far:
            scores = -scores
        elif question.metric == "cosine":
            scores = scores / np.sqrt(question.squares[arms])
        elif question.row_scale is not None:
            scores = scores * question.row_scale[arms]
        if question.metric == "abs-ip":
            scores = np.abs(scores)
        self.evaluated.update(zip(arms.tolist(), scores.tolist(), strict=True))
        if len(self.evaluated) >= self.k:
            self.tau = sorted(self.evaluated.values())[-self.k]

    def first_rows(self) -> Ints:
        """Return the rows that are evaluated before any bet: a choice that knows nothing of the order."""
        question, count = self.question, min(self.plan.first_rows, len(self.arms))
        if question.metric in ("cosine", "sqeuclidean") or question.spread:
            return self.arms[np.arange(count) * len(self.arms) // count]
        squares = question.squares[self.arms]
        if question.row_scale is not None:
            squares = squares * (question.row_scale[self.arms] * question.row_scale[self.arms])
        return self.arms[np.argsort(-squares, kind="stable")][:count]

    # -- races

    def block_sums(self, arms: Ints, begin: int, end: int) -> tuple[Float32s, Float32s]:
        """Return x and |v_b|**2 of arms at some steps, (arms, steps).

        A chunk of columns adds its products one after the other, the chunks are folded.
        """
        plan, n_columns = self.plan, self.question.data.shape[1]
        blocks = self.order.blocks[begin:end]
        columns = blocks[:, None] * plan.block + np.arange(plan.block)
        inside = columns < n_columns
        columns = np.minimum(columns, n_columns - 1)
        read = self.question.data[arms[:, None, None], columns[None]]
        values = np.where(inside, read.astype(_f), _f(0))
        query = np.where(inside, self.scaled_query[columns], _f(0))
        shape = (len(arms), len(blocks), plan.block // plan.chunk, plan.chunk)
        products = (values * query).reshape(shape)
        squares = (values * values).reshape(shape)
        return folded(in_sequence(products)), folded(in_sequence(squares))

    def pruned(self, arms: Ints, step: int = 0) -> Bools:
        """Return which arms cannot reach the threshold by their norms: certain before the step is read."""
        theta, inverse = self.thresholds(arms), self.order.inverse_left[step]
        known, squares = self.sums.known[arms], self.sums.squares[arms]
        m = np.fmax(self.widened_squares(arms) - squares, _f(0)) * inverse
        root = np.sqrt(m)
        above = np.ones(len(arms), dtype=bool)
        for sign in self.signs:
            above &= (theta - _f(sign) * known) * inverse > root
        return above

    def first_cap(self) -> int:
        """Return the steps of the first race: few where norms decide little, since tau is poor then.

        None where rows are so short that a pass takes little longer.
        """
        sample = np.arange(plans.PRUNING_SAMPLE) * len(self.arms) // plans.PRUNING_SAMPLE
        pruned = int(np.count_nonzero(self.pruned(self.arms[sample])))
        if pruned < self.plan.least_pruned:
            return 0
        return self.plan.long_cap if 2 * pruned >= plans.PRUNING_SAMPLE else self.plan.short_cap

    def race(self, name: str, arms: Ints, begin: int, cap: int) -> Ints:
        """Bet on the steps from `begin` to before `cap` and return the arms that are left."""
        cap = min(cap, len(self.order))
        arms = arms[~self.pruned(arms, begin)]
        theta, limit = self.thresholds(arms), self.widened_squares(arms)
        level = _f(rounding.level(self.k, self.question.delta, self.plan.steps))
        alive = np.ones(len(arms), dtype=bool)
        stage = Stage(name, self.tau, begin, cap, arms, 0)
        # Few arms are read two rounds at a time, and an arm that is dropped in the first one is read to the end.
        few = bool(self.stages) and len(self.stages[-1].left) <= plans.WIDE_ARMS
        together = 2 * rounding.ROUND if few else rounding.ROUND
        reading = 0
        for start in range(begin, cap, rounding.ROUND):
            end = min(start + rounding.ROUND, cap)
            index = np.flatnonzero(alive)
            if (start - begin) % together == 0:
                reading = len(index)
            stage.steps_read += reading * (end - start)
            reached = self._round(arms[index], start, end, theta[index], limit[index], level)
            alive[index[reached]] = False
            stage.dropped_at.update(dict.fromkeys(arms[index[reached]].tolist(), end))
        left = arms[alive]
        if cap == len(self.order) and self.order.complete:
            known = self.sums.known[left]
            below = np.logical_and.reduce([_f(sign) * known < theta[alive] for sign in self.signs])
            left = left[~below]
        stage.left = left
        self.stages.append(stage)
        return left

    def _round(
        self,
        arms: Ints,
        start: int,
        end: int,
        theta: Float32s,
        limit: Float32s,
        level: np.float32,
    ) -> Bools:
        """Place the bets of a round, keep sums and wealth, and return which arms are dropped."""
        steps = bets.Steps.of(self.order, start, end)
        x, squares = self.block_sums(arms, start, end)
        played = bets.play(
            x, squares, self.sums.taken(arms), self.wealth[:, arms], steps, theta, limit, level
        )
        for total, now in zip(self.sums.parts(), played.sums.parts(), strict=True):
            total[arms] = now
        self.too_long += arms[~(played.sums.squares <= limit)].tolist()
        if end <= self.plan.short_cap:  # the shortest race only looks: its threshold is poor
            return np.zeros(len(arms), dtype=bool)
        self.wealth[:, arms] = played.wealth
        reached: Bools = np.logical_and.reduce(played.won)
        return reached

    # -- decisions

    def candidates(self, arms: Ints, cap: int) -> Ints:
        """Return the arm with the largest estimate in each slot, slot = arm modulo slots, ties the smaller."""
        sums, at = self.sums.taken(arms), bets.Steps.after(self.order, cap)
        mean = sums.y * at.inverse_count
        estimates = self.ranks(arms, sums.known + mean * self.order.left[cap])
        by_slot = np.lexsort((arms, -estimates, arms % self.plan.slots))
        slots = arms[by_slot] % self.plan.slots
        return np.sort(arms[by_slot[np.unique(slots, return_index=True)[1]]])

    def cost(self, left: Ints, cap: int) -> float:
        """Return the predicted share of all steps that the arms of a fixed sample still need."""
        stride = max(1, len(self.arms) // plans.COST_SAMPLE)
        sample = self.arms[: plans.COST_SAMPLE * stride : stride][: plans.COST_SAMPLE]
        sample = sample[np.isin(sample, left)]
        if not len(sample):
            return 0.0
        sums, theta = self.sums.taken(sample), self.thresholds(sample)
        at = bets.Steps.after(self.order, cap)
        mean = sums.y * at.inverse_count
        variance = bets.variance(mean, sums.y_squared * at.inverse_count, at)
        per_spread = STEPS_PER_LEVEL * _f(math.log2(self.k / self.question.delta))
        all_steps = _f(self.plan.n_blocks)
        needed = np.zeros(len(sample), dtype=np.int64)
        for sign in self.signs:
            d = (theta - _f(sign) * sums.known) * at.inverse_left - _f(sign) * mean
            steps = per_spread * (variance + d * d) / (d * d) - _f(cap)
            clipped = np.fmin(np.fmax(steps, _f(0)), all_steps)
            needed = np.maximum(needed, np.where(d > 0, clipped, all_steps).astype(np.int64))
        return int(needed.sum()) / (len(sample) * self.plan.n_blocks)

    def pays(self, left: Ints, cap: int) -> bool:
        """Return whether to race on."""
        few = plans.FEW_LEFT * len(left) <= len(self.arms)
        return few or self.cost(left, cap) <= plans.MOST_COST

    # -- the whole search

    def run(self) -> Found:
        """Search."""
        if (reason := self.no_bets()) is not None:
            self.evaluate(self.arms)
            return self.answer(reason)
        plan, question = self.plan, self.question
        self.order = order_of(self.query, plan.block, plan.chunk, question.seed, plan.draws)
        self.scaled_query = (self.query * self.order.scale).astype(_f)
        n_rows = len(question.data)
        self.sums = bets.Sums.of(n_rows)
        self.wealth = np.ones((len(self.signs), n_rows), dtype=_f)
        return self._staged()

    def _staged(self) -> Found:
        plan = self.plan
        self.evaluate(self.first_rows())
        cap = self.first_cap()
        waiting = self._unknown(self.arms)
        if cap == 0:
            return self._ended(waiting, "all arms, since norms rule out few of the short rows")
        left = self.race("race 1", waiting, 0, cap)
        if len(left) <= plan.direct:
            return self._ended(left, "norms and one race")
        self.evaluate(self.candidates(left, min(cap, len(self.order))))
        left = self._unknown(left)
        pays = self.pays(left, min(cap, len(self.order)))
        begin, cap = min(cap, len(self.order)), plan.second_cap if pays else plan.chance(1)
        if cap == 0:
            return self._given_up(left)
        left = self.race("race 2", left, begin, cap)
        if len(left) <= plan.direct:
            return self._ended(left, "two races")
        cap = min(cap, len(self.order))
        self.evaluate(self.candidates(left, cap))
        left = self._unknown(left)
        if not self.pays(left, cap):
            return self._given_up(left)
        left = self.race("race 3", left, cap, plan.last_cap)
        return self._ended(left, "three races")

    def _unknown(self, arms: Ints) -> Ints:
        """Return the arms that are not evaluated yet."""
        return arms[[arm not in self.evaluated for arm in arms.tolist()]]

    def _ended(self, left: Ints, choice: str) -> Found:
        self.evaluate(left)
        return self.answer(choice)

    def _given_up(self, left: Ints) -> Found:
        """Evaluate what is left where races do not pay, or everything: nearly as much, and then exact."""
        dropped = len(self.arms) - len(self.evaluated) - len(left)
        if plans.NEARLY_ALL * dropped <= len(self.arms):
            return self._ended(self._unknown(self.arms), "all arms, since few were dropped")
        return self._ended(left, "all arms that were left")

    def no_bets(self) -> str | None:
        """Return why nothing is bet on, if nothing is."""
        if len(self.arms) <= max(self.plan.first_rows, self.plan.direct):
            return "few arms"
        if self.plan.n_blocks < plans.FEWEST_BLOCKS:
            return "short rows"
        largest = math.sqrt(float(self.question.squares[self.arms].max()))
        size = math.sqrt(self.query_square)
        if not rounding.LEAST_NORM <= largest <= rounding.MOST_NORM:
            return "norms that are too small or too large for float32"
        if not rounding.LEAST_QUERY <= size <= rounding.MOST_QUERY:
            return "a query that is too small or too large"
        if math.log2(self.k / self.question.delta) > rounding.MOST_LEVEL:
            return "a delta that is too small for float32"
        if self.plan.n_blocks > rounding.MOST_BLOCKS:
            return "rows of too many blocks for float32"
        return None

    def answer(self, choice: str) -> Found:
        """Return the k best of the evaluated arms."""
        arms = np.array(sorted(self.evaluated), dtype=np.int64)
        scores = np.array([self.evaluated[arm] for arm in arms.tolist()])
        best = np.lexsort((arms, -scores))[: self.k]
        order = getattr(self, "order", None)
        return Found(
            arms[best], scores[best], order, self.stages, self.evaluated, self.too_long, choice
        )


def search(question: Question, plan: plans.Plan | None = None) -> Found:
    """Answer a question as a device does, which gives no warnings about numbers that are not finite."""
    with np.errstate(all="ignore"):
        return Search(question, plan).run()
