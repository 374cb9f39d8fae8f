"""Matching pursuits: the atoms that exact searches choose, the coefficients of least squares, one certificate."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from sureshot.solvers import matching_pursuit, orthogonal_matching_pursuit
from sureshot.solvers.path import Path

if TYPE_CHECKING:
    from pathlib import Path as Folder

    from sureshot._types import Array, Floats

# A wrong atom is then a mistake, and no bad luck.
CERTAIN = 1e-9


def sparse_signal(
    samples: int, atoms: int, few: int, seed: int = 0
) -> tuple[Array, Floats, set[int]]:
    """Return a dictionary with atoms in columns, a combination of a few of them, and these."""
    rng = np.random.default_rng(seed)
    dictionary = rng.standard_normal((samples, atoms), dtype=np.float32)
    dictionary /= np.linalg.norm(dictionary, axis=0)
    chosen = rng.choice(atoms, few, replace=False)
    weights = rng.uniform(1, 3, few) * rng.choice([-1, 1], few)
    return dictionary, dictionary[:, chosen].astype(np.float64) @ weights, set(chosen.tolist())


def greedy(dictionary: Array, signal: Floats, steps: int, *, orthogonal: bool) -> list[int]:
    """Return the atoms of a pursuit, done the slow way."""
    atoms, residual = dictionary.astype(np.float64), signal.copy()
    chosen: list[int] = []
    for _ in range(steps):
        best = int(np.argmax(np.abs(atoms.T @ residual)))
        chosen.append(best)
        if orthogonal:
            used = atoms[:, chosen]
            residual = signal - used @ np.linalg.lstsq(used, signal, rcond=None)[0]
        else:
            atom = atoms[:, best]
            residual = residual - (atom @ residual) / (atom @ atom) * atom
    return chosen


@pytest.mark.parametrize("method", ["betting", "exact", "bounded-me"])
@pytest.mark.parametrize("layout", ["columns", "rows", "columns F", "rows F"])
@pytest.mark.parametrize("orthogonal", [True, False])
def test_pursuits_take_the_best_atom_at_each_step(
    method: str, layout: str, orthogonal: bool
) -> None:
    pytest.importorskip("scipy", reason="orthogonal matching pursuit needs the extra [solvers]")
    samples, _, _ = sparse_signal(1_100, 150, 8)
    signal = np.random.default_rng(1).normal(size=1_100)
    place = layout.split(maxsplit=1)[0]
    dictionary = samples if place == "columns" else samples.T
    dictionary = (
        np.asfortranarray(dictionary) if "F" in layout else np.ascontiguousarray(dictionary)
    )
    options: dict[str, Any] = {"atoms": place, "delta": CERTAIN, "rng": 0, "method": method}
    if orthogonal:
        found = orthogonal_matching_pursuit(dictionary, signal, n_nonzero_coefs=12, **options)
    else:
        found = matching_pursuit(dictionary, signal, max_iter=12, **options)
    assert found.support.tolist() == greedy(samples, signal, 12, orthogonal=orthogonal)
    left = signal - samples.astype(np.float64) @ found.coef
    np.testing.assert_allclose(found.residual, left, atol=1e-12)
    assert found.squared_errors[-1] == pytest.approx(left @ left)
    assert (np.diff(found.squared_errors) < 0).all()
    assert len(found.squared_errors) == 13
    if orthogonal:
        used = samples[:, found.support].astype(np.float64)
        best = np.linalg.lstsq(used, signal, rcond=None)[0]
        np.testing.assert_allclose(found.coef[found.support], best, rtol=1e-9)


@pytest.mark.parametrize("order", ["C", "F"])
def test_the_support_is_that_of_scikit_learn(order: Any) -> None:
    linear_model = pytest.importorskip("sklearn", reason="compared with") and __import__(
        "sklearn.linear_model", fromlist=["orthogonal_mp"]
    )
    dictionary, signal, truth = sparse_signal(2_000, 500, 12, seed=3)
    dictionary = np.asarray(dictionary, order=order)
    found = orthogonal_matching_pursuit(dictionary, signal, n_nonzero_coefs=12, rng=0)
    theirs = linear_model.orthogonal_mp(dictionary, signal, n_nonzero_coefs=12, precompute=False)
    assert set(found.support.tolist()) == set(np.flatnonzero(theirs).tolist()) == truth
    np.testing.assert_allclose(found.coef, theirs, atol=1e-6)


def test_a_tolerance_or_nothing_left_ends_a_pursuit() -> None:
    pytest.importorskip("scipy", reason="orthogonal matching pursuit needs the extra [solvers]")
    dictionary, signal, truth = sparse_signal(300, 90, 6)
    found = orthogonal_matching_pursuit(dictionary, signal, tol=1e-6, rng=0)
    assert set(found.support.tolist()) == truth
    assert found.squared_errors[-1] <= 1e-6 < found.squared_errors[-2]
    # Nothing but rounding is left after six atoms: that is no reason to go on, nor to warn.
    found = orthogonal_matching_pursuit(dictionary, signal, n_nonzero_coefs=20, rng=0)
    assert set(found.support.tolist()) == truth
    found = matching_pursuit(dictionary, signal, max_iter=1_000, tol=1e-3, rng=0)
    assert found.squared_errors[-1] <= 1e-3 < found.squared_errors[-2]
    nothing = matching_pursuit(dictionary, 0 * signal, max_iter=5, rng=0)
    assert len(nothing.support) == 0
    assert not nothing.coef.any()
    assert nothing.certificate.exact


def test_dependent_atoms_end_a_pursuit_with_a_warning() -> None:
    pytest.importorskip("scipy", reason="orthogonal matching pursuit needs the extra [solvers]")
    dictionary = np.repeat(np.eye(6)[:, :2], 3, axis=1)
    with pytest.warns(RuntimeWarning, match="ended after 2 atoms"):
        found = orthogonal_matching_pursuit(dictionary, np.arange(6.0), n_nonzero_coefs=4, rng=0)
    assert found.squared_errors[-1] == pytest.approx(4 + 9 + 16 + 25)


def test_one_certificate_for_the_whole_path(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy", reason="orthogonal matching pursuit needs the extra [solvers]")
    asked: list[tuple[float, Any]] = []
    expected: list[float | None] = []
    search = sureshot.top_k

    def recorded(*arguments: Any, **options: Any) -> sureshot.TopK:
        asked.append((options["delta"], options["rng"]))
        expected.append(options["expected_score"])
        return search(*arguments, **options)

    monkeypatch.setattr(sureshot, "top_k", recorded)
    dictionary, signal, _ = sparse_signal(2_000, 300, 5)
    found = orthogonal_matching_pursuit(
        np.asfortranarray(dictionary), signal, n_nonzero_coefs=5, delta=0.1, rng=7
    )
    # The same share for each, and one generator.
    assert [share for share, _ in asked] == pytest.approx([0.02] * 5)
    generators = [rng for _, rng in asked]
    assert isinstance(generators[0], np.random.Generator)
    assert all(rng is generators[0] for rng in generators)
    # At first five atoms in equal parts are expected, then the best score of the step before.
    norms = np.linalg.norm(dictionary, axis=0)
    first = np.median(norms) * np.linalg.norm(signal) / np.sqrt(5)
    assert expected == pytest.approx([first, *(one.scores[0] for one in found.answers[:-1])])
    sampled = sum(not answer.certificate.exact for answer in found.answers)
    assert sampled > 0
    assert found.certificate.delta == pytest.approx(0.02 * sampled)
    assert found.certificate.unconditional
    assert "each of the 5 chosen atoms was the best one" in str(found.certificate)
    assert found.work.numbers_scanned == dictionary.size
    assert found.work.numbers_read == dictionary.size + sum(
        answer.work.numbers_read for answer in found.answers
    )
    # Where the number of steps is not known the shares shrink, and never add up to more than delta.
    asked.clear()
    orthogonal_matching_pursuit(dictionary, signal, tol=1e-8, delta=0.1, rng=7)
    shares = [share for share, _ in asked]
    assert shares == pytest.approx([0.1 / (t * (t + 1)) for t in range(1, len(shares) + 1)])


def path_over(atoms: Array, **changes: Any) -> Path:
    options: dict[str, Any] = {
        "metric": "abs-ip",
        "delta": 0.05,
        "questions": 20,
        "bounds": "scan",
        "method": "betting",
        "rng": 0,
        "threads": 1,
    }
    return Path(atoms, **options | changes)


def test_about_so_many_questions_share_half_of_delta(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[float] = []
    search = sureshot.top_k

    def recorded(*arguments: Any, **options: Any) -> sureshot.TopK:
        shares.append(options["delta"])
        return search(*arguments, **options)

    monkeypatch.setattr(sureshot, "top_k", recorded)
    path = path_over(np.eye(4), questions=None, delta=0.1, about=3)
    for _ in range(5):
        path.ask(np.ones(4))
    equal = [0.05 / 3] * 3 + [0.0] * 2
    halves = [more + 0.05 / (t * (t + 1)) for t, more in enumerate(equal, start=1)]
    assert shares == pytest.approx(halves)
    # However many follow: they have what is left of the second half.
    assert sum(shares) + 0.05 / 6 == pytest.approx(0.1)


def test_signals_of_any_size_have_an_expected_score_or_none() -> None:
    path = path_over(2 * np.eye(4))
    assert path.expected_score(np.array([3.0, 0.0, 4.0, 0.0]), 4) == pytest.approx(5.0)
    assert path.expected_score(np.full(4, 1e200), 4) is None


def test_orders_are_fresh_at_every_step() -> None:
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(40, 2_000)) + 2 * rng.normal(size=(40, 1))
    path = path_over(atoms)
    read = {path.ask(np.ones(2_000)).work.numbers_read for _ in range(3)}
    assert len(read) > 1


def test_after_sampling_in_vain_questions_are_answered_exactly_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    search = sureshot.top_k

    def recorded(*arguments: Any, **options: Any) -> sureshot.TopK:
        asked.append(options["method"][0])
        return search(*arguments, **options)

    monkeypatch.setattr(sureshot, "top_k", recorded)
    path = path_over(np.eye(8))  # so short that everything is read
    for _ in range(13):
        path.ask(np.arange(8.0))
    assert "".join(asked) == "bb" + "e" + "b" + "ee" + "b" + "eeee" + "b" + "e"
    asked.clear()
    rng = np.random.default_rng(0)
    path = path_over(rng.normal(size=(40, 2_000)) + 2 * rng.normal(size=(40, 1)))
    assert all(path.ask(np.ones(2_000)).work.share < 1 for _ in range(5))
    assert "".join(asked) == "bbbbb"


@pytest.mark.parametrize(("shift", "expected"), [(2.0, None), (0.1, 32)])
def test_after_a_question_that_read_much_two_lines_are_read_together(
    monkeypatch: pytest.MonkeyPatch, shift: float, expected: int | None
) -> None:
    blocks: list[int | None] = []
    search = sureshot.top_k

    def recorded(*arguments: Any, **options: Any) -> sureshot.TopK:
        blocks.append(options.get("block"))
        return search(*arguments, **options)

    monkeypatch.setattr(sureshot, "top_k", recorded)
    rng = np.random.default_rng(0)
    # With a small shift the atoms lie so close together that much of them is read.
    atoms = rng.normal(size=(200, 20_000)) + shift * rng.normal(size=(200, 1))
    path = path_over(atoms.astype(np.float32))
    for _ in range(3):
        assert path.ask(np.ones(20_000)).work.share < 1
    assert blocks == [None, expected, expected]


def test_memory_maps_are_not_copied(tmp_path: Folder) -> None:
    pytest.importorskip("scipy", reason="orthogonal matching pursuit needs the extra [solvers]")
    dictionary, signal, truth = sparse_signal(400, 60, 3)
    np.save(tmp_path / "dictionary.npy", dictionary)
    mapped = np.load(tmp_path / "dictionary.npy", mmap_mode="r")
    found = orthogonal_matching_pursuit(mapped, signal, n_nonzero_coefs=3, rng=0)
    assert set(found.support.tolist()) == truth


DICTIONARY = np.eye(4)
SIGNAL = np.arange(4.0)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"dictionary": [[1.0]]}, TypeError, "dictionary must be a numpy array .*, got list"),
        ({"dictionary": np.ones(4)}, ValueError, r"2 dimensions, got shape \(4,\)"),
        ({"dictionary": np.ones((4, 0))}, ValueError, "dictionary must not be empty"),
        ({"signal": np.ones(3)}, ValueError, r"signal must have shape \(4,\), .* got \(3,\)"),
        ({"signal": [0, np.nan, 1, 2]}, ValueError, "signal must be finite, got nan at position 1"),
        ({"atoms": "column"}, ValueError, "atoms must be one of 'columns', 'rows'; got 'column'"),
        ({"max_iter": 0}, ValueError, "max_iter must be at least 1, got 0"),
        ({"max_iter": 1.5}, TypeError, "max_iter must be an integer, got 1.5"),
        ({"tol": -1.0}, ValueError, "tol must be finite and at least 0, got -1"),
        ({"tol": "low"}, TypeError, "tol must be a number, got 'low'"),
        ({"delta": 1.0}, ValueError, "delta must lie strictly between 0 and 1"),
        ({"method": "fast"}, ValueError, "method must be one of"),
    ],
)
def test_bad_input(changes: dict[str, Any], error: Any, message: str) -> None:
    arguments: dict[str, Any] = {"dictionary": DICTIONARY, "signal": SIGNAL, "max_iter": 1}
    with pytest.raises(error, match=message):
        matching_pursuit(**(arguments | changes))


def test_more_atoms_than_there_are() -> None:
    pytest.importorskip("scipy", reason="orthogonal matching pursuit needs the extra [solvers]")
    with pytest.raises(ValueError, match="at most the number of atoms, 4, got 5"):
        orthogonal_matching_pursuit(DICTIONARY, SIGNAL, n_nonzero_coefs=5)


def test_without_scipy_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['scipy'] = None; sys.modules['sklearn'] = None\n"
        "import numpy as np, sureshot.solvers as solvers\n"
        "print(solvers.matching_pursuit(np.eye(2), [0.0, 1.0], max_iter=1).coef)\n"
        "for use in (lambda: solvers.orthogonal_matching_pursuit(np.eye(2), [0.0, 1.0]),\n"
        "            lambda: solvers.OrthogonalMatchingPursuit):\n"
        "    try:\n        use()\n"
        "    except ModuleNotFoundError as error:\n        print(error)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert "[0. 1.]" in shown
    assert "sureshot[solvers]" in shown
    assert "sureshot[sklearn]" in shown
