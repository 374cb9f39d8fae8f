"""What is installed: the packages and files of the wheel, and nothing that only measures or tests."""

from __future__ import annotations

import tomllib

from tests.test_layout import MODULES, ROOT, imported, within

PACKAGES = {
    "sureshot._validate",
    "sureshot.prepare",
    "sureshot",
    "sureshot.attribution",
    "sureshot.attribution.formats",
    "sureshot.baselines",
    "sureshot.baselines.libraries",
    "sureshot.cli",
    "sureshot.estimators",
    "sureshot.evals",
    "sureshot.experiments",
    "sureshot.search",
    "sureshot.search.bandits",
    "sureshot.search.leaders",
    "sureshot.search.race",
    "sureshot.solvers",
    "sureshot.sources",
    "sureshot.storage",
    "sureshot.storage.formats",
    "sureshot.theory",
}
# Besides Python: the types of the native module, the mark of a typed package, the page of the report.
OTHER_FILES = {"_native.pyi", "py.typed", "experiments/report.html.jinja"}
BUILT = (".so", ".pyd", ".pyc")


def test_the_wheel_has_these_packages() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        settings = tomllib.load(file)["tool"]["scikit-build"]
    assert settings["wheel"] == {"packages": ["src/sureshot"]}
    folders = {path.parent for path in (ROOT / "src").rglob("*.py")}
    assert {".".join(path.relative_to(ROOT / "src").parts) for path in folders} == PACKAGES


def test_the_wheel_has_these_other_files() -> None:
    files = [path for path in (ROOT / "src" / "sureshot").rglob("*") if path.is_file()]
    others = [path for path in files if path.suffix not in (".py", *BUILT)]
    assert {path.relative_to(ROOT / "src/sureshot").as_posix() for path in others} == OTHER_FILES


def reachable(start: set[str]) -> set[str]:
    """Return the modules that some modules import, directly or through others."""
    found: set[str] = set()
    left = list(start)
    while left:
        module = left.pop()
        if module in found:
            continue
        found.add(module)
        path = MODULES[module]
        names = imported(
            path.read_text(encoding="utf-8"), module, is_package=path.name == "__init__.py"
        )
        for name in names:
            parts = name.split(".")
            prefixes = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
            left.extend(prefix for prefix in prefixes if prefix in MODULES)
    return found


def test_every_experiment_belongs_to_a_command() -> None:
    # What only a test, a page of the documentation or a measurement needs is in measurements/.
    commands = {module for module in MODULES if within(module, ("sureshot.cli",))}
    experiments = {module for module in MODULES if within(module, ("sureshot.experiments",))}
    assert len(experiments) > 10
    assert sorted(experiments - reachable(commands)) == []
