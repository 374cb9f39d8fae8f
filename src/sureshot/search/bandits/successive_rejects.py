"""Successive rejects: spend a budget in n - 1 phases and give up one arm after each.

Audibert, Bubeck and Munos, *Best arm identification in multi-armed bandits*, COLT 2010. For k > 1 it
is SAR, successive accepts and rejects: Bubeck, Wang and Viswanathan, *Multiple identifications in
multi-armed bandits*, ICML 2013.

Promise: none for a given delta. The budget is the parameter; the papers bound the error by a number that
depends on the unknown means. Any k. As published: at the end of phase p every arm that is left has
``ceil((budget - n) / (logbar(n) (n + 1 - p)))`` pulls. With k = 1 the worst arm goes. With k > 1 it is
the arm that is farthest from the boundary between the arms still wanted and the others, and it is
accepted or rejected by the side it is on.

The published bounds compare two arms that are pulled independently of each other. One sample of
coordinates serves all arms here: for the worst data that halves the exponent of the bounds, and for
rewards that go up and down together, as usual, it makes comparisons sharper. Without replacement no arm
has more than N pulls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sureshot.search import exact
from sureshot.search.bandits.pulls import Pulls
from sureshot.theory import budgets

if TYPE_CHECKING:
    from sureshot._seed import Rng
    from sureshot._types import Floats
    from sureshot.search.problem import Answer, Problem, Tally

REFUSAL = "nothing is promised: successive rejects spends a budget and bounds no error"


def search(problem: Problem, rng: Rng, tally: Tally) -> Answer:
    """Spend the budget."""
    if not (problem.intervals.weight > 0).any():
        return exact.search(problem, rng, tally)
    pulls = Pulls(problem, rng, tally, "successive-rejects")
    alive, wanted, budget = np.arange(len(problem.arms)), problem.k, problem.budget or 0
    if wanted == len(alive):
        each = budget // len(alive)
        pulls.add(alive, each if pulls.replacement else min(each, pulls.n_rewards))
    accepted: list[int] = []
    for target in budgets.successive_rejects(len(alive), budget):
        # All arms that are left are wanted, or none is: nothing more can change.
        if wanted in (0, len(alive)):
            break
        after = target if pulls.replacement else min(target, pulls.n_rewards)
        pulls.add(alive, after - int(pulls.counts[alive[0]]))
        if problem.k == 1:
            order = np.lexsort((alive, -pulls.scores[alive]))
            decided, accept = int(order[-1]), False
        else:
            decided, accept = farthest(pulls.scores[alive], wanted)
        if accept:
            accepted.append(int(alive[decided]))
            wanted -= 1
        alive = np.delete(alive, decided)
        tally.end_round(len(alive), after)
    answer = np.array([*accepted, *(alive if wanted else [])], dtype=np.int64)
    return pulls.answer(answer, refusal=REFUSAL)


def farthest(scores: Floats, wanted: int) -> tuple[int, bool]:
    """Return the arm farthest from the boundary, and whether it is on the side of the wanted ones.

    Examples
    --------
    >>> farthest(np.array([0.9, 0.5, 0.4, 0.3]), 2)
    (0, True)
    >>> farthest(np.array([0.6, 0.5, 0.4, 0.0]), 2)
    (3, False)
    """
    order = np.lexsort((np.arange(len(scores)), -scores))
    ranked = scores[order]
    inside = ranked[:wanted] - ranked[wanted]
    outside = ranked[wanted - 1] - ranked[wanted:]
    at = int(np.argmax(np.concatenate([inside, outside])))
    return int(order[at]), at < wanted
