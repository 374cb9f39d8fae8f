"""What docs/trust.md rests on: searches that are counted rightly, inputs that are judged rightly, rows and page."""

from __future__ import annotations

import ast
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import sureshot
from measurements.harness.page import DOCS
from measurements.trust import (
    cases,
    figure,
    files,
    fuzz,
    fuzz_table,
    mutants,
    mutants_table,
    mutate,
    run,
    running,
    searches,
    table,
    verdict,
)
from sureshot.experiments import drawing, rows
from sureshot.search.methods import METHODS
from tests import pictures

if TYPE_CHECKING:
    from sureshot.experiments.rows import Row


def cell(**changes: Any) -> cases.Cell:
    usual = cases.Cell("coins", "betting", False, "ip", "limits", "C", False, 0.3)
    return dataclasses.replace(usual, **changes)


def test_every_method_bounds_metric_and_order_is_searched() -> None:
    found = cases.parts(10**6)
    assert len(found) * cases.TRIALS >= 10**6
    assert len(set(found)) == len(found)
    betting = [one for one in found if one.method == cases.DEFAULT]
    assert {(one.metric, one.bounds, one.order) for one in betting} == {
        (metric, bounds, order)
        for metric in ("ip", "abs-ip", "sqeuclidean", "l1", "cosine")
        for bounds in cases.BOUNDS
        for order in cases.ORDERS
    }
    promising = {name for name, record in METHODS.items() if record.budget != "required"}
    assert {one.method for one in found} == promising
    assert cases.parts(10**4) == found[: 10**4 // cases.TRIALS]  # a longer run goes on


@pytest.mark.parametrize(
    ("metric", "bounds"), [("ip", "limits"), ("l1", "norms"), ("cosine", "scan")]
)
def test_searches_are_raced_and_keep_their_promise(metric: str, bounds: str) -> None:
    row = searches.measure(cell(metric=metric, bounds=bounds))
    assert row["broken"] == 0
    assert table.chance(row["wrong"], row["trials"], 0.3) > 1e-6
    assert row["certain"] < row["trials"]


def test_wrong_answers_are_counted() -> None:
    task = searches.task_of(cell())
    found = sureshot.top_k(task.data, task.query, 1, method="exact")
    assert searches.verdicts(found, task, "ip") == ["certain"]
    worst = dataclasses.replace(task, truth=-task.truth)
    assert "broken" in searches.verdicts(found, worst, "ip")
    guess = dataclasses.replace(
        found.certificate, exact=False, delta=0.05, scores="estimate", every_position=True
    )
    asked = dataclasses.replace(found, certificate=guess)
    assert searches.verdicts(asked, worst, "ip") == ["wrong"]


def test_the_worst_data_is_named() -> None:
    rows_of_two = [
        {**dataclasses.asdict(cell(population=name)), **dict.fromkeys(table.COUNTS, 0)}
        | {"trials": 50, "wrong": wrong, "commit": "abc"}
        for name, wrong in (("coins", 3), ("late", 9), ("late", 1))
    ]
    (found,) = table.summary(rows_of_two)
    assert (found["trials"], found["wrong"]) == (150, 13)
    assert (found["worst"], found["worst_wrong"], found["worst_trials"]) == ("late", 10, 100)


def raised(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: 1, "answer"),
        (lambda: raised(ValueError("k must be at least 1, got 0")), "error"),
        (lambda: raised(ValueError("k")), "unclear error"),
        (lambda: raised(IndexError("list index out of range")), "unexpected IndexError"),
        (lambda: raised(verdict.WrongAnswer("[1]")), "wrong answer"),
        (lambda: np.array([1.0]) / 0, "unexpected RuntimeWarning"),
    ],
)
def test_outcomes(call: Any, said: str) -> None:
    assert verdict.outcome(call).startswith(said)


def test_a_wrong_answer_is_seen() -> None:
    data = np.eye(5)
    found = sureshot.top_k(data, data[2], 1, method="exact")
    verdict.refuse_wrong(found, data, data[2], "ip")
    with pytest.raises(verdict.WrongAnswer):
        verdict.refuse_wrong(found, data, data[3], "ip")


@pytest.mark.parametrize("name", files.FORMATS)
def test_files_that_are_not_changed_are_read(name: str, tmp_path: Path) -> None:
    write, read = files.FORMATS[name]
    write(tmp_path / name, files.made_data())
    read(tmp_path / name)


def test_changes_of_files_can_be_made_again() -> None:
    content = bytes(range(256)) * 4
    found = [files.changed(content, np.random.default_rng([3, number])) for number in range(50)]
    again = [files.changed(content, np.random.default_rng([3, number])) for number in range(50)]
    assert found == again
    assert len(set(found)) > 40


@pytest.mark.parametrize("kind", fuzz.KINDS)
def test_a_few_inputs_in_a_process_of_their_own(kind: str, tmp_path: Path) -> None:
    row = fuzz.attempt(fuzz.Batch(kind, 0), tmp_path, 40)
    assert row["found"] == []
    assert 0 < row["answered"] < row["inputs"]


def test_a_process_that_ends_or_hangs_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "ended with" in fuzz.attempt(fuzz.Batch("nothing", 0), tmp_path, 1)["found"][0]
    monkeypatch.setattr(fuzz, "PATIENCE", 0.01)
    assert "no end" in fuzz.attempt(fuzz.Batch("files", 0), tmp_path, 1)["found"][0]


def test_a_mutant_differs_in_one_place() -> None:
    module = "sureshot.theory.schedule"
    original = ast.unparse(mutants.tree_of(module)).splitlines()
    found = list(mutants.mutants_of(module))
    assert len(found) > 30
    assert [mutant.number for mutant in found] == list(range(len(found)))
    for mutant in found:
        lines = ast.unparse(mutants.mutated(module, mutant.number)).splitlines()
        assert sum(map(str.__ne__, original, lines)) == 1, mutant


def test_a_sample_of_mutants_grows_and_outlives_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    first = mutate.left_of(5, [])
    tried = [dataclasses.asdict(one) for one in first]
    assert mutate.left_of(8, tried) == mutate.left_of(8, [])[5:]
    assert mutate.left_of(5, tried) == []
    # What is drawn of a module depends on nothing in the others.
    changed = first[0].module.removeprefix("sureshot.")
    kept = [one for one in mutate.draw() if one.module != first[0].module]
    monkeypatch.setattr(
        mutate, "TESTS", {name: mutate.TESTS[name] for name in mutate.TESTS if name != changed}
    )
    assert mutate.draw() == kept


def test_a_planted_mistake_is_noticed() -> None:
    rows_of_halving = mutants.mutants_of("sureshot.theory.budgets")
    planted = next(one for one in rows_of_halving if (one.before, one.after) == MISTAKE)
    assert mutate.try_one(planted)["outcome"] == "noticed"


MISTAKE = ("(arms + 1) // 2", "(arms + 1) / 2")


def committed(name: str) -> list[Row]:
    return rows.read(DOCS / "results" / f"trust-{name}.jsonl")


def test_the_page_is_that_of_the_committed_rows() -> None:
    text = (DOCS / "trust.md").read_text(encoding="utf-8")
    sections = {
        **table.sections(committed("searches")),
        "fuzz": fuzz_table.lines(committed("fuzz")),
        **mutants_table.sections(committed("mutants")),
    }
    for name, lines in sections.items():
        assert "\n".join([f"<!-- begin {name} -->", *lines, f"<!-- end {name} -->"]) in text
    drawn = drawing.svg(figure.NAME, figure.picture(committed("searches")))
    there = (DOCS / "figures" / f"{figure.NAME}.svg").read_text(encoding="utf-8")
    pictures.assert_same(pictures.read(drawn), pictures.read(there))


def test_the_committed_rows_keep_the_promise() -> None:
    found = committed("searches")
    assert all(row["broken"] == 0 for row in found)
    for row in found:
        for wrong, trials in (
            (row["wrong"], row["trials"]),
            (row["worst_wrong"], row["worst_trials"]),
        ):
            assert table.chance(wrong, trials, row["delta"]) > table.LUCK, row
    assert all(row["found"] == 0 for row in committed("fuzz"))


def test_every_survivor_has_a_reason() -> None:
    survivors = [row for row in committed("mutants") if row["outcome"] == "survived"]
    assert [row for row in survivors if mutants_table.reason(row) == mutants_table.UNKNOWN] == []


def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "searches.jsonl"
    monkeypatch.setattr(cases, "TRIALS", 2)
    monkeypatch.setattr(searches, "TRIALS", 2)
    for wanted in (4, 8):
        run.measure(run.parse(["--searches", str(wanted), "--processes", "1", "--out", str(path)]))
    found = rows.read(path)
    assert rows.missing(cases.parts(8), found) == []
    assert len(found) == 4


@pytest.mark.parametrize(
    ("module", "what"), [(run, "searches"), (fuzz, "inputs"), (mutate, "mutants")]
)
def test_the_commands_have_the_same_options(module: Any, what: str) -> None:
    settings = vars(module.parse(["--minutes", "0", f"--{what}", "3", "--processes", "2"]))
    settings.pop("child", None)
    assert settings == {
        what: 3,
        "minutes": 0.0,
        "processes": 2,
        "out": Path(f"results/trust/{what}.jsonl"),
        "write": False,
    }
    with pytest.raises(SystemExit):
        module.parse(["--processes", "0"])


def test_what_is_tried_in_time_is_kept_and_the_rest_is_left(tmp_path: Path) -> None:
    path = tmp_path / "mutants.jsonl"
    for minutes, tried in ((0.0, []), (1.0, [1, 2, 3])):
        settings = mutate.parse(["--minutes", str(minutes), "--out", str(path)])
        found = list(running.try_in_time(lambda case: {"case": case}, [1, 2, 3], settings))
        assert [row["case"] for row in found] == tried
        assert rows.read(path) == found
