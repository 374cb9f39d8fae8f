"""Frank–Wolfe over the hull of atoms, or over a dictionary times an ℓ1 ball: plain, away-step and pairwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.solvers.active_set import ActiveSet
from sureshot.solvers.dictionary import atoms_of, count, one_of, positive, vector
from sureshot.solvers.objective import Quadratic
from sureshot.solvers.oracle import best_vertex, vertices
from sureshot.solvers.path import Path, Solution
from sureshot.solvers.products import dot, dots

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sureshot.solvers.objective import Objective
    from sureshot.solvers.oracle import Vertex

VARIANTS = ("plain", "away", "pairwise")
# The oracle may lose this share of the last known gap. With a quarter there were up to 15 % more steps than with an
# exact oracle, with a tenth hardly any, and little more is read.
LOSS = 0.1


@dataclass(frozen=True, eq=False, kw_only=True)
class FrankWolfe(Solution):
    """A point of the domain that is nearly the best one.

    Attributes
    ----------
    coef, certificate, work, answers
        The coefficient of every atom, and as in `Solution` what is known of the path; a step may ask more than once.
    point
        The combination of the atoms.
    value
        The objective there.
    gap
        An upper bound of the duality gap there, and so of how much larger than the least one the value is.
    gaps
        That bound at the start of each step, and at the end.
    n_iter
        Steps taken.
    converged
        Whether the gap is at most `tol`.
    """

    point: NDArray[np.float64]
    value: float
    gap: float
    gaps: NDArray[np.float64]
    n_iter: int
    converged: bool


def frank_wolfe(
    dictionary: NDArray[Any],
    objective: Any,
    *,
    domain: str = "hull",
    radius: float = 1.0,
    variant: str = "pairwise",
    tol: float = 1e-4,
    max_iter: int = 1_000,
    atoms: str = "columns",
    delta: float = 0.05,
    bounds: Any = "scan",
    method: str = "betting",
    rng: Any = None,
    threads: int | None = None,
) -> FrankWolfe:
    """Minimise a smooth convex function over the hull of atoms, or over an ℓ1 ball of coefficients.

    At each step the linear minimisation oracle finds the vertex with the least inner product with the gradient, up to a
    loss that shrinks with the gap. The duality gap is bounded by what that vertex shows plus the loss, so that the bound
    holds for the exact oracle as well (docs/theory.md, Theorem 20).

    Parameters
    ----------
    dictionary
        Array or memory map with an atom in each column or in each row, as in `matching_pursuit`.
    objective
        A vector y, for half the squared distance of the point from it; a `Quadratic`; or an `Objective` of your own.
    domain
        ``"hull"``: combinations of atoms with weights that are not negative and add up to 1. ``"l1"``: combinations with
        coefficients whose absolute values add up to at most `radius`, the Lasso with a constraint.
    radius
        Of the ℓ1 ball.
    variant
        ``"plain"`` moves towards the best vertex; ``"away"`` also away from the worst one that the point is made of; ``"pairwise"`` moves
        weight from the worst to the best one. On strongly convex functions the last two converge linearly.
    tol
        Stop when the duality gap is at most this.
    max_iter
        The most steps.
    atoms
        ``"columns"`` or ``"rows"``: where the atoms are.
    delta
        Allowed probability that the bound of the gap is wrong, in any step.
    bounds, method, rng, threads
        As in `matching_pursuit`.

    Returns
    -------
    FrankWolfe
        ``coef``, ``point``, ``value``, ``gap``, ``certificate``, ``work``.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> found = frank_wolfe(corners, [0.5, 0.25], tol=1e-12)
    >>> found.point.round(6).tolist(), found.converged
    ([0.5, 0.25], True)
    """
    rows = atoms_of(dictionary, atoms)
    if not all(hasattr(objective, name) for name in ("value", "gradient", "step")):
        objective = Quadratic(vector(objective, "objective", rows.shape[1]))
    metric, radius = vertices(domain, radius)
    one_of(variant, VARIANTS, "variant")
    tol, most = positive(tol, "tol"), count(max_iter, "max_iter")
    path = Path(
        rows,
        metric=metric,
        delta=delta,
        questions=None,
        about=most + 2,  # one more to begin with, and one to end
        bounds=bounds,
        method=method,
        rng=rng,
        threads=threads,
    )
    return _Run(path, objective, domain, radius, variant, tol).result(most)


class _Run:
    """One run: the point, and what is known of its gap."""

    def __init__(
        self, path: Path, objective: Objective, domain: str, radius: float, variant: str, tol: float
    ) -> None:
        self.path, self.objective = path, objective
        self.domain, self.radius, self.variant, self.tol = domain, radius, variant, tol
        centre = np.zeros(path.atoms.shape[1])
        start = best_vertex(path, objective.gradient(centre), domain, radius, 0.0)
        self.active = ActiveSet(path.atoms, start.index, start.weight)
        self.point = self.active.point()
        self.gaps: list[float] = []

    def result(self, most: int) -> FrankWolfe:
        steps = 0
        while True:
            gradient = self.objective.gradient(self.point)
            vertex, gap = self._vertex(gradient)
            self.gaps.append(gap + vertex.loss)
            if self.gaps[-1] <= self.tol or steps == most:
                break
            if not self._move(gradient, vertex, gap):
                break  # nothing but rounding is left to gain
            steps += 1
        bound = self.gaps[-1]
        claim = f"the duality gap is at most {bound:.6g}, and the value as near to the least one"
        return FrankWolfe(
            coef=self.active.coefficients(),
            point=self.point,
            value=self.objective.value(self.point),
            gap=bound,
            gaps=np.array(self.gaps),
            n_iter=steps,
            converged=bound <= self.tol,
            certificate=self.path.certificate(claim),
            work=self.path.work(),
            answers=tuple(self.path.answers),
        )

    def _vertex(self, gradient: NDArray[np.float64]) -> tuple[Vertex, float]:
        """Return a good vertex, and the gap that it shows: at least half of the true one, or less than `tol`."""
        here = dot(gradient, self.point)
        allowed = LOSS * self.gaps[-1] if self.gaps else 0.0
        while True:
            vertex = best_vertex(self.path, gradient, self.domain, self.radius, allowed)
            gap = here - vertex.value
            reached = gap + vertex.loss <= self.tol
            if vertex.loss == 0 or reached or (gap > self.tol and gap >= vertex.loss):
                return vertex, max(gap, 0.0)
            # The gap has shrunk by more than expected, or lies near the tolerance, where half of what is left decides unless
            # there is a better vertex. Either loss is less than half of the last one.
            allowed = LOSS * (gap + vertex.loss) if gap > self.tol else (self.tol - gap) / 2

    def _move(self, gradient: NDArray[np.float64], vertex: Vertex, gap: float) -> bool:
        """Take one step; return False if it leads nowhere."""
        active = self.active
        towards = active.place(vertex.index, vertex.weight)
        change = np.zeros(len(active.weights))
        # The best vertex is in the set with weight 0 until the step is taken.
        direction, largest = active.vectors[towards] - self.point, 1.0
        if self.variant == "plain":
            change -= active.weights
            change[towards] += 1
        else:
            products = np.where(active.weights > 0, dots(active.vectors, gradient), -math.inf)
            worst = int(np.argmax(products))
            weight = float(active.weights[worst])
            if self.variant == "pairwise":
                change[towards] += 1
                change[worst] -= 1
                direction, largest = active.vectors[towards] - active.vectors[worst], weight
            elif gap >= products[worst] - dot(gradient, self.point) or weight == 1:
                change -= active.weights
                change[towards] += 1
            else:
                change += active.weights
                change[worst] -= 1
                direction, largest = self.point - active.vectors[worst], weight / (1 - weight)
        length = self.objective.step(self.point, direction, largest)
        if not length > 0:
            active.move(np.zeros(len(active.weights)))
            return False
        self.point = self.point + length * direction
        active.move(length * change)
        return True
