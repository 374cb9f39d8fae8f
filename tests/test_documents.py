"""What the documents print works as printed."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import re
import shlex
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING, Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from sureshot.cli import commands
from tests import documents
from tests.cuda.fake_driver import install
from tests.documents import DOCUMENTS, ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("costs_decide")

# Runs before a block of Python, given by its number in the document: what the reader has.
ASKING = """
import sureshot
accuracy = [0.95, *(0.3 + 0.02 * model for model in range(19))]
async def is_right(model, example):
    return (example * 7919 + model * 104729) % 10007 < 10007 * accuracy[model]
"""
STORES = """
import numpy as np
from sureshot.attribution import StoreWriter
rng = np.random.default_rng(0)
for name in ("run/gradients", "run/later"):
    modules = {"body.weight": 900, "head.weight": 280, "head.bias": 20}
    with StoreWriter(name, rows=300, modules=modules) as writer:
        writer.append(rng.standard_normal((300, 1200)))
queries = rng.standard_normal((5, 1200))
query, later_query = queries[:2]
"""
FILES = """
import dask.array
for name in ("rows", "more-rows"):
    np.save(name, data[:50])
dask_array = dask.array.from_array(data[:50])
"""
# The tools are not installed here: what stands in for them takes the same arguments.
TOOLS = """
import inspect
from types import SimpleNamespace
import numpy as np
real = evals
class Adapter:
    def evaluate(self, batch, candidate, capture_traces=False):
        return SimpleNamespace(scores=[float(int(candidate["prompt"]) > one % 10) for one in batch])
def taking(function):
    def pull(*arguments, **options):
        inspect.signature(function).bind(*arguments, **options)
        programs = [{"prompt": str(3 * at)} for at in range(1, 1 + len(arguments[1]))]
        return real.gepa_pull(adapter, programs, valset)
    return pull
def optimize(seed_candidate, trainset, valset, *, adapter, val_evaluation_policy, max_metric_calls):
    return SimpleNamespace(candidates=[seed_candidate, {"prompt": "9"}], val_subscores=[{}, {3: 1.0}])
adapter, valset, trainset, task = Adapter(), list(range(200)), [1, 2], None
seed_candidate = {"prompt": "2"}
first_model = second_model = None
gepa = SimpleNamespace(optimize=optimize)
table = np.random.default_rng(0).random((4, 60)) < np.linspace(0.1, 0.9, 4)[:, None]
evals = SimpleNamespace(
    inspect_pull=taking(real.inspect_pull), lm_eval_pull=taking(real.lm_eval_pull),
    gepa_pull=real.gepa_pull, gepa_race=real.gepa_race, replay=real.replay,
)
"""
ON_A_CARD = """
from tests.cuda.fake_driver import on_card
from tests.cuda.populations import low_rank
import numpy as np
values, query = low_rank(np.random.default_rng(0), 400, 2000)
rows = on_card(values)
"""
STAND_INS = {
    ("docs/evals.md", 1): TOOLS,
    ("docs/gpu.md", 0): ON_A_CARD,
    ("README.md", 3): ASKING,
    ("README.md", 4): FILES,
    ("docs/expensive-pulls.md", 0): ASKING,
    ("docs/attribution.md", 0): STORES,
    # Linear programs are for small N, as the text says.
    ("docs/baselines.md", 1): "import sureshot\ndata, query = data[:50, :4], data[3, :4]",
}

# Commands that are checked, but not run here, and why.
NOT_RUN = {
    "sureshot demo": "800 MB of data; tests/cli/test_demo.py runs it with less",
    "sureshot reproduce": "a minute or more; tests/cli/test_reproduce.py runs it at a tiny size",
    "make": "makes an environment of its own; the target and its variable must be there",
    "python": "takes minutes; the module must be there and know the options",
    "nox": "makes an environment of its own; the session must be there",
    "pip": "changes the environment; the extras must be there",
}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_block_says_what_it_is(document: str) -> None:
    for block in documents.blocks(document):
        assert block.language in documents.LANGUAGES, f"{document}:{block.line}"


@pytest.mark.parametrize("document", [one for one in DOCUMENTS if documents.blocks(one, "python")])
def test_the_code_runs(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if document == "docs/gpu.md":
        install(monkeypatch)
    names: dict[str, Any] = {}
    for number, block in enumerate(documents.blocks(document, "python")):
        exec(STAND_INS.get((document, number), ""), names)  # noqa: S102
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, f"{document}:{block.line}", "exec"), names)  # noqa: S102 - ours
        if printed.getvalue():
            assert_as_printed(printed.getvalue(), output_after(block))
    if document == "README.md":
        assert f"indices={names['result'].indices}" in documents.read(document)


def output_after(block: documents.Block) -> str:
    """Return the first block of text after a block of code."""
    later = [one for one in documents.blocks(block.document, "text") if one.line > block.line]
    return later[0].text


def assert_as_printed(found: str, printed: str) -> None:
    """Compare two outputs: the words exactly, times not at all, numbers as far as rounding goes.

    The product that makes the data is rounded as this machine does it, and so a search of it may read
    a little more or less.
    """
    number = r"\d[\d,]*\.?\d*(?:e-?\d+)?"
    time = rf"{number} s\b"
    there, here = (re.sub(time, "# s", text) for text in (printed, found))
    assert re.sub(number, "#", here).split() == re.sub(number, "#", there).split()
    mine, theirs = (
        [float(one.replace(",", "")) for one in re.findall(number, text)] for text in (here, there)
    )
    np.testing.assert_allclose(mine, theirs, rtol=0.02)


EVERY_COMMAND = [(one, command) for one in DOCUMENTS for command in documents.commands(one)]


@pytest.mark.parametrize(("document", "command"), EVERY_COMMAND)
def test_the_commands_work(
    document: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program, *arguments = shlex.split(command)
    CHECKS[program](arguments, tmp_path)


def check_sureshot(arguments: list[str], folder: Path) -> None:
    name, *rest = arguments
    known = commands.cli.commands[name]
    if not rest:
        return  # named, not called
    (folder / "FOLDER").mkdir()
    rng = np.random.default_rng(0)
    np.save(folder / "data.npy", rng.standard_normal((20, 50)))
    np.save(folder / "query.npy", rng.standard_normal(50))
    np.save(folder / "rewards.npy", rng.random((5, 60)) < np.linspace(0.1, 0.9, 5)[:, None])
    if f"sureshot {name}" in NOT_RUN:
        known.make_context(name, rest).close()
        return
    ended = CliRunner().invoke(commands.cli, arguments)
    assert ended.exit_code == 0, ended.output


def check_make(arguments: list[str], _: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [one for one in arguments if "=" not in one]
    assert targets
    for target in targets:
        assert re.search(rf"^{re.escape(target)}:", makefile, re.MULTILINE)
    for setting in set(arguments) - set(targets):
        name, value = setting.split("=", 1)
        recipe = re.search(rf"^\t\$\(BIN\)/(.*) \$\({name}\)", makefile, re.MULTILINE)
        assert recipe, f"no recipe uses {name}"
        program = [sys.executable if one == "python" else one for one in shlex.split(recipe[1])]
        check_options(program, shlex.split(value))


def check_options(program: list[str], arguments: list[str]) -> None:
    """Fail unless the help of a program knows all options."""
    options = {one for one in arguments if one.startswith("--")} - {"--help"}
    if program[0] == "sureshot":
        program = [sys.executable, "-m", *program]
    shown = subprocess.run(
        [*program, "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for option in options:
        assert re.search(rf"{option}\b", shown), f"{option} is not in the help of {program}"


def check_python(arguments: list[str], _: Path) -> None:
    if arguments[0] != "-m":
        assert (ROOT / arguments[0]).exists()
        return
    name, *rest = arguments[1:]
    assert importlib.util.find_spec(name) is not None
    if rest:
        check_options([sys.executable, "-m", name], rest)


def check_nox(arguments: list[str], _: Path) -> None:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    sessions = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
    assert arguments[0] == "-s"
    assert arguments[1] in sessions


def check_pip(arguments: list[str], _: Path) -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        extras = set(tomllib.load(file)["project"]["optional-dependencies"])
    assert arguments[0] == "install"
    # There is no release yet: what can be installed is the clone one stands in.
    named = re.fullmatch(r"\.\[([\w,]+)\]", arguments[1])
    assert named, f"cannot be installed: {arguments[1]}"
    assert set(named[1].split(",")) <= extras


CHECKS = {
    "sureshot": check_sureshot,
    "make": check_make,
    "python": check_python,
    "nox": check_nox,
    "pip": check_pip,
}


@pytest.mark.parametrize(
    "command",
    [
        "sureshot best rewards.npy",
        "sureshot reproduce all --scale huge",
        "sureshot search data.npy",
        "make everything",
        "make bench-speed SPED=--small",
        "make bench-speed SPEED=--no-such-option",
        "python -m measurements.absent",
        "python -m measurements.share.run --no-such-option",
        "nox -s absent",
        "pip install sureshot",
        "pip install '.[absent]'",
    ],
)
def test_a_command_that_does_not_work_is_seen(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises((AssertionError, click.UsageError)):
        test_the_commands_work("", command, tmp_path, monkeypatch)


def test_another_output_is_seen() -> None:
    printed = "read 1,893,776 numbers (1.894%) in 5 rounds, 0.0054 s."
    assert_as_printed("read 1,893,775 numbers (1.89%) in 5 rounds, 12 s.", printed)
    for other in ("in 6 rounds", "in 5 rounds or"):
        with pytest.raises(AssertionError):
            assert_as_printed(printed.replace("in 5 rounds", other), printed)
