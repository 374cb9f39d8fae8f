"""The errors of computed scores: what Theorems 16 and 18 say, and hardly more."""

from __future__ import annotations

import math

import numpy as np
import pytest

from sureshot.theory import products, screening

FLOAT, DOUBLE, ETA = 2.0**-24, 2.0**-53, 2.0**-125
WIDER = 1 + 2.0**-20  # for the rounding of the errors themselves
WIDTHS = [1, 100, 10_000]
QUERIES = [(1.0, 0.0), (3.0, 1e-7), (0.5, 0.25)]  # the norm, and that of what rounding has lost


def gamma(roundings: int, unit: float) -> float:
    return roundings * unit / (1 - roundings * unit)


def beta(roundings: int, width: int) -> float:
    """Return β of Lemma 15."""
    once = gamma(roundings, FLOAT)
    return once + (1 + once) * gamma(width, DOUBLE)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("norm", "lost"), QUERIES)
@pytest.mark.parametrize("square", [0.0, 1.0, 1e12])
def test_screened_inner_products(width: int, norm: float, lost: float, square: float) -> None:
    share, unit = beta(36, width), 8.0
    root = math.sqrt((square + width * ETA) / (1 - share))
    of_query = share * (norm + lost) + lost + gamma(width, DOUBLE) * norm
    expected = root * of_query + width * ETA * unit
    terms = screening.errors_of_products(
        query_norm=norm, query_rounding=lost, unit=unit, roundings=36, n_coordinates=width
    )
    score = 5.0
    found = float(terms.errors(np.array([score]), np.array([square]))[0])
    assert found == pytest.approx(expected * WIDER + score * 2.0**-50, rel=1e-9, abs=0)
    assert terms.of_score == 2.0**-50


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("lost", [0.0, 1e-7, 0.25])
@pytest.mark.parametrize("score", [0.0, 1.0, 1e12])
def test_screened_distances(width: int, lost: float, score: float) -> None:
    for squared, find in (
        (True, screening.errors_of_squared_distances),
        (False, screening.errors_of_absolute_distances),
    ):
        more = 2 if squared else 1
        share, double = beta(36 + more, width), gamma(width + more, DOUBLE)
        own = (share * score + width * ETA) / (1 - share)
        moved = lost * (2 * math.sqrt(score + own) + lost) if squared else lost
        expected = own + moved + double * (score + own + own + moved)
        terms = find(query_rounding=lost, roundings=36, n_coordinates=width)
        found = float(terms.errors(np.array([-score]), None)[0])
        # What is due to the score and what is due to its error are added, not combined: never less.
        assert expected <= found
        assert found == pytest.approx(expected * WIDER + score * 2.0**-50, rel=1e-7, abs=0)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(("norm", "lost"), QUERIES)
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("in_double", [False, True])
@pytest.mark.parametrize("distance", [False, True])
@pytest.mark.parametrize("size", [0.0, 2.0])
def test_multiplied_scores(
    width: int, norm: float, lost: float, kind: str, in_double: bool, distance: bool, size: float
) -> None:
    """Theorem 18 for a row and a query of that norm times their unit, and 1.001 times its parts."""
    unit, roundings = 4.0, 300
    slack = 4 * (1e-11 + 2 * DOUBLE * (width / 8 + width))
    share = gamma(roundings, FLOAT if kind == "float32" else DOUBLE)
    of_squares = slack if in_double else slack + 1.01 * share
    vanished = width * (2.0**-124 if kind == "float32" else 2.0**-700)
    row = size * math.sqrt(1 + of_squares) + width * (2.0**-511 if in_double else 2.0**-62)
    expected = 1.001 * row * ((share + slack) * norm + lost) + vanished
    if distance:
        expected += slack * (1.001 * norm) ** 2 / unit
        expected += unit * (of_squares * row**2 + (width * (0 if in_double else 2.0**-62)) ** 2)
    terms = products.error_terms(
        width=width,
        roundings=roundings,
        dtype=kind,
        squares_in_double=in_double,
        distance=distance,
    )
    queries = products.query_errors(
        terms, norms=np.array([norm]), lost=np.array([lost]), units=np.array([unit])
    )
    arms = products.arm_errors(terms, queries, np.array([size**2]), np.ones(1))
    found = unit * arms.fixed[0] + queries.lengths[0] * arms.factor[0]
    assert found == pytest.approx(expected, rel=1e-9, abs=0)
    assert arms.offset[0] == (-(size**2) / 2 if distance else 0)


def test_a_factor_of_a_row_multiplies_what_its_score_is_off() -> None:
    terms = products.error_terms(
        width=100, roundings=300, dtype="float32", squares_in_double=True, distance=False
    )
    queries = products.query_errors(
        terms, norms=np.ones(1), lost=np.full(1, 1e-8), units=np.full(1, 2.0)
    )
    once, thrice = (
        products.arm_errors(terms, queries, np.full(1, 4.0), np.full(1, factor))
        for factor in (1.0, 3.0)
    )
    assert thrice.factor == pytest.approx(3 * once.factor, abs=0)
    assert (once.scale[0], thrice.scale[0]) == (1.0, 3.0)


def test_queries_without_a_norm_count_as_small_ones() -> None:
    terms = products.error_terms(
        width=100, roundings=300, dtype="float32", squares_in_double=True, distance=False
    )
    nothing, small = (
        products.query_errors(
            terms, norms=np.full(1, norm), lost=np.zeros(1), units=np.ones(1)
        ).lengths
        for norm in (0.0, 2.0**-10 / 1.001)
    )
    assert nothing == pytest.approx(small, abs=0)
