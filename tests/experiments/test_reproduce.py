"""The whole: rows, an interruption, the report from rows alone, and the page in a browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from measurements.paper import document
from sureshot.experiments import clock, compare, fig1, fig4, reproduce, rows, synthetic, table1
from tests import browser, pictures
from tests.experiments.conftest import make_tiny

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sureshot.experiments.rows import Row

ALL = list(reproduce.EXPERIMENTS)
pytestmark = pytest.mark.usefixtures("tiny")


def all_rows(out: Path) -> dict[str, list[Row]]:
    return {name: rows.read(reproduce.rows_file(out, name)) for name in ALL}


def test_an_interrupted_run_resumes_without_repeating_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured: list[Any] = []

    def spied(original: Any) -> Any:
        def measure(wanted: Sequence[Any], folder: Path | None) -> Iterator[Row]:
            for case, row in zip(wanted, original(wanted, folder), strict=True):
                measured.append(case)
                if len(measured) == stop:
                    raise KeyboardInterrupt
                yield row

        return measure

    for name, experiment in reproduce.EXPERIMENTS.items():
        changed = reproduce.Experiment(
            experiment.cases,
            spied(experiment.measure),
            experiment.describe,
            experiment.section,
            experiment.lacking,
        )
        monkeypatch.setitem(reproduce.EXPERIMENTS, name, changed)
    total = 0
    for stop in (7, 60, 10_000):
        before = sum(map(len, all_rows(tmp_path).values()))
        try:
            last = None
            for last in reproduce.measure(ALL, "small", None, tmp_path):
                total = last.total
            assert last is not None
            assert last.done == last.total
        except KeyboardInterrupt:
            assert len(measured) == stop
        # What was measured last was lost with the interruption, and nothing else.
        now = sum(map(len, all_rows(tmp_path).values()))
        assert now - before > 0
        # An interruption may also cut the last line short.
        path = reproduce.rows_file(tmp_path, "fig1")
        if stop == 7:
            path.write_text(path.read_text()[:-30])
    # 1 row lost in each interruption, and one line cut short.
    assert len(measured) == total + 3
    assert sum(map(len, all_rows(tmp_path).values())) == total
    keys = [json.dumps([name, *(row.get(key) for key in ("data", "k", "method", "build", "knobs", "order", "delta", "seed"))])
            for name, found in all_rows(tmp_path).items() for row in found]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert list(reproduce.measure(ALL, "small", None, tmp_path)) == []


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the rows of everything that needs no files."""
    folder = tmp_path_factory.mktemp("measured")
    with pytest.MonkeyPatch.context() as patch:
        make_tiny(patch)
        patch.setattr(clock, "REST", 0.0)
        for _ in reproduce.measure(ALL, "small", None, folder):
            pass
    return folder


@pytest.fixture
def finished(measured: Path, tmp_path: Path) -> Path:
    """A copy of it, to write to."""
    return Path(shutil.copytree(measured, tmp_path, dirs_exist_ok=True))


def figures_in(folder: Path) -> dict[str, pictures.Picture]:
    paths = (folder / "figures").iterdir()
    return {path.name: pictures.read(path.read_text(encoding="utf-8")) for path in paths}


def without_pictures(page: str) -> str:
    return re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)


def test_the_report_is_made_of_the_rows_alone(
    finished: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = reproduce.write_report("small", finished)
    assert first is not None
    text = first.read_text(encoding="utf-8")
    drawn = figures_in(finished)
    assert set(drawn) == {"fig1.svg", "fig2.svg", "fig3.svg", "fig4-digits-gradients.svg"}

    def never(*_arguments: Any) -> Any:
        raise AssertionError("the report must measure nothing")

    for module, name in ((fig1, "make_lists"), (compare, "make_method"), (synthetic, "load")):
        monkeypatch.setattr(module, name, never)
    again = reproduce.write_report("small", finished)
    assert again == first
    assert without_pictures(first.read_text(encoding="utf-8")) == without_pictures(text)
    for name, picture in figures_in(finished).items():
        pictures.assert_same(picture, drawn[name])
    for name in ALL:
        assert f'<section id="{name}">' in text
    assert text.count("<svg") == 4
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(set(ids)) == len(ids)
    assert set(re.findall(r'(?:aria-labelledby="|href="#|url\(#)([^")]*)', text)) <= set(ids)
    # Nothing is fetched: addresses are names of namespaces, or of parts of the page.
    assert re.findall(r'(?:src|href)="(?!#|data:,)[^"]*"', text) == []
    assert "url(http" not in text
    assert "@import" not in text


def test_rows_of_other_sizes_are_not_reported(finished: Path) -> None:
    path = reproduce.rows_file(finished, "fig1")
    (before,) = reproduce.sections(["fig1"], "small", finished)
    rows.append(path, rows.read(path)[0] | {"n_arms": 99, "suboptimality": [9.0, 9.0]})
    (after,) = reproduce.sections(["fig1"], "small", finished)
    assert after.tables == before.tables
    assert reproduce.sections(["fig1"], "paper", finished) == []
    assert reproduce.write_report("paper", finished) is None


def test_the_rows_say_what_the_tables_say(finished: Path) -> None:
    (section,) = reproduce.sections(["table1"], "small", finished)
    lines = {line[0].partition(" (")[0]: line for line in section.tables[0].body}
    found = {row["method"]: row for row in rows.read(reproduce.rows_file(finished, "table1"))}
    assert lines["exact product"][3:6:2] == ["100 %", "1.00"]
    assert lines["betting"][5] == f"{sum(found['betting']['precision']) / 2:.2f}"


def test_a_refusal_is_reported(finished: Path) -> None:
    path = reproduce.rows_file(finished, "table1")
    (row,) = (row for row in rows.read(path) if row["method"] == "SampleMIPS")
    measured = ("seconds", "exact_seconds", "precision", "numbers_read")
    rows.append(
        path,
        {name: value for name, value in row.items() if name not in measured} | {"refused": "no"},
    )
    (section,) = reproduce.sections(["table1"], "small", finished)
    lines = {line[0].partition(" (")[0]: line for line in section.tables[0].body}
    assert lines["Sample-MIPS"][1] == "refused"
    assert "Sample-MIPS refused: no." in section.notes


def test_what_is_not_there_is_reported(tmp_path: Path) -> None:
    lines = reproduce.lacking(["fig4"], tmp_path)
    assert len(lines) == len(fig4.names()) - 1
    assert "fig4: Netflix scores is left out: none of training_set/mv_*.txt" in "\n".join(lines)
    cases = [
        case.data for case in reproduce._possible(reproduce.EXPERIMENTS["fig4"], "small", None)
    ]
    assert set(cases) == {fig4.DIGITS}


def test_a_library_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table1, "find_spec", lambda name: None if name == "faiss" else True)
    lines = reproduce.lacking(["table1"], None)
    assert lines[0] == "table1: FaissFlat is left out: pip install faiss-cpu"
    methods = {
        case.method for case in reproduce._possible(reproduce.EXPERIMENTS["table1"], "small", None)
    }
    assert {"Hnswlib", "Usearch", "betting"} <= methods
    assert not any(method.startswith("Faiss") for method in methods)


def test_the_page_of_the_documentation_gets_the_same_sections(finished: Path) -> None:
    page = finished / "page.md"
    marks = "\n".join(f"<!-- begin {name} -->\n<!-- end {name} -->" for name in ALL)
    page.write_text(f"# Page\n{marks}\nThe end.\n", encoding="utf-8")
    document.write(finished, "small", page)
    text = page.read_text(encoding="utf-8")
    assert text.endswith("The end.\n")
    for section in reproduce.sections(ALL, "small", finished):
        assert section.setting in text
        for picture in section.pictures:
            assert (finished / "figures/reproduce-small" / f"{picture.name}.svg").exists()
            assert f"(figures/reproduce-small/{picture.name}.svg)" in text


def test_the_page_opens_in_a_browser(finished: Path) -> None:
    page_file = reproduce.write_report("small", finished)
    assert page_file is not None
    complaints: list[str] = []
    requests: list[str] = []
    with browser.opened() as chromium:
        page = chromium.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        page.wait_for_load_state("networkidle")
        figures = page.locator("figure svg")
        boxes = [figures.nth(number).bounding_box() for number in range(figures.count())]
        words = page.locator("figure svg text").count()
        headings = page.locator("h2").all_inner_texts()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file://", "data:"))] == []
    assert len(boxes) == 4
    assert all(box is not None and box["width"] > 300 and box["height"] > 200 for box in boxes)
    assert words > 40
    assert len(headings) == len(ALL)


def test_one_curve_is_measured_again_and_the_others_keep_their_rows(tmp_path: Path) -> None:
    """The rows are those of another commit; what is measured again is not repeated after an interruption."""
    for _ in reproduce.measure(["fig2"], "small", None, tmp_path):
        pass
    file = reproduce.rows_file(tmp_path, "fig2")
    old = [row | {"commit": "old"} for row in rows.read(file)]
    rows.write(file, old)
    steps = reproduce.measure(["fig2"], "small", None, tmp_path, again=["betting, budget"])
    next(steps)
    list(reproduce.measure(["fig2"], "small", None, tmp_path, again=["betting, budget"]))
    found = rows.read(file)
    assert found[: len(old)] == old
    budgets = [row for row in old if rows.curve(row) == "betting, budget"]
    assert len(found) == len(old) + len(budgets) > len(old)
    reported = reproduce.reported("fig2", "small", tmp_path)
    assert {rows.curve(row) for row in reported if row["commit"] != "old"} == {"betting, budget"}
