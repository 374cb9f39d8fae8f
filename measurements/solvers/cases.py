"""What `measurements.solvers.run` measures: dictionaries, signals, and the calls that are timed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.solvers import frank_wolfe, orthogonal_matching_pursuit

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

SAMPLES = 20_000
ATOMS = (1_000, 2_000, 5_000, 10_000, 20_000)
ORDERS = ("C", "F")  # atoms in columns of rows of samples, or each atom in one piece
FEW = 20  # atoms that a signal is made of
# A dictionary with structure is one of low rank with noise; the other one is i.i.d.
STRUCTURES = ("low-rank", "gaussian")
VARIANTS = ("plain", "pairwise")
RANK, NOISE = 20, 1.0
MOST_ATOMS = 10_000  # of Frank–Wolfe
LONGER = 5  # times as many samples, of as many fewer atoms: what structure shows takes samples to be seen
GAP = 1e-3  # of the first one, where Frank–Wolfe ends
MOST_STEPS = 300

OURS, EXACT = "sureshot", "exact oracle"
SKLEARN, COPT = "scikit-learn", "copt"


@dataclass(frozen=True)
class SolverCase:
    """What one row measures. Equal cases are measured once for one state of the library."""

    task: str  # "omp" or "frank-wolfe"
    structure: str
    order: str
    variant: str
    n: int
    N: int
    threads: int
    seed: int
    library_digest: str


def cases(
    most_numbers: float, samples: int, threads: int, seed: int, digest: str
) -> list[SolverCase]:
    """Return all cases whose dictionaries have at most so many numbers."""
    possible = [n for n in ATOMS if n * samples <= most_numbers]
    shared = threads, seed, digest
    found = [
        SolverCase("omp", "gaussian", order, "", n, samples, *shared)
        for n in possible
        for order in ORDERS
    ]
    most = max(n for n in possible if n <= MOST_ATOMS)
    shapes = [(structure, most, samples) for structure in STRUCTURES]
    shapes.append((STRUCTURES[0], most // LONGER, LONGER * samples))
    return found + [
        SolverCase("frank-wolfe", structure, "F", variant, n, N, *shared)
        for structure, n, N in shapes
        for variant in VARIANTS
    ]


def dictionary(case: SolverCase) -> NDArray[np.float32]:
    """Return a dictionary with unit atoms in columns."""
    rng = np.random.default_rng(case.seed)
    atoms = rng.standard_normal((case.n, case.N), dtype=np.float32)
    if case.structure == "low-rank":
        basis = rng.standard_normal((RANK, case.N), dtype=np.float32)
        atoms *= np.float32(NOISE)
        atoms += rng.standard_normal((case.n, RANK), dtype=np.float32) @ basis
    atoms /= np.linalg.norm(atoms, axis=1, keepdims=True)
    return np.asarray(atoms.T, order="C" if case.order == "C" else "F")


def radius() -> float:
    """Return the radius of the ball: half of what the coefficients of a signal add up to on average."""
    return float(FEW)


def signal(made: NDArray[np.float32], seed: int) -> Floats:
    """Return a combination of a few atoms."""
    rng = np.random.default_rng([seed, 1])
    chosen = rng.choice(made.shape[1], FEW, replace=False)
    weights = rng.uniform(1, 3, FEW) * rng.choice([-1, 1], FEW)
    return np.asarray(made[:, chosen].astype(np.float64) @ weights)


def pursuits(
    made: NDArray[np.float32], wanted: Floats, case: SolverCase
) -> dict[str, Callable[[int], Any]]:
    """Return the pursuits that are timed; the scan is part of each call of ours."""
    options: dict[str, Any] = {"n_nonzero_coefs": FEW, "threads": case.threads}
    linear_model = import_module("sklearn.linear_model")
    given = wanted.astype(np.float32)
    return {
        OURS: lambda call: orthogonal_matching_pursuit(made, wanted, rng=call, **options),
        EXACT: lambda call: orthogonal_matching_pursuit(
            made, wanted, rng=call, method="exact", bounds=None, **options
        ),
        SKLEARN: lambda _: linear_model.orthogonal_mp(
            made, given, n_nonzero_coefs=FEW, precompute=False
        ),
    }


def minimisers(
    made: NDArray[np.float32], wanted: Floats, case: SolverCase
) -> dict[str, Callable[[int], Any]]:
    """Return what minimises the distance from the signal over the ℓ1 ball, by the same rule."""
    products = made.T @ wanted.astype(np.float32)
    best = int(np.argmax(np.abs(products)))
    start = radius() * np.sign(products[best]) * made[:, best].astype(np.float64)
    gradient = start - wanted
    gap = float(gradient @ start) + radius() * float(
        np.abs(made.T @ gradient.astype(np.float32)).max()
    )
    options: dict[str, Any] = {
        "domain": "l1",
        "radius": radius(),
        "variant": case.variant,
        "tol": GAP * gap,
        "max_iter": MOST_STEPS,
        "threads": case.threads,
    }
    sides = {
        OURS: lambda call: frank_wolfe(made, wanted, rng=call, **options),
        EXACT: lambda call: frank_wolfe(
            made, wanted, rng=call, method="exact", bounds=None, **options
        ),
    }
    if case.variant == "plain" and find_spec("copt"):
        sides[COPT] = lambda _: _copt(made, wanted, start, GAP * gap)
    return sides


def _copt(made: NDArray[np.float32], wanted: Floats, start: Floats, tol: float) -> Any:
    """Run copt's Frank–Wolfe over the same vertices, with all inner products at each step.

    Its step "DR" with the Lipschitz constant 1 is the exact line search of this objective.
    """
    copt = import_module("copt")

    def value_and_gradient(point: Floats) -> tuple[float, Floats]:
        rest = point - wanted
        return 0.5 * float(rest @ rest), rest

    def oracle(direction: Floats, point: Floats, _: Any) -> tuple[Floats, Any, None, float]:
        products = made.T @ direction.astype(np.float32)
        best = int(np.argmax(np.abs(products)))
        sign = float(np.sign(products[best]))
        return radius() * sign * made[:, best].astype(np.float64) - point, (sign, best), None, 1.0

    return copt.minimize_frank_wolfe(
        value_and_gradient,
        start.copy(),
        oracle,
        jac=True,
        step="DR",
        lipschitz=1.0,
        tol=tol,
        max_iter=MOST_STEPS,
    )
