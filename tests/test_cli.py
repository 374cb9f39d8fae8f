"""The command line: its commands, their two kinds of output, and every way to refuse input."""

from __future__ import annotations

import inspect
import json
import os
import platform
import pty
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from click.testing import CliRunner

import sureshot
from sureshot.cli import commands, demo, doctor, progress, tables, text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from click.testing import Result

BOUNDED_ME = ["--method", "bounded-me", "--bounds", "-1,1", "--epsilon", "200", "--seed", "3"]
# The commands read the signature of top_k when they are imported: patch it afterwards.
PATCHED = "import os, signal, time, sureshot\nfrom sureshot.cli import commands, main\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files to search: 97 rows of 1,535 numbers within -1 and 1, and 1, 3 and 12 queries."""
    made = tmp_path_factory.mktemp("cli")
    rng = np.random.default_rng(5)
    np.save(made / "data.npy", rng.uniform(-1, 1, (97, 1535)).astype(np.float32))
    np.save(made / "query.npy", rng.uniform(-1, 1, 1535))
    for queries in (3, 12):
        np.save(made / f"queries{queries}.npy", rng.uniform(-1, 1, (queries, 1535)))
    np.save(made / "narrow.npy", np.ones(7))
    np.save(made / "cube.npy", np.ones((2, 2, 2)))
    np.save(made / "words.npy", np.array(["a", "b"]))
    np.save(made / "nan.npy", np.full(1535, np.nan))
    np.save(made / "pickled.npy", np.array([{}, []], dtype=object), allow_pickle=True)
    np.savez(made / "archive.npz", data=np.ones((3, 4)))
    (made / "text.npy").write_text("not an array\n")
    (made / "empty.npy").write_bytes(b"")
    (made / "cut.npy").write_bytes((made / "data.npy").read_bytes()[:5000])
    (made / "header.npy").write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr':'<f4',('")
    return made


@pytest.fixture
def invoke(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run a command inside this process, standing in the folder with the files."""
    monkeypatch.chdir(folder)
    return lambda *arguments: CliRunner().invoke(commands.cli, arguments, prog_name="sureshot")


def run(
    arguments: Sequence[str], folder: Path, program: Sequence[str] = ("-m", "sureshot.cli")
) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does."""
    command = [sys.executable, *program, *arguments]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def rows_of(output: str) -> list[list[str]]:
    """Return the cells of the table rows: the lines that begin with a number."""
    lines = [line.split() for line in output.splitlines()]
    return [cells for cells in lines if cells and cells[0].isdigit()]


def library(folder: Path, query: str, *arguments: Any, **keywords: Any) -> sureshot.TopK:
    return sureshot.top_k(
        np.load(folder / "data.npy"), np.load(folder / query), *arguments, **keywords
    )


def test_help_and_version(invoke: Callable[..., Result]) -> None:
    assert invoke("--version").output == f"sureshot {sureshot.__version__}\n"
    overview = invoke("--help").output
    assert all(name in overview for name in ("search", "demo", "doctor"))
    shown = " ".join(invoke("search", "--help").output.split())
    for option in (
        "-k",
        "--metric",
        "--epsilon",
        "--delta",
        "--bounds LOW,HIGH",
        "--method",
        "--seed",
        "--threads",
        "--json",
    ):
        assert f"{option} " in shown
    parameters = inspect.signature(sureshot.top_k).parameters
    for name in ("k", "metric", "epsilon", "delta", "method"):
        assert f"[default: {parameters[name].default}]" in shown


def test_search_shows_what_the_library_finds(invoke: Callable[..., Result], folder: Path) -> None:
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
    assert "MB/s" in shown.output


def test_every_option_reaches_the_library(invoke: Callable[..., Result], folder: Path) -> None:
    arguments = [*BOUNDED_ME, "-k", "2", "--metric", "l1", "--delta", "0.2", "--threads", "1"]
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
        rng=3,
        threads=1,
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
        "seed": 3,
        "threads": 1,
    }
    assert found["work"].pop("seconds") > 0
    expected["work"].pop("seconds")
    assert {name: found[name] for name in expected} == expected


def test_options_not_given_are_left_to_the_library(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
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


def test_a_few_queries_have_a_table_each(invoke: Callable[..., Result], folder: Path) -> None:
    shown = invoke("search", "data.npy", "queries3.npy", "-k", "2", *BOUNDED_ME)
    expected = library(
        folder, "queries3.npy", 2, method="bounded-me", bounds=(-1, 1), epsilon=200, rng=3
    )
    assert [cells[1] for cells in rows_of(shown.output)] == [str(i) for i in expected.indices.flat]
    assert all(f"query {position}" in shown.output for position in range(3))
    assert f"For each query: {expected.certificate}" in shown.output
    assert "of the data per query" in shown.output


def test_many_queries_have_a_row_each(invoke: Callable[..., Result], folder: Path) -> None:
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
        (["data.npy", "query.npy", "--method", "bounded-me"], "needs bounds"),
        (["data.npy", "query.npy", "--bounds", "1"], "--bounds must be two numbers LOW,HIGH"),
        (["data.npy", "query.npy", "--bounds", "1,2,3"], "--bounds must be two numbers LOW,HIGH"),
        (["data.npy", "query.npy", "--bounds", "a,b"], "got 'a,b'"),
        (["data.npy", "query.npy", "--bounds", "1,-1"], "bounds must have low < high"),
        (["data.npy", "query.npy", *BOUNDED_ME, "--bounds", "-.1,.1"], "outside ["),  # BoundsError
    ],
)
def test_bad_input_is_told_in_one_line(
    invoke: Callable[..., Result], arguments: list[str], message: str
) -> None:
    refused = invoke("search", *arguments)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert refused.stderr.startswith("sureshot: error: ")
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (MemoryError(), "sureshot: error: not enough memory\n"),
        (MemoryError("no 5 TB"), "sureshot: error: not enough memory: no 5 TB\n"),
        (TypeError("two\nlines"), "sureshot: error: two lines\n"),
    ],
)
def test_errors_of_the_library(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, error: Exception, line: str
) -> None:
    def fail(*arguments: object, **keywords: object) -> None:
        raise error

    monkeypatch.setattr(sureshot, "top_k", fail)
    refused = invoke("search", "data.npy", "query.npy")
    assert (refused.exit_code, refused.stdout, refused.stderr) == (2, "", line)


def test_memory_that_the_demo_cannot_have(
    invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(rows: int, columns: int, seed: int) -> None:
        raise MemoryError(f"no room for {rows} x {columns}")

    monkeypatch.setattr(demo, "make_example", fail)
    refused = invoke("demo", "--rows", "10", "--columns", "7")
    assert refused.exit_code == 2
    assert refused.stderr == "sureshot: error: not enough memory: no room for 10 x 7\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["search"],
        ["search", "data.npy"],
        ["search", "data.npy", "query.npy", "-k", "many"],
        ["search", "data.npy", "query.npy", "--unknown"],
        ["demo", "--rows", "9"],
        ["demo", "--columns", "0"],
        ["demo", "--seed", "-1"],
        ["unknown"],
    ],
)
def test_wrong_usage(invoke: Callable[..., Result], arguments: list[str]) -> None:
    refused = invoke(*arguments)
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "Usage: sureshot" in refused.stderr


def test_demo_compares_the_methods(invoke: Callable[..., Result]) -> None:
    size = ["--rows", "97", "--columns", "1535", "--seed", "1"]
    shown = invoke("demo", *size)
    assert shown.exit_code == 0, shown.output
    example = demo.make_example(97, 1535, 1)
    labels = ["numpy", *(label for label, _ in demo.contenders(example))]
    lines = [line.split() for line in shown.output.splitlines()]
    assert [cells[0] for cells in lines if cells and cells[0] in labels] == labels
    for words in ("numbers read", "share", "right", "guaranteed?", "ε = ", "true rank"):
        assert words in shown.output

    found = json.loads(invoke("demo", *size, "--json").stdout)
    assert found["parameters"] == {
        "rows": 97,
        "columns": 1535,
        "seed": 1,
        "k": 10,
        "bounds": list(example.bounds),
        "epsilon": example.epsilon,
    }
    assert [method["label"] for method in found["methods"]] == labels
    assert found["methods"][0]["right"] == 10
    assert found["methods"][0]["result"] is None
    assert all(len(method["seconds"]) == demo.REPETITIONS for method in found["methods"])
    answer = found["methods"][-1]["result"]["indices"]
    assert [cells[1] for cells in rows_of(shown.output)] == [str(index) for index in answer]


@pytest.mark.parametrize("rows", [10, 97])
def test_demo_data_is_what_it_says(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = demo.make_example(rows, 1535, 7)
    monkeypatch.setattr(demo, "NUMBERS_PER_CHUNK", 7 * 1535)
    example = demo.make_example(rows, 1535, 7)
    np.testing.assert_array_equal(example.data, whole.data)
    assert example.data.dtype == np.float32
    assert example.bounds == (example.data.min(), example.data.max())
    scores = example.data.astype(np.float64) @ example.query.astype(np.float64)
    assert scores[np.argsort(example.true_ranks)].tolist() == sorted(scores, reverse=True)
    own_score = example.query.astype(np.float64) @ example.query.astype(np.float64)
    assert example.epsilon == pytest.approx(own_score / 2)
    # Low rank plus noise: the patterns explain all but the noise, uniform of variance NOISE² / 3.
    values = np.linalg.svd(example.data, compute_uv=False)
    assert np.sum(values[demo.PATTERNS :] ** 2) <= example.data.size * float(demo.NOISE) ** 2 / 3


def test_demo_counts_wrong_answers() -> None:
    example = demo.make_example(30, 7, 0)
    best_first = np.argsort(example.true_ranks)
    assert demo._right(example, best_first[:10]) == 10
    assert demo._right(example, best_first[4:14]) == 6


@pytest.mark.parametrize(
    ("certificate", "promise"),
    [
        (None, "exact, in float32"),
        (sureshot.Certificate(0.0, 0.0, True, "exact", ""), "exact"),
        (sureshot.Certificate(0.0, 0.05, False, "exact", ""), "exact, 95 % sure"),
        (sureshot.Certificate(2.0, 0.01, False, "exact", ""), "within ε, 99 % sure"),
    ],
)
def test_guarantees_in_the_demo(certificate: sureshot.Certificate | None, promise: str) -> None:
    result = None
    if certificate is not None:
        work = sureshot.Work(1, 1.0, 4, 1, 0, 1.0)
        result = sureshot.TopK(np.ones(1), np.ones(1, np.int64), certificate, work, ())
    assert tables._guarantee(demo.Timed("some", (1.0,), 1, 1.0, 1, result)) == promise


def test_doctor(invoke: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    found = json.loads(invoke("doctor", "--json").stdout)
    assert found["sureshot"] == sureshot.__version__
    assert found["python"] == platform.python_version()
    assert found["numpy"] == np.__version__
    assert found["threads"] >= 1
    assert set(found["extras"]["cli"]) == {"click", "rich"}
    assert None not in found["extras"]["cli"].values()
    shown = invoke("doctor").output
    assert found["platform"] in shown
    assert found["extras"]["cli"]["rich"] in shown

    extras = {"cli": {"click": "8.1"}, "report": {"matplotlib": None}}
    monkeypatch.setattr(doctor, "_extras", lambda: extras)
    assert "not installed: pip install 'sureshot[report]'" in invoke("doctor").output


def test_doctor_reads_extras_from_the_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    requirements = ["numpy>=1.26", 'numpy>=1.26; extra == "some"', "no-such-one; extra=='some'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: requirements)
    assert doctor._extras() == {"some": {"numpy": np.__version__, "no-such-one": None}}


def test_words() -> None:
    assert [text.count(number, "arm") for number in (0, 1, 1234)] == [
        "0 arms",
        "1 arm",
        "1,234 arms",
    ]
    shares = [text.percent(share) for share in (0.0, 0.0041, 0.31415, 1.0, 1.00247, 0.99837)]
    assert shares == ["0 %", "0.41 %", "31.4 %", "100 %", "100.2 %", "99.8 %"]
    assert [text.duration(seconds) for seconds in (75.0, 0.0415)] == ["75 s", "41.5 ms"]
    info = sureshot.RoundInfo(query=1, round=7, arms=812, pulls=5, numbers_read=41, threshold=None)
    assert progress.describe(info, 10_000, 1) == "round 7 · 812 arms undecided · 0.41 % read"
    assert progress.describe(info, 10_000, 3).startswith("query 2 of 3 · round 7 · ")


@pytest.mark.parametrize(("patience", "appears"), [(0, True), (60, False)])
def test_progress_on_a_terminal(folder: Path, patience: int, appears: bool) -> None:
    program = (
        f"{PATCHED}from sureshot.cli import progress\n"
        f"progress.SECONDS_BEFORE_SHOWN = {patience}\n"
        "found = sureshot.top_k\n"
        "def slow(*arguments, progress, **keywords):\n"
        "    result = found(*arguments, progress=progress, **keywords)\n"
        "    time.sleep(0.5)\n"  # several refreshes of the display
        "    return result\n"
        "sureshot.top_k = slow\n"
        "main()"
    )
    arguments = ["search", "data.npy", "query.npy", "--method", "exact", "--json"]
    ours, theirs = pty.openpty()
    finished = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        timeout=120,
        check=True,
    )
    os.write(theirs, b"end")  # so that reading does not wait when nothing was shown
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert ("0 arms undecided · 100 % read" in shown) == appears
    assert len(json.loads(finished.stdout)["indices"]) == 10


def test_as_a_program(folder: Path) -> None:
    found = run(["search", "data.npy", "query.npy", "--seed", "3", "--json"], folder)
    assert (found.returncode, found.stderr) == (0, "")
    expected = library(folder, "query.npy", rng=3).indices.tolist()
    assert json.loads(found.stdout)["indices"] == expected
    refused = run(["search", "absent.npy", "query.npy"], folder)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "sureshot: error: cannot open absent.npy: No such file or directory\n"
    assert run(["--version"], folder).stdout == f"sureshot {sureshot.__version__}\n"


def test_interrupted(folder: Path) -> None:
    program = (
        f"{PATCHED}"
        "def slow(*arguments, **keywords):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "sureshot.top_k = slow\n"
        "main()"
    )
    stopped = run(["search", "data.npy", "query.npy"], folder, ("-c", program))
    assert (stopped.returncode, stopped.stdout) == (130, "")
    assert stopped.stderr == "sureshot: interrupted\n"


@pytest.mark.parametrize("package", ["click", "rich"])
def test_missing_extra(folder: Path, package: str) -> None:
    program = f"import sys\nsys.modules[{package!r}] = None\nfrom sureshot.cli import main\nmain()"
    stopped = run(["doctor"], folder, ("-c", program))
    assert (stopped.returncode, stopped.stdout) == (1, "")
    assert stopped.stderr == (
        "the command line needs click and rich: pip install 'sureshot[cli]'\n"
    )


def test_another_missing_module_is_not_hidden(folder: Path) -> None:
    program = "import sys\nsys.modules['inspect'] = None\nfrom sureshot.cli import main\nmain()"
    stopped = run(["doctor"], folder, ("-c", program))
    assert stopped.returncode == 1
    assert "Traceback" in stopped.stderr


def test_the_library_does_not_load_the_command_line(folder: Path) -> None:
    program = (
        "import sys, sureshot\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(loaded & {'click', 'rich', 'matplotlib'}))\n"
        "import sureshot.cli.commands\n"
        "print('matplotlib' in sys.modules)"
    )
    assert run([], folder, ("-c", program)).stdout == "[]\nFalse\n"
