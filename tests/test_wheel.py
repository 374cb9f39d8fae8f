"""What is installed: the packages and files of the wheel, and nothing that only measures or tests."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sureshot import _native
from sureshot.cuda import compiler
from tests.test_layout import MODULES, ROOT, imported, within
from tools import release

PACKAGES = {
    "sureshot._validate",
    "sureshot.prepare",
    "sureshot",
    "sureshot.attribution",
    "sureshot.attribution.formats",
    "sureshot.baselines",
    "sureshot.baselines.libraries",
    "sureshot.cli",
    "sureshot.cuda",
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
# Besides Python: the types of the native module, the mark of a typed package, the page of the report, the kernels.
KERNELS = {f"cuda/kernels/{part}" for parts in compiler.PARTS.values() for part in parts}
OTHER_FILES = {"_native.pyi", "py.typed", "experiments/report.html.jinja", *KERNELS}
BUILT = (".so", ".pyd", ".pyc")


def project() -> dict[str, Any]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)


def test_the_wheel_has_these_packages() -> None:
    assert project()["tool"]["scikit-build"]["wheel"]["packages"] == ["src/sureshot"]
    folders = {path.parent for path in (ROOT / "src").rglob("*.py")}
    assert {".".join(path.relative_to(ROOT / "src").parts) for path in folders} == PACKAGES


def test_one_library_serves_every_python_from_3_12_on() -> None:
    # nanobind leaves the stable ABI out without a word if CMake has not found all that it needs.
    assert project()["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    name = Path(str(_native.__file__)).name
    if sys.version_info >= release.FIRST_STABLE_ABI and not sysconfig.get_config_var(
        "Py_GIL_DISABLED"
    ):
        assert sysconfig.get_config_var("EXT_SUFFIX") not in name
    else:
        assert name == f"_native{sysconfig.get_config_var('EXT_SUFFIX')}"


@pytest.mark.parametrize(
    ("name", "python", "right"),
    [
        ("sureshot-0.1.0-cp312-abi3-manylinux_2_28_x86_64.whl", (3, 13), True),
        ("sureshot-0.1.0-cp313-cp313-manylinux_2_28_x86_64.whl", (3, 13), False),
        ("sureshot-0.1.0-cp311-cp311-win_amd64.whl", (3, 11), True),
        ("sureshot-0.1.0-cp312-abi3-win_amd64.whl", (3, 11), False),
    ],
)
def test_a_release_refuses_a_wheel_with_another_tag(
    name: str, python: tuple[int, int], right: bool
) -> None:
    built_for = release.Python(f"python{python[0]}.{python[1]}", python)
    if right:
        release.refuse_wrong_tag(name, built_for)
    else:
        with pytest.raises(release.FailedStep, match=r"expected a wheel tagged cp31\d-\w+, got"):
            release.refuse_wrong_tag(name, built_for)


def test_the_version_is_the_same_everywhere() -> None:
    # The build takes it from the package; the others cannot, and are compared.
    assert "version" in project()["project"]["dynamic"]
    assert release.check_versions(release.Settings(ROOT / "dist", rehearse=True))


def test_a_program_ends_without_a_word_even_if_something_of_ours_is_kept() -> None:
    # nanobind would list every type, function and object that is not freed.
    program = """
import ctypes
from sureshot.search.race.constants import BET_CONSTANTS
ctypes.pythonapi.Py_IncRef(ctypes.py_object(BET_CONSTANTS))
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert (ended.stdout, ended.stderr) == ("", "")


# What only GCC and Clang have, and the tests of the preprocessor that say that they are there.
EXTENSION = re.compile(
    r"__builtin_(?!bit_cast)|__attribute__|__asm__|\b_mm\d*_|gnu::|__m\d{3}|_Pragma"
)
COMPILER = re.compile(r"SURESHOT_EXTENSIONS|SURESHOT_X86|__AVX|SURESHOT_CPUID")


def unguarded_extensions(text: str) -> list[str]:
    """Return the lines that a compiler other than GCC and Clang would refuse."""
    found, conditions = [], [""]
    for line in text.splitlines():
        directive = line.strip()
        if directive.startswith("#if"):
            conditions.append(directive)
        elif directive.startswith("#elif"):
            conditions[-1] = directive
        elif directive.startswith("#else"):
            conditions[-1] = ""
        elif directive.startswith("#endif"):
            conditions.pop()
        elif EXTENSION.search(line.partition("//")[0]) and not any(
            map(COMPILER.search, conditions)
        ):
            found.append(directive)
    return found


@pytest.mark.parametrize("path", sorted((ROOT / "native").iterdir()), ids=lambda path: path.name)
def test_extensions_of_a_compiler_have_a_fallback(path: Path) -> None:
    assert unguarded_extensions(path.read_text(encoding="utf-8")) == []


def test_an_extension_without_a_fallback_is_found() -> None:
    guarded = "#if defined(SURESHOT_EXTENSIONS)\n__builtin_prefetch(a);\n#else\n#endif\n"
    assert unguarded_extensions(guarded) == []
    assert unguarded_extensions(guarded + "x = __builtin_fabs(y);") == ["x = __builtin_fabs(y);"]
    swapped = guarded.replace("#if", "#if 0\n#else\n#if").replace(
        "#endif", "__asm__(a);\n#endif\n#endif"
    )
    assert unguarded_extensions(swapped) == ["__asm__(a);"]


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
