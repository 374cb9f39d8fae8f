"""What is measured, once and on one matrix at a time, and that a run can be started again."""

from __future__ import annotations

import itertools
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from measurements import workloads
from measurements.harness import loop
from measurements.rivals import libraries
from measurements.speed import cases as speed_cases
from measurements.speed import measure, run
from sureshot.experiments import clock, rows
from tests.measurements.conftest import a_case

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("size", speed_cases.SIZES)
def test_the_cases_of_one_matrix_follow_each_other(size: str) -> None:
    cases = speed_cases.cases(speed_cases.WORKLOADS, size, 12, 0, 2, "now")
    assert len(cases) == len(set(cases))
    keys = [key for key, _ in itertools.groupby(cases, speed_cases.SpeedCase.data_key)]
    assert len(keys) == len(set(keys))


def test_what_is_there_is_not_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    done, other = a_case(), a_case(bounds="limits")
    rows.append(path, {**asdict(done), "n": 1})
    assert rows.missing([done, other], rows.read(path)) == [other]
    # Another state of the library, or a row that lacks a field, is another case.
    assert rows.missing([replace(done, library_digest="later")], rows.read(path)) != []
    rows.append(path, {"workload": "low-rank"})
    assert rows.missing([other], rows.read(path)) == [other]


def test_ratios_compare_the_same_query_of_both_sides() -> None:
    # The machine was slow for both in the last turn, and the rival gave up before the last query.
    ours = clock.Times(seconds=[1.0, 2.0, 10.0, 10.0])
    theirs = clock.Times(seconds=[3.0, 6.0, 30.0])
    assert measure.ratios({measure.OURS: ours, "numpy": theirs}) == {"numpy": 3.0}


def small_case(**changes: object) -> speed_cases.SpeedCase:
    return a_case(asked_n=40, asked_N=2_000, size="small", queries=2, **changes)


@pytest.mark.usefixtures("numpy_only")
@pytest.mark.parametrize("order", ["row", "coordinate"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"bounds": "none", "k": 1},
        {"method": "exact", "bounds": "none"},
        {"method": "exact", "bounds": "none", "dtype": "uint8"},
        {"task": "scan", "method": "scan", "bounds": "none"},
        {"task": "batch"},
    ],
)
def test_a_case_becomes_a_row(order: str, changes: dict[str, object]) -> None:
    case = small_case(order=order, **changes)
    row = measure.measure(measure.prepare(case, None), case)
    assert row["threads_agree"]
    assert row["timed"] == dict.fromkeys(row["seconds"], 2)
    assert row["ratios"].keys() == row["seconds"].keys() - {measure.OURS}
    assert row["reached"] == pytest.approx(row["floor_seconds"] / row["seconds"][measure.OURS])
    assert all(part == 1 for part in row["precision"].values())
    assert (measure.SINGLE in row["seconds"]) == (case.task == "batch")


@pytest.mark.usefixtures("numpy_only")
def test_a_run_can_be_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.jsonl"
    settings = run.parse(["--small", "--workloads", "gaussian,fashion-gradients"])
    settings.out, settings.queries = path, 1
    tiny = speed_cases.Sizes(20, 1_100, (), 10, (), 10, 10, 1)
    monkeypatch.setitem(speed_cases.SIZES, "small", tiny)
    monkeypatch.setattr(libraries, "versions", dict)
    found = run.run(settings)
    assert found == rows.read(path)
    assert len(found) == 6
    assert "fashion-gradients: skipped" in capsys.readouterr().err
    assert run.run(settings) == found
    assert rows.read(path) == found
    assert "6 of 6 rows are there already" in capsys.readouterr().err


@pytest.mark.usefixtures("numpy_only")
def test_a_run_stops_between_two_matrices_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny = speed_cases.Sizes(20, 1_100, (), 10, (), 10, 10, 1)
    monkeypatch.setitem(speed_cases.SIZES, "small", tiny)
    monkeypatch.setattr(libraries, "versions", dict)
    out = ["--out", str(tmp_path / "rows.jsonl")]
    parts = [["--workloads", "uniform", "--minutes", "0"], ["--workloads", "uniform"]]
    first, second = (run.run(run.parse(["--small", *part, *out])) for part in parts)
    assert (len(first), len(second)) == (0, 6)
    assert "goes on" in capsys.readouterr().err
    # What was measured in parts is shown in the order of the workloads.
    both = run.run(run.parse(["--small", "--workloads", "gaussian", *out]))
    assert [row["workload"] for row in both] == ["gaussian"] * 6 + ["uniform"] * 6


def test_wide_rows_end_with_a_million_coordinates() -> None:
    cases = speed_cases.cases(speed_cases.WORKLOADS, "full", 12, 0, 2, "now")
    for name in ("low-rank", "fashion-gradients"):
        wide = [case.asked_N for case in cases if (case.workload, case.asked_n) == (name, 2_000)]
        assert wide == [10_000, 30_000, 100_000, 300_000, 1_000_000]


def test_sides_take_turns_of_some_calls_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "REST", 0.0)
    asked: list[tuple[str, int]] = []

    def side(name: str) -> Callable[[int], int]:
        def call(position: int) -> int:
            asked.append((name, position))
            return -position

        return call

    both = {"a": side("a"), "b": side("b")}
    times = loop.in_turns(both, range(5), warm_up=9)
    turns = [(9, 0), (9, 1, 2), (9, 3, 4)]
    assert asked == [(name, at) for turn in turns for name in "ab" for at in turn]
    for found in times.values():
        assert found.results == [0, -1, -2, -3, -4]
        assert len(found.seconds) == 5
    few = loop.in_turns(both, range(5), warm_up=9, patience=-1.0)
    assert [len(found.seconds) for found in few.values()] == [clock.FEWEST] * 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--small", "--check"], "full size"),
        (["--workloads", "nothing"], "got 'nothing'"),
        (["--queries", "0"], "at least 1"),
        (["--threads", "0"], "at least 1"),
    ],
)
def test_odd_arguments(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run.parse(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("dtype", ["float16", "uint8"])
def test_types_keep_values_and_order(dtype: str) -> None:
    made = workloads.make("low-rank", n=30, N=70, queries=1, order="coordinate")
    other = workloads.as_type(made, dtype)
    assert other.data.dtype.name == dtype
    assert other.data.flags.f_contiguous
    assert (other.data >= other.low).all()
    assert (other.data <= other.high).all()
    assert np.corrcoef(other.data.ravel(), made.data.ravel())[0, 1] > 0.999
