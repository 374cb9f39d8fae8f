"""The rules of the design: who imports whom, what is loaded when, and where constants are."""

from __future__ import annotations

import ast
import enum
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sureshot
from sureshot import _native

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(sureshot.__file__).parent
ROOT = Path(__file__).parents[1]
# Everything below speaks to the library as a user does.
CALLERS = ("cli", "estimators", "solvers", "attribution", "evals")
# Experiments do so too, but may look up what the theory and the table of methods say; the command
# line runs them.
EXPERIMENTS = "experiments"
# The rivals: only experiments know them, and one of their modules knows the inside of the library.
BASELINES = "baselines"
CORE_OF_BASELINES = "sureshot.baselines._core"
LOOPS_AND_DATA = ("sureshot.sources", "sureshot.search", "sureshot.api", "sureshot._validate")
PUBLIC = {f"sureshot.{name}" for name in (*sureshot.__all__, "__version__", "_native")}
# The checks are pure; of the searches they know the table of methods, of the storage what a stored matrix
# and a fingerprint are.
TABLE = "sureshot.search.methods"
STORED = ("sureshot.storage.matrix", "sureshot.storage.fingerprint.Fingerprint")
IMPURE = (
    "sureshot._native",
    "sureshot.storage",
    "sureshot.sources",
    "sureshot.search",
    "sureshot.prepare",
    "sureshot.queries",
    "sureshot.api",
    "sureshot.bounds.scan_rows",
    "threading",
    "asyncio",
)
# Only the room that prepares a search makes sources, and the core of the baselines one of its own.
SOURCES = (
    "sureshot.sources.dense.DenseSource",
    "sureshot.sources.stored.StoredSource",
    "sureshot.sources.partitioned.PartitionedSource",
    "sureshot.sources.function.FunctionSource",
)
# All that a search rests on is prepared before it begins. Data on a device has a way of its own, from the public
# functions to the kernels and back.
ABOVE_PREPARE = ("sureshot.queries", "sureshot.at_once", "sureshot.api", "sureshot.cuda")
ABOVE_SEARCH = ("sureshot.prepare", "sureshot._validate", *ABOVE_PREPARE)
# Which knows the checks, results and bounds, and nothing of the searches of data in memory and in files.
WAY_OF_THE_HOST = (
    "sureshot._native",
    "sureshot.api",
    "sureshot.prepare",
    "sureshot.queries",
    "sureshot.search",
    "sureshot.sources",
    "sureshot.storage",
    "sureshot.theory",
)
# A source is data access: the state of a search is none of its business.
STATE = tuple(f"sureshot._native.{name}" for name in ("Ledger", "Order", "Met", "Survey"))
MAY_LOOK_UP = (TABLE, "sureshot.theory", "sureshot.baselines", "sureshot._types")
# Attribution puts the results of several searches together, and writes files.
RESULTS_AND_TYPES = ("sureshot.result", "sureshot._types", "sureshot._files")
# Where things are measured, outside of what is installed. The rooms share these folders, and nothing else.
MEASUREMENTS = "measurements"
SHARED_BY_ROOMS = tuple(f"measurements.{name}" for name in ("harness", "workloads", "rivals"))
OUTSIDE = ("measurements", "tests", "examples")
HEAVY = (
    "scipy",
    "sklearn",
    "matplotlib",
    "click",
    "rich",
    "torch",
    "captum",
    "dask",
    "zarr",
    "h5py",
    "inspect_ai",
    "lm_eval",
    "gepa",
)
LIBRARIES = ("faiss", "hnswlib", "usearch")


def imported(source: str, module: str, *, is_package: bool = False) -> Iterator[str]:
    """Yield the dotted name of everything that a module imports, wherever it stands."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*(parents if node.level else []), *([node.module or ""])]).strip(".")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def within(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def broken_rules(source: str, module: str, *, is_package: bool = False) -> list[str]:
    """Return what a module imports against the rules."""
    names = list(imported(source, module, is_package=is_package))
    if within(module, (MEASUREMENTS,)):
        return broken_in_measurements(names, module)
    if outside := [name for name in names if within(name, OUTSIDE)]:
        return outside
    layer = module.split(".")[1] if "." in module else ""
    upper = tuple(f"sureshot.{caller}" for caller in (*CALLERS, EXPERIMENTS))
    if layer == BASELINES:
        if module == CORE_OF_BASELINES:
            return [name for name in names if within(name, ("sureshot.api", *upper))]
        ours = [name for name in names if within(name, ("sureshot",))]
        return [n for n in ours if not within(n, ("sureshot.baselines", "sureshot._types"))]
    upper = (*upper, f"sureshot.{BASELINES}")
    if layer == "__main__":
        ours = [name for name in names if within(name, ("sureshot",))]
        return [name for name in ours if name != "sureshot.cli.main"]
    if layer == "theory":
        return [name for name in names if within(name, (*LOOPS_AND_DATA, *upper))]
    if layer == "storage":
        above = ("sureshot.theory", *LOOPS_AND_DATA, *STATE, *ABOVE_SEARCH, *upper)
        return [name for name in names if within(name, above)]
    if layer == "sources":
        above = ("sureshot.theory", "sureshot.search", *STATE, *ABOVE_SEARCH, *upper)
        return [name for name in names if within(name, above)]
    if layer == "_validate":
        names = [name for name in names if not within(name, (TABLE, *STORED))]
        return [name for name in names if within(name, (*IMPURE, *upper))]
    if layer == "search":
        return [name for name in names if within(name, (*ABOVE_SEARCH, *SOURCES, *upper))]
    if layer in (*CALLERS, EXPERIMENTS):
        own = f"sureshot.{layer}"
        if layer == EXPERIMENTS:
            names = [name for name in names if not within(name, MAY_LOOK_UP)]
        if layer == "attribution":
            names = [name for name in names if not within(name, RESULTS_AND_TYPES)]
        if layer == "evals":
            names = [name for name in names if not within(name, ("sureshot._types",))]
        if layer == "cli":
            names = [name for name in names if not within(name, (f"sureshot.{EXPERIMENTS}",))]
        ours = [name for name in names if within(name, ("sureshot",))]
        return [
            name
            for name in ours
            if not (name == "sureshot" or within(name, (own,)) or within(name, tuple(PUBLIC)))
        ]
    if layer == "cuda":
        return [name for name in names if within(name, (*WAY_OF_THE_HOST, *upper))]
    if layer == "prepare":
        return [name for name in names if within(name, (*ABOVE_PREPARE, *upper))]
    return [name for name in names if within(name, (*SOURCES, *upper))]


def broken_in_measurements(names: list[str], module: str) -> list[str]:
    """Return what a module of the measurements imports against the rules."""
    own = ".".join(module.split(".")[:2])
    allowed = (own, *SHARED_BY_ROOMS)
    if own in SHARED_BY_ROOMS:  # what all share lies in this order, the later above the earlier
        allowed = SHARED_BY_ROOMS[: SHARED_BY_ROOMS.index(own) + 1]
    return [name for name in names if within(name, OUTSIDE) and not within(name, allowed)]


MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
} | {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / MEASUREMENTS).rglob("*.py"))
}


@pytest.mark.parametrize("module", MODULES)
def test_import_rules(module: str) -> None:
    path = MODULES[module]
    source = path.read_text(encoding="utf-8")
    assert broken_rules(source, module, is_package=path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "line", "broken"),
    [
        ("sureshot.theory.x", "from sureshot.sources import dense", "sureshot.sources.dense"),
        ("sureshot.theory.x", "from ..search.run import run", "sureshot.search.run.run"),
        ("sureshot.theory.x", "from .. import api", "sureshot.api"),
        ("sureshot.theory.x", "def f():\n    import sureshot.api", "sureshot.api"),
        ("sureshot.sources.x", "from sureshot.theory.a import b", "sureshot.theory.a.b"),
        ("sureshot.sources.x", "import sureshot.theory", "sureshot.theory"),
        ("sureshot.sources.x", "from sureshot.search import exact", "sureshot.search.exact"),
        ("sureshot.sources.x", "from sureshot._native import Ledger", "sureshot._native.Ledger"),
        ("sureshot.sources.x", "from sureshot._native import Dense, Team", None),
        ("sureshot.storage.x", "from sureshot.sources import dense", "sureshot.sources.dense"),
        ("sureshot.storage.x", "from sureshot._native import FileReader", None),
        ("sureshot._validate.x", "from sureshot.storage.file import y", "sureshot.storage.file.y"),
        ("sureshot._validate.x", "from sureshot.storage.matrix import Matrix", None),
        ("sureshot.search.x", "from sureshot.queries import y", "sureshot.queries.y"),
        ("sureshot.prepare.x", "from sureshot.queries import y", "sureshot.queries.y"),
        ("sureshot.queries", "from sureshot.prepare.top_k import PreparedQueries", None),
        ("sureshot._validate.x", "from sureshot._native import Team", "sureshot._native.Team"),
        ("sureshot._validate.x", "import threading", "threading"),
        ("sureshot._validate.x", "from ..bounds import scan_rows", "sureshot.bounds.scan_rows"),
        ("sureshot._validate.x", "from ..bounds import Bounds", None),
        ("sureshot._validate.x", "from sureshot.search.run import run", "sureshot.search.run.run"),
        ("sureshot._validate.x", "from sureshot.search.methods import METHODS", None),
        ("sureshot.search.x", "from sureshot.prepare.top_k import y", "sureshot.prepare.top_k.y"),
        ("sureshot.search.x", "from sureshot._validate import x", "sureshot._validate.x"),
        ("sureshot.search.x", "from sureshot.sources.dense import DenseSource", SOURCES[0]),
        ("sureshot.api", "from sureshot.sources.dense import DenseSource", SOURCES[0]),
        ("sureshot.prepare.x", "from sureshot.sources.dense import DenseSource", None),
        ("sureshot.cuda.x", "from sureshot.search.run import run", "sureshot.search.run.run"),
        ("sureshot.cuda.x", "from sureshot._validate.numbers import whole_number", None),
        ("sureshot.search.x", "from sureshot.cuda import plan", "sureshot.cuda.plan"),
        ("sureshot.prepare.x", "from sureshot.cuda import plan", "sureshot.cuda.plan"),
        ("sureshot.api", "from sureshot.cuda.arrays import is_on_device", None),
        ("sureshot.cli.x", "from sureshot.search.run import run", "sureshot.search.run.run"),
        ("sureshot.cli.x", "from sureshot import _validate", "sureshot._validate"),
        ("sureshot.solvers.x", "import sureshot.sources.dense", "sureshot.sources.dense"),
        ("sureshot.attribution.x", "import sureshot.sources.dense", "sureshot.sources.dense"),
        ("sureshot.evals.x", "import sureshot.sources.journal", "sureshot.sources.journal"),
        ("sureshot.evals.x", "import sureshot\nfrom sureshot._types import Ints", None),
        ("sureshot.search.x", "from sureshot.evals import replay", "sureshot.evals.replay"),
        ("sureshot.attribution.x", "from sureshot.result import stack\nimport sureshot", None),
        ("sureshot.search.x", "from sureshot.cli import main", "sureshot.cli.main"),
        ("sureshot.search.x", "import sureshot.experiments.rows", "sureshot.experiments.rows"),
        ("sureshot.solvers.x", "import sureshot.experiments.rows", "sureshot.experiments.rows"),
        ("sureshot.cli.x", "import sureshot.experiments.rows", None),
        ("sureshot.experiments.x", "import sureshot.search.run", "sureshot.search.run"),
        ("sureshot.experiments.x", "from sureshot.theory import radii\nimport sureshot", None),
        ("sureshot.experiments.x", "from sureshot.search.methods import METHODS", None),
        ("sureshot.search.x", "from sureshot.baselines import lsh", "sureshot.baselines.lsh"),
        ("sureshot.cli.x", "import sureshot.baselines", "sureshot.baselines"),
        ("sureshot.baselines.x", "from sureshot.api import top_k", "sureshot.api.top_k"),
        ("sureshot.baselines.x", "import sureshot.experiments.rows", "sureshot.experiments.rows"),
        ("sureshot.baselines.x", "import sureshot.sources.dense", "sureshot.sources.dense"),
        ("sureshot.baselines.x", "from sureshot._validate import a", "sureshot._validate.a"),
        ("sureshot.baselines.x", "from sureshot.baselines._core import largest", None),
        ("sureshot.baselines._core", "from sureshot.sources.dense import DenseSource", None),
        ("sureshot.baselines._core", "from sureshot.api import top_k", "sureshot.api.top_k"),
        ("sureshot.experiments.x", "from sureshot.baselines import LSHMIPS", None),
        ("sureshot.__main__", "from sureshot.cli import main", None),
        ("sureshot.__main__", "import sureshot.search.run", "sureshot.search.run"),
        ("sureshot.search.x", "from measurements import workloads", "measurements.workloads"),
        ("sureshot.experiments.x", "import measurements.speed.run", "measurements.speed.run"),
        ("measurements.share.x", "from measurements.speed import run", "measurements.speed.run"),
        ("measurements.harness.x", "import measurements.share.run", "measurements.share.run"),
        ("measurements.share.x", "from tests import pictures", "tests.pictures"),
        ("measurements.share.x", "from measurements import workloads", None),
        ("measurements.share.x", "from measurements.share.table import lines", None),
        ("measurements.share.x", "from sureshot.experiments import rows", None),
        ("sureshot.theory.x", "from sureshot.theory import y", None),
        ("sureshot.theory.x", "from . import y", None),
        ("sureshot.cli.x", "import sureshot\nfrom sureshot import _native, top_k", None),
        ("sureshot.cli.x", "from sureshot.cli import main\nfrom .y import z", None),
    ],
)
def test_the_rules_see_what_breaks_them(module: str, line: str, broken: str | None) -> None:
    assert broken_rules(line, module) == ([] if broken is None else [broken])


MOST_LINES = 450


def test_no_file_is_long() -> None:
    folders = ("src", "native", "measurements", "tests", "examples", "tools")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    code = [path for path in files if path.suffix in (".py", ".pyi", ".cpp", ".hpp", ".cu", ".cuh")]
    lines = {path.name: path.read_text(encoding="utf-8").count("\n") for path in code}
    assert len(lines) > 200
    assert {name for name, count in lines.items() if count > MOST_LINES} == set()


@pytest.mark.parametrize(
    "package",
    [
        "sureshot",
        "sureshot.attribution",
        "sureshot.baselines",
        "sureshot.evals",
        "sureshot.solvers",
    ],
)
def test_importing_the_library_loads_nothing_heavy(package: str) -> None:
    code = f"import sys, {package}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    ).stdout.split()
    assert {"sureshot", "numpy"} <= set(loaded)
    assert set(loaded) & {*HEAVY, *LIBRARIES} == set()


def stub_names(node: ast.Module | ast.ClassDef) -> set[str]:
    """Return what a stub defines; what it imports is for its own use."""
    names = set()
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)):
            names.add(child.name)
        elif isinstance(child, ast.Assign):
            names |= {target.id for target in child.targets if isinstance(target, ast.Name)}
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            names.add(child.target.id)
    return names


def public_names(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("__")}


def test_the_stub_names_what_the_native_module_has() -> None:
    stub = ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8"))
    assert stub_names(stub) == public_names(_native)
    classes = [node for node in stub.body if isinstance(node, ast.ClassDef)]
    for node in classes:
        members = {name for name in stub_names(node) if not name.startswith("__")}
        inherited = public_names(enum.Enum) | {"name", "value"}
        assert members == public_names(getattr(_native, node.name)) - inherited


NATIVE = Path(__file__).parents[1] / "native"
# The files that decide when an arm is judged and predict how far it must be read. Constants of the
# machine, like the sizes of tables, are elsewhere.
DECIDING = ("drawn_steps", "forecasting", "judging", "kept_bets", "ledger", "survey")
# Arithmetic, and numbers beyond which a formula is replaced by its limit.
NUMBERS = {
    "0",
    "1",
    "2",
    "0.0",
    "0.0f",
    "1.0",
    "2.0",
    "4.0",
    "30.0",
    "1e30",
    "3.14159265358979323846",
}


def code_of(source: str) -> str:
    """Return C++ without its comments, its strings and the names of files."""
    return re.sub(r'//[^\n]*|"[^"\n]*"|#include[^\n]*', "", source)


def numbers_in(source: str) -> set[str]:
    """Return the decimal numbers in C++: hexadecimal ones are about the digits of a float."""
    without = re.sub(r"\b0x[\da-fA-F.]+(p[-+]?\d+)?", "", code_of(source))
    return set(re.findall(r"(?<![\w.])\d[\d.]*(?:e[-+]?\d+)?f?(?![\w.])", without))


def given_constants() -> set[str]:
    """Return the names of the constants that Python passes to the native code."""
    stub = ast.parse((PACKAGE / "_native.pyi").read_text(encoding="utf-8"))
    return {
        argument.arg
        for node in stub.body
        if isinstance(node, ast.ClassDef) and node.name in ("BetConstants", "PredictionRules")
        for function in node.body
        if isinstance(function, ast.FunctionDef)
        for argument in function.args.kwonlyargs
    }


def defined_in(source: str) -> set[str]:
    """Return which of these constants get a value in C++."""
    code = code_of(source)
    return {name for name in given_constants() if re.search(rf"\b{name}\s*[={{(]\s*[\d.]", code)}


@pytest.mark.parametrize("file", DECIDING)
def test_what_decides_in_native_code_has_no_numbers_of_its_own(file: str) -> None:
    for suffix in (".cpp", ".hpp"):
        source = (NATIVE / f"{file}{suffix}").read_text(encoding="utf-8")
        assert numbers_in(source) - NUMBERS == set(), "policy.py and theory/wealth.py have them"


def test_no_native_file_defines_a_constant_of_policy() -> None:
    for path in sorted(NATIVE.iterdir()):
        assert defined_in(path.read_text(encoding="utf-8")) == set(), path.name
    assert {"eagerness", "largest_loss"} <= given_constants()


@pytest.mark.parametrize(
    ("line", "number", "name"),
    [
        ("constexpr double eagerness = 0.85;  // 7", "0.85", "eagerness"),
        ("constexpr std::int64_t steps = 48;", "48", None),
        ("std::max(wealth, 1e-3)", "1e-3", None),
        ("double least_growth{0.5};", "0.5", "least_growth"),
        ("x < 17 ? 0.0 : 1.0", "17", None),
        ('constexpr double rounding = 0x1p-21; // or "0.3"', None, None),
        ("rules.least_growth * 2.0", None, None),
    ],
)
def test_a_constant_of_policy_in_native_code_is_seen(
    line: str, number: str | None, name: str | None
) -> None:
    assert numbers_in(line) - NUMBERS == ({number} - {None})
    assert defined_in(line) == ({name} - {None})


def test_every_public_name_is_there_and_documented() -> None:
    for name in sureshot.__all__:
        assert (getattr(sureshot, name).__doc__ or "").strip(), name
