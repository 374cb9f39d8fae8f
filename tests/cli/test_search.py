"""``sureshot search``: both kinds of output, every option, and every way to refuse input."""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from tests.cli.conftest import assert_refused, assert_same_result, library, rows_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Invoke

BOUNDED_ME = ["--method", "bounded-me", "--bounds", "-1,1", "--epsilon", "200", "--seed", "3"]


def test_search_shows_what_the_library_finds(invoke: Invoke, folder: Path) -> None:
    shown = invoke("search", "data.npy", "query.npy", "-k", "4", "--seed", "3")
    expected = library(folder, "query.npy", 4, rng=3)
    assert shown.exit_code == 0
    assert shown.stderr == ""
    scores, indices = expected
    assert rows_of(shown.output) == [
        [str(rank), str(index), f"{score:.8g}"]
        for rank, (score, index) in enumerate(zip(scores, indices, strict=True), start=1)
    ]
    assert str(expected.certificate) in shown.output
    assert f"Read {expected.work.numbers_read:,} numbers" in shown.output


def test_every_option_reaches_the_library(invoke: Invoke, folder: Path) -> None:
    arguments = [
        *BOUNDED_ME,
        "-k",
        "2",
        "--metric",
        "l1",
        "--delta",
        "0.2",
        "--threads",
        "1",
        "--block",
        "1",
        "--without-replacement",
    ]
    found = json.loads(invoke("search", "data.npy", "query.npy", *arguments, "--json").stdout)
    expected = library(
        folder,
        "query.npy",
        k=2,
        metric="l1",
        epsilon=200,
        delta=0.2,
        bounds=(-1, 1),
        method="bounded-me",
        replacement=False,
        rng=3,
        threads=1,
        block=1,
    ).to_dict()
    assert found["parameters"] == {
        "data": "data.npy",
        "query": "query.npy",
        "k": 2,
        "metric": "l1",
        "epsilon": 200.0,
        "delta": 0.2,
        "bounds": [-1.0, 1.0],
        "method": "bounded-me",
        "replacement": False,
        "budget": None,
        "budget_seconds": None,
        "row_scale": None,
        "seed": 3,
        "threads": 1,
        "block": 1,
    }
    assert_same_result(found, expected)


def test_options_not_given_are_left_to_the_library(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed: list[dict[str, Any]] = []

    def spy(data: object, query: object, **keywords: Any) -> sureshot.TopK:
        passed.append({"data": data, "query": query, **keywords})
        return original(data, query, **keywords)  # type: ignore[arg-type]

    original = sureshot.top_k
    monkeypatch.setattr(sureshot, "top_k", spy)
    found = invoke("search", "data.npy", "query.npy", "--json")
    assert found.exit_code == 0
    # Mapped, never loaded whole; and no progress without a terminal.
    assert isinstance(passed[0].pop("data"), np.memmap)
    assert isinstance(passed[0].pop("query"), np.memmap)
    assert passed == [{"progress": None}]
    parameters = inspect.signature(original).parameters
    used = json.loads(found.stdout)["parameters"]
    assert used["method"] == parameters["method"].default
    assert used["seed"] is None


def test_a_few_queries_have_a_table_each(invoke: Invoke, folder: Path) -> None:
    shown = invoke("search", "data.npy", "queries3.npy", "-k", "2", *BOUNDED_ME)
    expected = library(
        folder, "queries3.npy", 2, method="bounded-me", bounds=(-1, 1), epsilon=200, rng=3
    )
    assert [cells[1] for cells in rows_of(shown.output)] == [str(i) for i in expected.indices.flat]
    assert all(f"query {position}" in shown.output for position in range(3))
    assert f"For each query: {expected.certificate}" in shown.output
    assert "of the data per query" in shown.output


def test_many_queries_have_a_row_each(invoke: Invoke, folder: Path) -> None:
    shown = invoke("search", "data.npy", "queries12.npy", "-k", "5", "--seed", "3")
    scores, indices = library(folder, "queries12.npy", 5, rng=3)
    rows = rows_of(shown.output)
    assert [cells[0] for cells in rows] == [str(position) for position in range(12)]
    assert [cells[1] for cells in rows] == [str(index) for index in indices[:, 0]]
    assert [cells[4] for cells in rows] == [f"{score:.8g}" for score in scores[:, -1]]
    found = json.loads(invoke("search", "data.npy", "queries12.npy", "--json").stdout)
    assert len(found["queries"]) == 12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.npy", "query.npy"], "cannot open absent.npy: No such file or directory"),
        (["data.npy", "absent.npy"], "cannot open absent.npy: No such file or directory"),
        (["data.npy", "."], "cannot open .: Is a directory"),
        (["text.npy", "query.npy"], "text.npy is not a .npy file"),
        (["empty.npy", "query.npy"], "empty.npy is not a .npy file"),
        (["archive.npz", "query.npy"], "archive.npz is not a .npy file"),
        (["pickled.npy", "query.npy"], "cannot use pickled.npy as an array of numbers"),
        (["cut.npy", "query.npy"], "cannot use cut.npy as an array of numbers"),
        (["header.npy", "query.npy"], "cannot use header.npy as an array of numbers"),
        (["data.npy", "narrow.npy"], "query must have 1535 coordinates"),
        (["data.npy", "words.npy"], "query must hold real numbers"),
        (["data.npy", "cube.npy"], "query must have 1 or 2 dimensions"),
        (["data.npy", "nan.npy"], "query must be finite"),
        (["query.npy", "query.npy"], "data must have 2 dimensions"),
        (["data.npy", "query.npy", "-k", "0"], "k must be at least 1, got 0"),
        (["data.npy", "query.npy", "-k", "98"], "k must be at most"),
        (["data.npy", "query.npy", "--metric", "x"], "metric must be one of 'ip'"),
        (["data.npy", "query.npy", "--method", "x"], "method must be one of"),
        (["data.npy", "query.npy", "--epsilon", "-1"], "epsilon must be at least 0, got -1"),
        (["data.npy", "query.npy", "--delta", "nan"], "delta must be finite"),
        (["data.npy", "query.npy", "--seed", "-1"], "rng must be"),
        (["data.npy", "query.npy", "--threads", "0"], "threads must be at least 1, got 0"),
        (["data.npy", "query.npy", "--method", "bounded-me"], "needs bounds=(low, high)"),
        (["data.npy", "query.npy", "--method", "exact", "--budget", "1"], "a budget works with"),
        (["data.npy", "query.npy", "--budget", "1.5"], "budget must be a share of all numbers"),
        (["data.npy", "query.npy", "--budget-seconds", "0"], "budget_seconds must be above 0"),
        (["data.npy", "query.npy", "--block", "0"], "block must be at least 1, got 0"),
        (["data.npy", "query.npy", "--row-scale", "no.npy"], "cannot open no.npy: No such file"),
        (["data.npy", "query.npy", "--row-scale", "query.npy"], "one factor for each of the 97"),
        (["data.npy", "query.npy", "--row-scale", "words.npy"], "row_scale must hold numbers"),
        (["data.npy", "query.npy", "--bounds", "1"], "--bounds must be two numbers LOW,HIGH"),
        (["data.npy", "query.npy", "--bounds", "absent.npz"], "got 'absent.npz'"),
        (["data.npy", "query.npy", "--bounds", "."], "cannot open .: Is a directory"),
        (["data.npy", "query.npy", "--bounds", "data.npy"], "data.npy is not a file that"),
        (["data.npy", "query.npy", "--bounds", "empty.npy"], "empty.npy is not a file that"),
        (["data.npy", "query.npy", "--bounds", "archive.npz"], "archive.npz is not a file that"),
        (["data.npy", "query.npy", "--bounds", "cut.npz"], "cut.npz is not a file that"),
        (["data.npy", "query.npy", "--bounds", "other-bounds.npz"], "scan of data of shape (97, 7"),
        (["data.npy", "query.npy", "--bounds", "unit"], "has a norm of at least"),  # BoundsError
        (["data.npy", "query.npy", "--bounds", "1,2,3"], "--bounds must be two numbers LOW,HIGH"),
        (["data.npy", "query.npy", "--bounds", "a,b"], "got 'a,b'"),
        (["data.npy", "query.npy", "--bounds", "1,-1"], "bounds must have low < high"),
        (["data.npy", "query.npy", *BOUNDED_ME, "--bounds", "-.1,.1"], "outside ["),  # BoundsError
    ],
)
def test_bad_input_is_told_in_one_line(invoke: Invoke, arguments: list[str], message: str) -> None:
    assert_refused(invoke("search", *arguments), message)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "sureshot: error: not enough memory\n"),
        (MemoryError("no 5 TB"), "sureshot: error: not enough memory: no 5 TB\n"),
        (TypeError("two\nlines"), "sureshot: error: two lines\n"),
    ],
)
def test_errors_of_the_library(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise error

    monkeypatch.setattr(sureshot, "top_k", fail)
    refused = invoke("search", "data.npy", "query.npy")
    assert (refused.exit_code, refused.stdout, refused.stderr) == (2, "", line)


@pytest.mark.parametrize("bounds", ["unit", "scan", "bounds.npz", "./bounds.npz", "-1,1e0"])
def test_bounds_reach_the_library(
    invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch, bounds: str
) -> None:
    passed = []

    def spy(data: object, query: object, **keywords: object) -> sureshot.TopK:
        passed.append(keywords["bounds"])
        return original(data, query, bounds=(-1, 1))  # type: ignore[arg-type]

    original = sureshot.top_k
    monkeypatch.setattr(sureshot, "top_k", spy)
    found = json.loads(
        invoke("search", "data.npy", "query.npy", "--bounds", bounds, "--json").stdout
    )
    if isinstance(passed[0], sureshot.Bounds):
        expected = sureshot.Bounds.load(folder / "bounds.npz")
        np.testing.assert_array_equal(np.asarray(passed[0].norms), np.asarray(expected.norms))
        assert found["parameters"]["bounds"] == "bounds.npz"
    elif isinstance(passed[0], tuple):
        assert passed[0] == (-1.0, 1.0)
        assert found["parameters"]["bounds"] == [-1.0, 1.0]
    else:
        assert passed[0] == bounds == found["parameters"]["bounds"]
    assert isinstance(passed[0], sureshot.Bounds) == bounds.endswith(".npz")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--bounds", "bounds.npz"], "unconditional as long as the data is what was scanned"),
        (["--bounds", "scan"], "unconditional as long as the data is what was scanned"),
        (["--bounds", "-1,1"], "unconditional as long as the data lies within the given bounds"),
        (["--metric", "l1"], "unconditional"),
    ],
)
def test_the_certificate_says_what_the_bounds_give(
    invoke: Invoke, arguments: list[str], words: str
) -> None:
    # With a budget, so that the certificate is never that of a complete search.
    budget = ["--budget", "0.05", "--seed", "3"]
    shown = invoke("search", "data.npy", "query.npy", *budget, *arguments)
    assert shown.exit_code == 0, shown.output
    assert words in shown.output


def test_a_scan_is_told(invoke: Invoke) -> None:
    shown = invoke("search", "data.npy", "query.npy", "--bounds", "scan", "--seed", "3").output
    assert f"{2 * 97 * 1535:,} of them by the scan" in shown


def test_a_budget_is_kept(invoke: Invoke, folder: Path) -> None:
    arguments = ["search", "data.npy", "query.npy", "-k", "2", "--seed", "3", "--bounds", "-1,1"]
    found = json.loads(invoke(*arguments, "--budget", "0.05", "--json").stdout)
    expected = library(folder, "query.npy", 2, bounds=(-1, 1), rng=3, budget=0.05)
    assert found["parameters"]["budget"] == 0.05
    assert found["indices"] == expected.indices.tolist()
    assert found["certificate"] == expected.certificate.to_dict()
    assert found["certificate"]["epsilon"] > 0
    assert found["work"]["numbers_read"] == expected.work.numbers_read
    shown = invoke(*arguments, "--budget", "0.05").output
    assert f"within {expected.certificate.epsilon:.6g} of the true top k" in shown


def test_a_time_is_kept(invoke: Invoke) -> None:
    # So short that it is over before the first round.
    arguments = ["--bounds", "-1,1", "--budget-seconds", "1e-9", "--json"]
    found = json.loads(invoke("search", "data.npy", "query.npy", *arguments).stdout)
    assert found["parameters"]["budget_seconds"] == 1e-9
    assert found["work"]["exact_scores"] == 10
    assert found["certificate"]["epsilon"] > 0
    assert not found["certificate"]["exact"]


def test_factors_come_from_a_file(invoke: Invoke, folder: Path) -> None:
    arguments = ["--row-scale", "factors.npy", "-k", "4", "--seed", "3", "--bounds", "bounds.npz"]
    found = json.loads(invoke("search", "data.npy", "query.npy", *arguments, "--json").stdout)
    factors, bounds = np.load(folder / "factors.npy"), sureshot.Bounds.load(folder / "bounds.npz")
    expected = library(folder, "query.npy", 4, row_scale=factors, rng=3, bounds=bounds)
    assert found["parameters"]["row_scale"] == "factors.npy"
    assert found["scores"] == expected.scores.tolist()
    assert found["indices"] == expected.indices.tolist()
    plain = library(folder, "query.npy", 4, rng=3, bounds=bounds)
    assert found["indices"] != plain.indices.tolist()


def test_cosines_take_the_norms_of_a_saved_scan(invoke: Invoke, folder: Path) -> None:
    arguments = ["--metric", "cosine", "-k", "4", "--seed", "3", "--budget", "0.1", "--json"]
    command = ["search", "data.npy", "query.npy", *arguments]
    found = json.loads(invoke(*command, "--bounds", "bounds.npz").stdout)
    assert found["work"]["share"] < 0.2
    assert "what was scanned" in found["certificate"]["assumption"]
    without = json.loads(invoke(*command).stdout)
    assert without["certificate"]["exact"]
    assert without["work"]["share"] == 1


def test_the_json_of_a_batch_has_every_round_once(invoke: Invoke, folder: Path) -> None:
    found = json.loads(invoke("search", "data.npy", "queries3.npy", *BOUNDED_ME, "--json").stdout)
    expected = library(
        folder, "queries3.npy", method="bounded-me", bounds=(-1, 1), epsilon=200, rng=3
    )
    assert "rounds" not in found
    told = [info for query in found["queries"] for info in query["rounds"]]
    assert told == [info.to_dict() for info in expected.rounds]


def test_a_block_of_its_own(invoke: Invoke, folder: Path) -> None:
    arguments = ["--bounds", "-1,1", "--block", "7", "--budget", "0.05", "--seed", "3", "--json"]
    found = json.loads(invoke("search", "data.npy", "query.npy", *arguments).stdout)
    expected = library(folder, "query.npy", bounds=(-1, 1), block=7, budget=0.05, rng=3)
    assert found["parameters"]["block"] == 7
    assert found["work"]["numbers_read"] == expected.work.numbers_read


def test_data_in_other_formats(invoke: Invoke, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    data = np.random.default_rng(0).standard_normal((30, 200), dtype=np.float32)
    files = [str(tmp_path / name) for name in ("data.h5", "query.npy")]
    np.save(files[1], data[4])
    with h5py.File(files[0], "w") as file:
        for name in ("a", "b"):
            file.create_dataset(name, data=data, chunks=(10, 50))
    found = invoke("search", *files, "--name", "b", "--json")
    assert json.loads(found.stdout)["indices"][0] == 4
    assert_refused(invoke("search", *files), f"{files[0]} holds several: say which by name=")
