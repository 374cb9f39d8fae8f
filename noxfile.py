from __future__ import annotations

import nox

nox.needs_version = ">=2024.4.15"
nox.options.default_venv_backend = "venv"
nox.options.sessions = ["lint", "types", "tests"]


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Run mypy in strict mode."""
    groups = nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "lint", "test")
    session.install(*groups, ".[cli,report]")
    session.run("mypy")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the test suite."""
    session.install(*nox.project.dependency_groups(nox.project.load_toml("pyproject.toml"), "test"))
    session.install(".[cli,report]")
    session.run("pytest", "-n", "2", *session.posargs)
