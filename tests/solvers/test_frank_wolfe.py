"""Frank–Wolfe: the optimum, a bound of the gap that holds, an oracle that others can call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.solvers import Quadratic, frank_wolfe, linear_minimization_oracle
from sureshot.solvers import frank_wolfe as module_function
from sureshot.solvers.frank_wolfe import VARIANTS

if TYPE_CHECKING:
    from sureshot._types import Array, Floats


@pytest.fixture(scope="module")
def problem() -> tuple[Array, Floats]:
    """A dictionary with structure, and a target outside of its hull."""
    rng = np.random.default_rng(0)
    basis = rng.normal(size=(5, 1_200))
    atoms = rng.normal(size=(100, 5)) @ basis + 2 * rng.normal(size=(100, 1_200))
    target = 0.9 * atoms[:3].mean(axis=0) + 0.2 * rng.normal(size=1_200)
    return np.ascontiguousarray(atoms.T), target


def true_gap(dictionary: Array, target: Floats, point: Floats, domain: str, radius: float) -> float:
    """Return the duality gap, from all vertices."""
    products = dictionary.T @ (point - target)
    least = products.min() if domain == "hull" else -radius * np.abs(products).max()
    return float((point - target) @ point - least)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("domain", ["hull", "l1"])
@pytest.mark.parametrize("method", ["betting", "exact"])
def test_reaches_the_optimum(
    variant: str, domain: str, method: str, problem: tuple[Array, Floats]
) -> None:
    dictionary, target = problem
    radius = 1.0 if domain == "hull" else 0.6
    tol = 20.0 if variant == "plain" else 0.01
    found = frank_wolfe(
        dictionary,
        target,
        domain=domain,
        radius=radius,
        variant=variant,
        tol=tol,
        delta=1e-6,
        method=method,
        rng=0,
    )
    assert found.converged
    gap = true_gap(dictionary, target, found.point, domain, radius)
    # The bound is one: nothing is lost to the loss of the oracle, nor much beyond rounding.
    assert gap <= found.gap + 1e-6 <= tol + 1e-6
    np.testing.assert_allclose(dictionary @ found.coef, found.point, atol=1e-8)
    assert found.value == pytest.approx(0.5 * ((found.point - target) ** 2).sum())
    assert np.abs(found.coef).sum() <= radius * (1 + 1e-9)
    if domain == "hull":
        assert found.coef.min() >= 0
        assert found.coef.sum() == pytest.approx(1)
    assert len(found.gaps) == found.n_iter + 1
    assert found.gaps[-1] == found.gap
    assert "the duality gap is at most" in str(found.certificate)


def test_steps_are_those_of_the_exact_oracle(problem: tuple[Array, Floats]) -> None:
    dictionary, target = problem
    options: dict[str, Any] = {"tol": 0.1, "rng": 0}
    steps = {
        method: frank_wolfe(dictionary, target, method=method, **options).n_iter
        for method in ("betting", "exact")
    }
    assert steps["betting"] <= 1.05 * steps["exact"] + 1


def test_the_loss_of_the_oracle_shrinks_with_the_gap(
    problem: tuple[Array, Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[float, float]] = []
    search = sureshot.top_k

    def recorded(*arguments: Any, **options: Any) -> sureshot.TopK:
        asked.append((options["epsilon"], options["delta"]))
        return search(*arguments, **options)

    monkeypatch.setattr(sureshot, "top_k", recorded)
    dictionary, target = problem
    found = frank_wolfe(dictionary, target, tol=0.1, rng=0, delta=0.05)
    losses = [loss for loss, _ in asked]
    assert losses[:2] == [0, 0]  # nothing is known of the gap yet
    later = [loss for loss in losses[2:] if loss > 0]
    assert later
    assert max(later) <= 0.25 * found.gaps.max()
    assert later[-1] < 0.01 * later[0]
    assert sum(share for _, share in asked) < 0.05


@pytest.mark.parametrize("tol", [0.1, 0.5, 1.0, 2.0, 5.0])
def test_a_lossy_oracle_is_accounted_for(
    tol: float, problem: tuple[Array, Floats], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An oracle that always loses as much as it may: the bound of the gap must hold all the same."""
    search = sureshot.top_k
    asked: list[float] = []
    lost: list[float] = []

    def worst(data: Array, query: Floats, k: int, **options: Any) -> sureshot.TopK:
        exact = search(data, query, len(data), **{**options, "method": "exact", "epsilon": 0.0})
        asked.append(options["epsilon"])
        allowed = exact.scores[0] - options["epsilon"]
        at = int(np.flatnonzero(exact.scores >= allowed)[-1])
        lost.append(float(exact.scores[0] - exact.scores[at]))
        certificate = sureshot.Certificate(
            epsilon=options["epsilon"],
            delta=options["delta"],
            exact=options["epsilon"] == 0,
            scores="exact",
            unconditional=True,
            assumption="none",
        )
        return sureshot.TopK(
            exact.scores[at : at + 1].copy(),
            exact.indices[at : at + 1].copy(),
            certificate,
            exact.work,
            (),
            "exact",
        )

    monkeypatch.setattr(sureshot, "top_k", worst)
    dictionary, target = problem
    found = frank_wolfe(dictionary, target, tol=tol, rng=0)
    assert found.converged
    assert max(lost) > 0
    assert true_gap(dictionary, target, found.point, "hull", 1.0) <= found.gap + 1e-9
    # Near the tolerance, too, a loss is allowed: to know the best vertex itself may take every number.
    assert 0.0 not in asked[2:]


@pytest.mark.parametrize("variant", VARIANTS)
def test_quadratics_and_objectives_of_ones_own(variant: str, problem: tuple[Array, Floats]) -> None:
    dictionary, target = problem
    scale = np.linspace(0.5, 2, len(target))
    weighted = Quadratic(scale * target, scale)
    whole = Quadratic(scale * target, np.diag(scale))

    class Mine:
        """The same, from outside of the library."""

        def value(self, point: Floats) -> float:
            return float(0.5 * scale @ (point - target) ** 2)

        def gradient(self, point: Floats) -> Floats:
            return np.asarray(scale * (point - target))

        def step(self, point: Floats, direction: Floats, largest: float) -> float:
            best = -(self.gradient(point) @ direction) / (scale @ direction**2)
            return float(np.clip(best, 0, largest))

    objectives = (weighted, whole, Mine())
    found = [
        frank_wolfe(dictionary, one, variant=variant, tol=20.0, max_iter=30, rng=0)
        for one in objectives
    ]
    points = [one.point for one in found]
    # Where vertices are equal, rounding decides between them; but all end near the same least value.
    assert np.ptp([weighted.value(point) for point in points]) <= max(one.gap for one in found)
    ahead = points[1] - points[0] + dictionary[:, 0]
    for one in objectives[1:]:
        here, origin = points[0], np.zeros(len(target))  # they may differ by a constant
        expected = weighted.value(here) - weighted.value(origin)
        assert one.value(here) - one.value(origin) == pytest.approx(expected)
        np.testing.assert_allclose(one.gradient(points[0]), weighted.gradient(points[0]), atol=1e-9)
        for largest in (1e-3, 1e3):
            expected = weighted.step(points[0], ahead, largest)
            assert one.step(points[0], ahead, largest) == pytest.approx(expected)
    numeric = [
        (weighted.value(points[0] + h) - weighted.value(points[0] - h)) / 2e-3
        for h in 1e-3 * np.eye(len(target))[:5]
    ]
    np.testing.assert_allclose(weighted.gradient(points[0])[:5], numeric, rtol=1e-5, atol=1e-6)


def test_the_steps_end_at_max_iter(problem: tuple[Array, Floats]) -> None:
    found = frank_wolfe(*problem, tol=1e-9, max_iter=3, rng=0)
    assert (found.n_iter, found.converged) == (3, False)
    assert found.gap > 1e-9


@pytest.mark.parametrize("place", ["columns", "rows"])
@pytest.mark.parametrize("domain", ["hull", "l1"])
def test_the_oracle_finds_the_best_vertex(place: str, domain: str) -> None:
    rng = np.random.default_rng(5)
    dictionary, gradient = rng.normal(size=(1_500, 70)), rng.normal(size=1_500)
    radius = 1.0 if domain == "hull" else 3.0
    given = dictionary if place == "columns" else dictionary.T
    best = linear_minimization_oracle(
        given, gradient, domain=domain, radius=radius, atoms=place, delta=1e-9, rng=0
    )
    products = dictionary.T @ gradient
    truth = products.min() if domain == "hull" else -radius * np.abs(products).max()
    assert best.value == pytest.approx(truth)
    assert best.weight * products[best.index] == pytest.approx(best.value)
    assert best.answer.certificate.delta <= 1e-9
    loose = linear_minimization_oracle(
        given, gradient, domain=domain, radius=radius, atoms=place, epsilon=50.0, rng=0
    )
    assert loose.value <= truth + 50
    assert loose.loss <= 50 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"domain": "ball"}, "domain must be one of 'hull', 'l1'; got 'ball'"),
        ({"radius": 0.0, "domain": "l1"}, "radius must be above 0, got 0"),
        ({"radius": 2.0}, "radius is for domain='l1', got radius=2 with domain='hull'"),
        ({"variant": "lazy"}, "variant must be one of 'plain', 'away', 'pairwise'; got 'lazy'"),
        ({"tol": 0.0}, "tol must be above 0, got 0"),
        ({"max_iter": 0}, "max_iter must be at least 1, got 0"),
        (
            {"objective": np.ones(3)},
            r"objective must have shape \(2,\), like the atoms, got \(3,\)",
        ),
    ],
)
def test_bad_input(changes: dict[str, Any], message: str) -> None:
    arguments: dict[str, Any] = {"dictionary": np.eye(2), "objective": np.ones(2)}
    with pytest.raises(ValueError, match=message):
        module_function(**(arguments | changes))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[1.0]],), r"linear must be a finite vector, got an array of shape \(1, 1\)"),
        (([1.0, np.inf],), "linear must be a finite vector"),
        (([1.0, 2.0], np.ones(3)), r"hessian must have shape \(2, 2\) or \(2,\), got \(3,\)"),
    ],
)
def test_bad_quadratics(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Quadratic(*arguments)


# copt imports what scipy no longer has.
@pytest.mark.filterwarnings("ignore:scipy.misc:DeprecationWarning")
def test_another_library_can_call_the_oracle(problem: tuple[Array, Floats]) -> None:
    copt = pytest.importorskip("copt", reason="the library that calls the oracle")
    dictionary, target = problem
    bounds, generator = sureshot.scan(dictionary.T), np.random.default_rng(0)

    def value_and_gradient(point: Floats) -> tuple[float, Floats]:
        rest = point - target
        return 0.5 * float(rest @ rest), rest

    def oracle(direction: Floats, point: Floats, _: Any) -> tuple[Floats, Any, None, float]:
        best = linear_minimization_oracle(
            dictionary, -direction, bounds=bounds, rng=generator, delta=1e-6
        )
        return best.weight * dictionary[:, best.index] - point, best.index, None, 1.0

    steps = 15
    theirs = copt.minimize_frank_wolfe(
        value_and_gradient,
        dictionary[:, int(np.argmin(dictionary.T @ -target))].copy(),
        oracle,
        jac=True,
        step="DR",
        lipschitz=1.0,
        max_iter=steps,
        tol=1e-12,
    )
    # Its oracle loses nothing, and neither does ours.
    ours = frank_wolfe(
        dictionary, target, variant="plain", tol=1e-12, max_iter=steps, method="exact", rng=0
    )
    np.testing.assert_allclose(theirs.x, ours.point, atol=1e-6)
