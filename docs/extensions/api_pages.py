"""The pages of the reference: one for each public package, with all names of its ``__all__``."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import TYPE_CHECKING, Any

import sureshot

if TYPE_CHECKING:
    from pathlib import Path

# What has an ``__all__`` and is not for users.
NOT_FOR_USERS = ("cli", "experiments")
# How the pages of packages are called, and in which order they come; others follow by name.
TITLES = {
    "sureshot": "Searching",
    "sureshot.estimators": "Estimators for scikit-learn",
    "sureshot.solvers": "Sparse solvers",
    "sureshot.attribution": "Attribution",
    "sureshot.evals": "Evaluations",
    "sureshot.baselines": "Baselines",
}


def packages() -> list[str]:
    """Return the public packages, in the order of their pages."""
    found = ["sureshot"]
    for one in pkgutil.iter_modules(sureshot.__path__, "sureshot."):
        public = not one.name.removeprefix("sureshot.").startswith(("_", *NOT_FOR_USERS))
        if public and one.ispkg and hasattr(importlib.import_module(one.name), "__all__"):
            found.append(one.name)
    order = list(TITLES)
    return sorted(found, key=lambda name: (order.index(name) if name in order else 99, name))


def write(folder: Path) -> list[str]:
    """Write a page for each package, and one that lists them; return those with names that get pages of their own."""
    folder.mkdir(exist_ok=True)
    names = packages()
    listed = [f"   {name}" for name in names]
    index = [*_title("Reference"), INTRODUCTION, ".. toctree::", "   :maxdepth: 1", ""]
    _replace(folder / "index.rst", [*index, *listed, "   command-line"])
    for name in names:
        _replace(folder / f"{name}.rst", _page(name))
    _replace(folder / "command-line.rst", _command_line())
    return [f"{folder.name}/{name}.rst" for name in names]


INTRODUCTION = """
Every public name, by package. The examples are run by the tests.
"""


def _page(package: str) -> list[str]:
    module = importlib.import_module(package)
    things = {name: getattr(module, name) for name in module.__all__}
    lines = _title(TITLES.get(package, package))
    lines += [f".. automodule:: {package}", f".. currentmodule:: {package}", ""]
    for title, names in _by_kind(things).items():
        if names:
            lines += [f".. rubric:: {title}", "", ".. autosummary::", "   :toctree: generated", ""]
            lines += [*(f"   {name}" for name in names), ""]
    return lines


def _by_kind(things: dict[str, Any]) -> dict[str, list[str]]:
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": [], "Tables": []}
    for name, thing in things.items():
        if inspect.isclass(thing):
            kind = "Errors" if issubclass(thing, Exception) else "Classes"
        else:
            kind = "Functions" if inspect.isroutine(thing) else "Tables"
        kinds[kind].append(name)
    return kinds


def _command_line() -> list[str]:
    import click  # noqa: PLC0415 - an extra

    from sureshot.cli.commands import cli  # noqa: PLC0415 - the same

    lines = [*_title("Command line"), "What ``--help`` says.", ""]
    top = click.Context(cli, info_name="sureshot", max_content_width=88)
    lines += _literal(cli.get_help(top))
    for name, command in cli.commands.items():
        lines += [f"sureshot {name}", "-" * len(f"sureshot {name}"), ""]
        lines += _literal(command.get_help(click.Context(command, info_name=name, parent=top)))
    return lines


def _literal(text: str) -> list[str]:
    return [
        ".. code-block:: console",
        "",
        *(f"   {line}".rstrip() for line in text.splitlines()),
        "",
    ]


def _title(text: str) -> list[str]:
    return [text, "=" * len(text), ""]


def _replace(path: Path, lines: list[str]) -> None:
    """Write a page unless it is there already, so that it is not read again."""
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
