"""Files, modules and tests that documents, docstrings and comments name are there."""

from __future__ import annotations

import ast
import functools
import importlib
import io
import re
import tokenize
from typing import TYPE_CHECKING

import pytest

from tests.documents import DOCUMENTS, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PYTHON = [
    path.relative_to(ROOT).as_posix()
    for folder in ("src", "tests", "measurements", "examples", "tools")
    for path in sorted((ROOT / folder).rglob("*.py"))
] + ["noxfile.py"]
NATIVE = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "native").glob("*.?pp"))]
OTHERS = ["Makefile", "CMakeLists.txt", "pyproject.toml", ".ci/run"]

# Where a name may begin, besides the folder of the file that names it.
PLACES = [ROOT, *(ROOT / place for place in ("src/sureshot", "native", "tests", "docs"))]
FILE = re.compile(r"(?<![\w*/.-])[\w*./-]*[\w*]\.(?:py|pyi|cpp|hpp|md|jsonl|svg|cff|toml)\b")
MODULE = re.compile(r"`{1,2}((?:sureshot|measurements|tests|examples)(?:\.\w+)+)(?:\(\))?`")
TEST = re.compile(r"\btest_\w+\b(?![.…*])")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# What a run writes, and files of others.
WRITTEN = ("results/", "rows/", "figures/*", "jquery", "policy.jsonl", "share.jsonl")


def prose(path: str) -> str:
    """Return what a file says to people: everything, or its docstrings and comments."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".py"):
        return "\n".join(_python_prose(text))
    if path in NATIVE:
        return "\n".join(re.findall(r"//.*", text))
    return text


def _python_prose(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


def missing(text: str, path: str) -> list[str]:
    """Return the names in a text that stand for nothing; `path` is the file that it is in."""
    places = [*PLACES, (ROOT / path).parent]
    files = {name for name in FILE.findall(text) if not name.startswith(WRITTEN)}
    links = set()
    if path.endswith(".md"):
        links = {link for link in LINK.findall(text) if "://" not in link}
    return [
        *sorted(name for name in files if not any(_there(place, name) for place in places)),
        *sorted(link for link in links if not _leads_somewhere(link, ROOT / path)),
        *sorted(name for name in set(MODULE.findall(text)) if not _is_module_or_in_one(name)),
        *sorted(name for name in set(TEST.findall(text)) if name not in _known_tests()),
    ]


def _there(place: Path, name: str) -> bool:
    return any(place.glob(name)) if "*" in name else (place / name).exists()


def _leads_somewhere(link: str, document: Path) -> bool:
    name, _, anchor = link.partition("#")
    target = document.parent / name if name else document
    if not target.exists():
        return False
    headings = (
        re.findall(r"^#+ (.*)", target.read_text(encoding="utf-8"), re.MULTILINE) if anchor else []
    )
    return not anchor or anchor in [_anchor(heading) for heading in headings]


def _anchor(heading: str) -> str:
    """Return the name that a page gives to a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


def _is_module_or_in_one(name: str) -> bool:
    module = name
    parts: list[str] = []
    while module:
        try:
            found = importlib.import_module(module)
        except ModuleNotFoundError:
            module, _, last = module.rpartition(".")
            parts.insert(0, last)
            continue
        for part in parts:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@functools.cache
def _known_tests() -> set[str]:
    """Return the names of all tests, and of the files they are in."""
    paths = list((ROOT / "tests").rglob("*.py"))
    text = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    return {path.stem for path in paths} | set(re.findall(r"def (test_\w+)", text))


@pytest.mark.parametrize("path", [*DOCUMENTS, *PYTHON, *NATIVE, *OTHERS])
def test_what_is_named_is_there(path: str) -> None:
    assert missing(prose(path), path) == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("section 7 is `search/evidence.py`, not `search/race/ladder.py`", "search/evidence.py"),
        ("see [there](nowhere.md) and [here](theory.md)", "nowhere.md"),
        (
            "see [there](theory.md#no-such-part) and [here](theory.md#6-free-controls)",
            "theory.md#no-such-part",
        ),
        ("native/absent.cpp does what native/team.cpp does", "native/absent.cpp"),
        ("`sureshot.search.gone` and `sureshot.search.race.race.Race`", "sureshot.search.gone"),
        (
            "`sureshot.search.race.race.Pace` and `measurements.share.run`",
            "sureshot.search.race.race.Pace",
        ),
        ("tests/test_no_such_*.py and tests/test_guarantee_*.py", "tests/test_no_such_*.py"),
        (
            "as `test_that_nobody_wrote` shows, and test_what_is_named_is_there",
            "test_that_nobody_wrote",
        ),
    ],
)
def test_what_is_not_there_is_seen(text: str, named: str) -> None:
    assert missing(text, "docs/expensive-pulls.md")[-1] == named
    assert set(missing(text, "docs/expensive-pulls.md")) == {named}
