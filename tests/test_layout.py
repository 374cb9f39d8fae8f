"""The import rules of the design: a query flows downwards, and heavy packages come when asked."""

from __future__ import annotations

import ast
import enum
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
# Everything below speaks to the library as a user does.
CALLERS = ("cli", "estimators", "solvers")
# Experiments do so too, but may look up what the theory and the table of methods say; the command
# line runs them.
EXPERIMENTS = "experiments"
# The rivals: they read data through the sources, and only experiments know them.
BASELINES = "baselines"
LOOPS_AND_DATA = ("sureshot.sources", "sureshot.search", "sureshot.api", "sureshot._validate")
PUBLIC = {f"sureshot.{name}" for name in (*sureshot.__all__, "__version__", "_native")}
# The checks are pure; of the searches they know the table of methods only.
TABLE = "sureshot.search.methods"
IMPURE = (
    "sureshot._native",
    "sureshot.sources",
    "sureshot.search",
    "sureshot.prepare",
    "sureshot.api",
    "sureshot.bounds.scan_rows",
    "threading",
    "asyncio",
)
# Only the room that prepares a search makes sources, and baselines one of their own.
SOURCES = ("sureshot.sources.dense.DenseSource", "sureshot.sources.function.FunctionSource")
MAKE_SOURCES = ("prepare", BASELINES)
# Whatever a search rests on is prepared before it begins.
ABOVE_SEARCH = ("sureshot.prepare", "sureshot._validate", "sureshot.api")
MAY_LOOK_UP = (TABLE, "sureshot.theory", "sureshot.baselines", "sureshot._types")
HEAVY = ("scipy", "sklearn", "matplotlib", "click", "rich", "torch", "dask", "zarr", "h5py")
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
    layer = module.split(".")[1] if "." in module else ""
    upper = tuple(f"sureshot.{caller}" for caller in (*CALLERS, EXPERIMENTS))
    if layer == BASELINES:
        return [name for name in names if within(name, ("sureshot.api", *upper))]
    upper = (*upper, f"sureshot.{BASELINES}")
    if layer == "__main__":
        ours = [name for name in names if within(name, ("sureshot",))]
        return [name for name in ours if name != "sureshot.cli.main"]
    if layer == "theory":
        return [name for name in names if within(name, (*LOOPS_AND_DATA, *upper))]
    if layer == "sources":
        above = ("sureshot.theory", "sureshot.search", *ABOVE_SEARCH, *upper)
        return [name for name in names if within(name, above)]
    if layer == "_validate":
        names = [name for name in names if not within(name, (TABLE,))]
        return [name for name in names if within(name, (*IMPURE, *upper))]
    if layer == "search":
        return [name for name in names if within(name, (*ABOVE_SEARCH, *SOURCES, *upper))]
    if layer in (*CALLERS, EXPERIMENTS):
        own = f"sureshot.{layer}"
        if layer == EXPERIMENTS:
            names = [name for name in names if not within(name, MAY_LOOK_UP)]
        if layer == "cli":
            names = [name for name in names if not within(name, (f"sureshot.{EXPERIMENTS}",))]
        ours = [name for name in names if within(name, ("sureshot",))]
        return [
            name
            for name in ours
            if not (name == "sureshot" or within(name, (own,)) or within(name, tuple(PUBLIC)))
        ]
    made = () if layer in MAKE_SOURCES else SOURCES
    return [name for name in names if within(name, (*made, *upper))]


MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
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
        ("sureshot.cli.x", "from sureshot.search.run import run", "sureshot.search.run.run"),
        ("sureshot.cli.x", "from sureshot import _validate", "sureshot._validate"),
        ("sureshot.solvers.x", "import sureshot.sources.dense", "sureshot.sources.dense"),
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
        ("sureshot.baselines.x", "from sureshot.sources.dense import DenseSource", None),
        ("sureshot.experiments.x", "from sureshot.baselines import LSHMIPS", None),
        ("sureshot.__main__", "from sureshot.cli import main", None),
        ("sureshot.__main__", "import sureshot.search.run", "sureshot.search.run"),
        ("sureshot.theory.x", "from sureshot.theory import y", None),
        ("sureshot.theory.x", "from . import y", None),
        ("sureshot.cli.x", "import sureshot\nfrom sureshot import _native, top_k", None),
        ("sureshot.cli.x", "from sureshot.cli import main\nfrom .y import z", None),
    ],
)
def test_the_rules_see_what_breaks_them(module: str, line: str, broken: str | None) -> None:
    assert broken_rules(line, module) == ([] if broken is None else [broken])


@pytest.mark.parametrize("package", ["sureshot", "sureshot.baselines"])
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


def test_every_public_name_is_there_and_documented() -> None:
    for name in sureshot.__all__:
        assert (getattr(sureshot, name).__doc__ or "").strip(), name
