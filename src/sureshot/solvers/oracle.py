"""The linear minimisation oracle: the vertex of a hull, or of an ℓ1 ball, with the least inner product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sureshot.solvers.dictionary import atoms_of, nonnegative, one_of, positive, vector
from sureshot.solvers.path import Path
from sureshot.solvers.products import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    import sureshot

# What is searched over, and the metric that finds its best vertex.
DOMAINS = {"hull": "ip", "l1": "abs-ip"}


@dataclass(frozen=True, eq=False)
class Vertex:
    """A vertex: an atom, or an atom times plus or minus the radius.

    Attributes
    ----------
    index
        Which atom.
    weight
        What it is multiplied by: 1 in a hull, the radius or minus the radius in an ℓ1 ball.
    value
        The inner product of gradient and vertex, exact up to rounding.
    loss
        How much larger than the least one it may be, with the probability that the certificate states. 0 if it is the
        least.
    answer
        The search that found it, with its certificate and its work.
    """

    index: int
    weight: float
    value: float
    loss: float
    answer: sureshot.TopK


def linear_minimization_oracle(
    dictionary: NDArray[Any],
    gradient: Any,
    *,
    domain: str = "hull",
    radius: float = 1.0,
    atoms: str = "columns",
    epsilon: float = 0.0,
    delta: float = 0.05,
    bounds: Any = None,
    method: str = "betting",
    rng: Any = None,
    threads: int | None = None,
) -> Vertex:
    """Find the vertex v with the least inner product with a gradient.

    Parameters
    ----------
    dictionary
        Array or memory map with an atom in each column or in each row, as in `matching_pursuit`.
    gradient
        One number for each coordinate of an atom.
    domain
        ``"hull"``: the vertices are the atoms. ``"l1"``: the vertices are the atoms times `radius` and times -`radius`, so that
        their hull is the dictionary times the ℓ1 ball of coefficients.
    radius
        Of the ℓ1 ball.
    atoms
        ``"columns"`` or ``"rows"``: where the atoms are.
    epsilon
        Allowed loss: how much larger than the least inner product the returned one may be.
    delta
        Allowed probability of a larger loss. A solver asks many times: give each call a share, and one Generator to all.
    bounds, method, rng, threads
        As in `sureshot.top_k`. For many calls scan once: ``bounds=sureshot.scan(dictionary.T)``, without ``.T`` if the atoms
        are rows.

    Returns
    -------
    Vertex
        ``index``, ``weight``, ``value``, ``loss``, and the search as ``answer``.

    Examples
    --------
    >>> import numpy as np
    >>> dictionary = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])
    >>> best = linear_minimization_oracle(dictionary, [1.0, 2.0], domain="l1", radius=10.0)
    >>> best.index, best.weight, best.value
    (1, -10.0, -60.0)
    """
    rows = atoms_of(dictionary, atoms)
    query = vector(gradient, "gradient", rows.shape[1])
    metric, radius = vertices(domain, radius)
    path = Path(
        rows,
        metric=metric,
        delta=delta,
        questions=1,
        bounds=bounds,
        method=method,
        rng=rng,
        threads=threads,
    )
    return best_vertex(path, query, domain, radius, nonnegative(epsilon, "epsilon"))


def vertices(domain: Any, radius: Any) -> tuple[str, float]:
    """Return the metric that finds the best vertex of a domain, and the radius, checked."""
    metric = DOMAINS[one_of(domain, DOMAINS, "domain")]
    radius = positive(radius, "radius")
    if domain == "hull" and radius != 1:
        raise ValueError(f"radius is for domain='l1', got radius={radius:g} with domain='hull'")
    return metric, radius


def best_vertex(
    path: Path, gradient: NDArray[np.float64], domain: str, radius: float, epsilon: float
) -> Vertex:
    """Ask for the best vertex, up to a loss."""
    answer = path.ask(-gradient, epsilon / radius)
    index, score = int(answer.indices[0]), float(answer.scores[0])
    weight = radius
    if domain == "l1" and dot(path.atoms[index].astype(np.float64), gradient) > 0:
        weight = -radius
    certificate = answer.certificate
    loss = 0.0 if certificate.exact else radius * certificate.epsilon
    return Vertex(index, weight, -radius * score, loss, answer)
