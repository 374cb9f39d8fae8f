"""The pages of the site before it is built: each has its place, and what they name is there."""

from __future__ import annotations

import doctest
import importlib.util
import re
from pathlib import Path

import pytest

from tests.documents import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(
    path.relative_to(DOCS).with_suffix("").as_posix()
    for path in [*DOCS.glob("*.md"), *DOCS.glob("project/*.md")]
)
TOCTREE = re.compile(r"^:::\{toctree\}\n(.*?)^:::$", re.MULTILINE | re.DOTALL)
# They have their places before they are written.
OPTIONAL = ("evals", "gpu", "trust")


def entries(page: str) -> list[str]:
    """Return the pages that a page leads to in the navigation."""
    found = []
    for block in TOCTREE.findall((DOCS / f"{page}.md").read_text(encoding="utf-8")):
        lines = [line for line in block.splitlines() if line and not line.startswith(":")]
        names = [re.sub(r".*<(.*)>", r"\1", line) for line in lines]
        found += [(Path(page).parent / name).as_posix() for name in names]
    return found


def test_every_page_is_in_the_navigation_once() -> None:
    listed = [name for page in PAGES for name in entries(page)]
    made = {"gallery/index", "api/index"}
    assert len(listed) == len(set(listed))
    assert set(listed) - made - set(OPTIONAL) == set(PAGES) - {"index", *OPTIONAL}
    assert set(listed) >= {*made, *OPTIONAL}


def test_the_summary_for_language_models_leads_somewhere() -> None:
    text = (DOCS / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# sureshot\n\n> ")
    links = re.findall(r"\]\(([^)]+)\.html\)", text)
    assert len(links) > 15
    known = {*PAGES, "gallery/index", "api/index"}
    assert [link for link in links if link not in known] == []


@pytest.mark.parametrize("name", ["gallery", "pages"])
def test_the_examples_of_the_extensions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    path = DOCS / "extensions" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"site_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    ran = doctest.testmod(module)
    assert ran.attempted > 0
    assert ran.failed == 0
