"""What the baselines refuse, and with which words."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sureshot.baselines import BASELINES, SampleMIPS
from tests.baselines.methods import ALL, OF_THE_PAPER, TRIALS, made, population


@pytest.mark.parametrize("name", BASELINES)
def test_fit_comes_first(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"fit\(data\) must come before query"):
        made(name).query(np.ones(3), 1)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        ([[1.0, 2.0]], TypeError, "data must be a numpy array"),
        (np.ones(3), ValueError, "data must have 2 dimensions"),
        (np.ones((0, 3)), ValueError, "data must not be empty"),
        (np.ones((2, 3), np.int8), TypeError, "data of a baseline must hold float32 or float64"),
        (np.ones((2, 3), np.float16), TypeError, "float32 or float64, got float16"),
    ],
)
def test_data(name: str, data: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        made(name).fit(data)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("query", "k", "error", "words"),
    [
        (np.ones(4), 1, ValueError, "query must have 5 coordinates like the rows of data, got 4"),
        (np.ones((1, 5)), 1, ValueError, r"query must have 1 dimension, got shape \(1, 5\)"),
        (np.array([1, 2, np.nan, 3, 4]), 1, ValueError, "query must be finite"),
        (np.array(["a"] * 5), 1, TypeError, "query must hold real numbers"),
        (np.ones(5), 0, ValueError, "k must be at least 1, got 0"),
        (np.ones(5), 2.0, TypeError, "k must be an integer, got 2.0"),
        (np.ones(5), 31, ValueError, "k must be at most the number of data rows, 30, got 31"),
    ],
)
def test_queries(name: str, query: Any, k: Any, error: type[Exception], words: str) -> None:
    method = made(name).fit(population(name, (30, 5))[0])
    with pytest.raises(error, match=words):
        method.query(query, k)


SHARE = (
    "B must be a share of the rows, a float above 0 and at most 1, or their number, an integer from 1 "
    "to 30; got "
)


@pytest.mark.parametrize(
    ("name", "knobs", "error", "words"),
    [
        *[
            (name, {"B": value}, error, f"{SHARE}{value!r}")
            for name in ("greedy", "sample", "diamond")
            for value, error in (
                (0, ValueError),
                (31, ValueError),
                (-0.1, ValueError),
                (1.5, ValueError),
                (float("nan"), ValueError),
                (True, TypeError),
                ("10%", TypeError),
            )
        ],
        ("sample", {"samples": 0}, ValueError, "samples must be at least 1, got 0"),
        ("diamond", {"samples": 1.5}, TypeError, "samples must be an integer, got 1.5"),
        (
            "lsh",
            {"a": 9},
            ValueError,
            "a must be an integer from 0 to 8 (most_bits of the fit), got 9",
        ),
        ("lsh", {"a": -1}, ValueError, "a must be at least 0, got -1"),
        ("lsh", {"b": 0}, ValueError, "b must be at least 1, got 0"),
        ("lsh", {"b": 13}, ValueError, "(most_tables of the fit), got 13"),
        (
            "pca",
            {"depth": 13},
            ValueError,
            "depth must be an integer from 0 to 12 (depth of the fit)",
        ),
        ("pca", {"depth": -1}, ValueError, "depth must be at least 0, got -1"),
        ("rpt", {"L": 6}, ValueError, "L must be an integer from 1 to 5 (L of the fit), got 6"),
        ("rpt", {"leaf": 0}, ValueError, "leaf must be a share of the rows"),
        ("kmeans", {"probes": 6}, ValueError, "probes must be an integer from 1 to 5"),
    ],
)
def test_knobs(name: str, knobs: dict[str, Any], error: type[Exception], words: str) -> None:
    data, queries = population(name, (30, 5))
    method = made(name).fit(data)
    with pytest.raises(error, match=re.escape(words)):
        method.query(queries[0], 1, **knobs)


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_knob_that_is_not_there(name: str) -> None:
    data, queries = population(name, (30, 5))
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        made(name).fit(data).query(queries[0], 1, patience=3)


@pytest.mark.parametrize(
    ("name", "build", "error", "words"),
    [
        ("lsh", {"most_bits": 0}, ValueError, "most_bits must be at least 1"),
        ("lsh", {"most_bits": 63}, ValueError, "most_bits must be an integer from 1 to 62"),
        ("lsh", {"most_tables": 0}, ValueError, "most_tables must be at least 1"),
        ("pca", {"depth": -1}, ValueError, "depth must be at least 0"),
        ("rpt", {"L": 0}, ValueError, "L must be at least 1"),
        ("kmeans", {"clusters": 0}, ValueError, "clusters must be at least 1"),
        ("kmeans", {"passes": 0}, ValueError, "passes must be at least 1"),
        *[
            (name, {"rng": "x"}, TypeError, "rng must be None, a non-negative integer or a numpy")
            for name in TRIALS
            if "rng" in TRIALS[name].build
        ],
    ],
)
def test_construction(name: str, build: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        made(name, **build)


def test_more_clusters_than_rows() -> None:
    with pytest.raises(ValueError, match="clusters must be at most the number of rows, 3, got 4"):
        made("kmeans", clusters=4).fit(np.ones((3, 2)))


def test_sampling_needs_non_negative_data() -> None:
    data = np.ones((100, 6))
    data[70, 4] = -0.25
    words = "SampleMIPS needs data without negative values, got -0.25 in row 70 at coordinate 4"
    with pytest.raises(ValueError, match=words):
        SampleMIPS().fit(data)
    method = SampleMIPS().fit(np.abs(data))
    words = "SampleMIPS needs a query without negative values, got -1 at coordinate 2"
    with pytest.raises(ValueError, match=words):
        method.query(np.array([1.0, 2.0, -1.0, 1.0, -2.0, 0.0]), 1)


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_data_that_is_not_finite_is_met(name: str) -> None:
    data, queries = population(name, (30, 5))
    data[17, 3] = np.nan
    with pytest.raises(ValueError, match="finite"):
        made(name).fit(data).query(queries[0], 1)


@pytest.mark.parametrize("name", OF_THE_PAPER)
def test_a_fit_that_fails_leaves_nothing_behind(name: str) -> None:
    data, queries = population(name, (30, 5))
    method = made(name).fit(data)
    with pytest.raises(ValueError, match="dimension"):
        method.fit(data[0])
    with pytest.raises(RuntimeError, match=r"fit\(data\) must come before query"):
        method.query(queries[0], 1)
    assert (
        len(method.fit(data).query(queries[0], 1, **TRIALS[name].everything(method)).indices) == 1
    )


def test_a_fit_that_fails_halfway_leaves_nothing_behind() -> None:
    data = np.abs(population("sample", (30, 5))[0])
    method = SampleMIPS(rng=0).fit(data)
    with pytest.raises(ValueError, match="negative"):
        method.fit(-data[:20])
    with pytest.raises(RuntimeError, match=r"fit\(data\) must come before query"):
        method.query(np.ones(5), 1)


@pytest.mark.parametrize(
    ("name", "missing", "words"),
    [
        ("pca", "sklearn.utils.extmath", r"PCAMIPS needs scikit-learn: .*sureshot\[baselines\]"),
        ("kmeans", "sklearn.cluster", r"KMeansMIPS needs scikit-learn: .*sureshot\[baselines\]"),
        ("faiss-flat", "faiss", "FaissFlat needs faiss: pip install faiss-cpu"),
        ("faiss-ivf", "faiss", "FaissIVF needs faiss"),
        ("faiss-hnsw", "faiss", "FaissHNSW needs faiss"),
        ("hnswlib", "hnswlib", "Hnswlib needs hnswlib: pip install hnswlib"),
        ("usearch", "usearch.index", "Usearch needs usearch: pip install usearch"),
    ],
)
def test_what_is_not_installed_is_named(
    name: str, missing: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, missing, None)
    with pytest.raises(ImportError, match=words):
        made(name).fit(population(name, (30, 5))[0])
