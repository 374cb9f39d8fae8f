"""The check-list of a release, as a command: ``python tools/release.py``.

It does what one Linux machine can: compares versions, builds the source distribution and from it the wheels, as a user
without our folder would, audits them, installs each beside numpy alone and without a compiler, and runs the whole test suite
on it there. What it cannot do it lists at the end. ``--rehearse`` skips what is only true on the day of a release; ``--only
STEP`` runs some steps; ``--tests tests/cli`` is a piece of the suite. Needs the group ``release`` (``pip install --group
release``), the Pythons of ``--python``, and clang++ for the step ``compilers``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL = 3_000_000  # bytes
FIRST_STABLE_ABI = (3, 12)
# Wheels are built for these: one for all later versions, too, and one for the only version before.
PYTHONS = ("python3.12", "python3.11")
# What the tests use of the package, besides the group `test`.
EXTRAS = "cli,report,sklearn,solvers"
# Programs of the system that tests, and libraries in them, call; without them joblib warns, and warnings are errors.
SYSTEM = ("cat", "git")
COMPILERS = ("cc", "gcc", "g++", "clang", "clang++", "cmake", "ninja")

# Where the version is written down besides src/sureshot/__init__.py, from which the build takes it.
VERSIONS = {
    "src/sureshot/__init__.py": r'^__version__ = "(.+)"$',
    "CITATION.cff": r"^version: (.+)$",
    "conda/recipe.yaml": r'^  version: "(.+)"$',
}

# Files of the repository that a source distribution has no use for.
NOT_IN_SDIST = (".ci/",)

BY_HAND = """Left for a person:
  - Wheels for macOS, Windows, musl and aarch64: `cibuildwheel` on machines that have these systems. The configuration in
    pyproject.toml has been run on none of them by us: read the tests' output of the first build.
  - The conda recipe: `rattler-build build --recipe conda/recipe.yaml`, never run by us either.
  - `make trust`, if something in native/, theory/ or search/ has changed since the rows of docs/trust.md.
  - `git tag -s vX.Y.Z`, then `twine upload dist/*`, then the next version with "(unreleased)" in CHANGELOG.md."""


class FailedStep(Exception):
    """What is wrong, in words."""


@dataclass(frozen=True)
class Python:
    """A Python that a wheel is built for and tested with."""

    program: str
    version: tuple[int, int]

    @classmethod
    def found(cls, program: str) -> Python:
        """Ask a Python for its version."""
        if shutil.which(program) is None:
            raise FailedStep(f"expected {program} in the path, got none: name it with --python")
        major, minor = run(program, "-c", "import sys; print(*sys.version_info[:2])").split()
        return cls(program, (int(major), int(minor)))

    @property
    def tag(self) -> str:
        """How the wheels for it are tagged: for all later versions of Python, or for this one before 3.12.

        Examples
        --------
        >>> Python("python3.13", (3, 13)).tag, Python("python3.11", (3, 11)).tag
        ('cp312-abi3', 'cp311-cp311')
        """
        this = f"cp{self.version[0]}{self.version[1]}"
        return "cp312-abi3" if self.version >= FIRST_STABLE_ABI else f"{this}-{this}"


@dataclass(frozen=True)
class Settings:
    """Where things go, for which Pythons, which tests are run, and whether this is only a rehearsal."""

    out: Path
    rehearse: bool
    pythons: tuple[str, ...] = PYTHONS
    tests: tuple[str, ...] = ("--all",)

    @property
    def sdist(self) -> Path:
        """The source distribution."""
        return only_file(self.out, f"sureshot-{version()}.tar.gz")

    def wheel(self, python: Python) -> Path:
        """Return the wheel for a Python."""
        return only_file(self.out, f"sureshot-{version()}-{python.tag}-*.whl")

    def environment(self, python: Python) -> Environment:
        """Return where its wheel is installed."""
        return Environment(self.out.parent / "environments" / python.tag)


@dataclass(frozen=True)
class Environment:
    """An environment of its own, whose programs are the only ones that it finds."""

    place: Path

    @property
    def programs(self) -> Path:
        """The folder of its programs."""
        return self.place / ("Scripts" if os.name == "nt" else "bin")

    def python(self, *words: str | Path, folder: Path = ROOT) -> str:
        """Run its Python, without our folder and without a compiler."""
        self._link_system()
        if there := [name for name in COMPILERS if shutil.which(name, path=self.programs)]:
            raise FailedStep(f"the environment has compilers: {there}")
        hidden = ("PYTHONPATH", "CC", "CXX")
        variables = {name: value for name, value in os.environ.items() if name not in hidden}
        variables["PATH"] = str(self.programs)
        return run(self.programs / "python", *words, folder=folder, environment=variables)

    def _link_system(self) -> None:
        for name in SYSTEM:
            there, link = shutil.which(name), self.programs / name
            if there is not None and not link.exists():
                link.symlink_to(there)

    def install(self, *words: str | Path) -> None:
        """Install packages, without a compiler."""
        self.python("-m", "pip", "install", "--quiet", *words)


def only_file(folder: Path, pattern: str) -> Path:
    """Return the one file of a folder that fits a pattern."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise FailedStep(f"expected one {pattern} in {folder}, got {[path.name for path in found]}")
    return found[0]


def version_in(path: str) -> str:
    """Return the version that a file names."""
    found = re.search(VERSIONS[path], (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    if found is None:
        raise FailedStep(f"expected a version in {path}, got none")
    return found[1]


def version() -> str:
    """Return the version that the build takes."""
    return version_in("src/sureshot/__init__.py")


def run(
    *command: str | Path, folder: Path = ROOT, environment: dict[str, str] | None = None
) -> str:
    """Run a command and return what it prints; a failure shows its end."""
    words = [str(word) for word in command]
    done = subprocess.run(
        words,
        cwd=folder,
        env=environment,
        check=False,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    if done.returncode:
        end = "\n".join(done.stdout.splitlines()[-40:])
        raise FailedStep(f"{' '.join(words)} ended with {done.returncode}:\n{end}")
    return done.stdout


def run_module(module: str, *words: str | Path) -> str:
    """Run a tool of the group ``release``, which finds others beside this Python, activated or not."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    return run(sys.executable, "-m", module, *words, environment={**os.environ, "PATH": path})


def check_versions(settings: Settings) -> str:
    """Compare the versions that are written down, and ask the changelog for the day of this one."""
    found = {path: version_in(path) for path in VERSIONS}
    if len(set(found.values())) > 1:
        raise FailedStep(f"expected one version, got {found}")
    log = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## {re.escape(version())} ", log, re.MULTILINE):
        raise FailedStep(f"CHANGELOG.md says nothing of {version()}")
    if not settings.rehearse and f"## {version()} (unreleased)" in log:
        raise FailedStep(f"CHANGELOG.md calls {version()} unreleased")
    return version()


def check_tree(settings: Settings) -> str:
    """See that everything is committed."""
    changed = run("git", "status", "--porcelain").splitlines()
    if changed and not settings.rehearse:
        raise FailedStep(f"not committed: {changed}")
    return run("git", "rev-parse", "--short", "HEAD").strip()


def build_sdist(settings: Settings) -> str:
    """Build the source distribution, which has every file of the repository that belongs to it."""
    shutil.rmtree(settings.out, ignore_errors=True)
    settings.out.mkdir(parents=True)
    run_module("build", "--sdist", "--outdir", settings.out, ".")
    with tarfile.open(settings.sdist) as archive:
        packed = {member.name.partition("/")[2] for member in archive if member.isfile()}
    wanted = {
        path
        for path in run("git", "ls-files").splitlines()
        if not path.startswith(NOT_IN_SDIST) and (ROOT / path).exists()
    }
    if missing := sorted(wanted - packed):
        raise FailedStep(f"not in the source distribution: {missing}")
    if foreign := sorted(packed - wanted - {"PKG-INFO"}):
        raise FailedStep(f"in the source distribution, but not in the repository: {foreign}")
    return f"{settings.sdist.name}, {settings.sdist.stat().st_size / 1e6:.2f} MB"


def build_wheels(settings: Settings) -> str:
    """Build wheels from the source distribution alone, for the stable ABI from Python 3.12 on."""
    built = []
    for python in map(Python.found, settings.pythons):
        with tempfile.TemporaryDirectory() as folder:
            options = ("--no-deps", "--no-cache-dir", "--wheel-dir", folder)
            run(python.program, "-m", "pip", "wheel", *options, settings.sdist)
            wheel = only_file(Path(folder), "*.whl")
            refuse_wrong_tag(wheel.name, python)
            if sys.platform == "linux":
                run_module("auditwheel", "repair", "--wheel-dir", settings.out, wheel)
            else:
                shutil.copy(wheel, settings.out)
        size = settings.wheel(python).stat().st_size
        if size > LARGEST_WHEEL:
            raise FailedStep(f"expected at most {LARGEST_WHEEL:,} bytes, got {size:,}")
        built.append(f"{settings.wheel(python).name}, {size / 1e6:.2f} MB")
    return "; ".join(built)


def refuse_wrong_tag(name: str, python: Python) -> None:
    """Raise if a wheel is tagged for other Pythons than the ones it is to serve.

    Examples
    --------
    >>> refuse_wrong_tag("sureshot-0.1.0-cp312-abi3-linux_x86_64.whl", Python("python3.13", (3, 13)))
    """
    if f"-{python.tag}-" not in name:
        raise FailedStep(f"expected a wheel tagged {python.tag}, got {name}")


def audit(settings: Settings) -> str:
    """Check the metadata, and that the libraries use the stable ABI and old symbols of the system only."""
    wheels = [settings.wheel(python) for python in map(Python.found, settings.pythons)]
    run_module("twine", "check", "--strict", settings.sdist, *wheels)
    said = ["twine"]
    for wheel in wheels:
        if "abi3" in wheel.name:
            run_module("abi3audit", "--strict", wheel)
            said.append("abi3audit")
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        if outside := [name for name in names if not name.startswith("sureshot")]:
            raise FailedStep(f"{wheel.name} has files of other packages: {outside}")
        if sys.platform == "linux":
            shown = run_module("auditwheel", "show", wheel)
            found = re.search(r"(many|musl)linux_\d+_\d+_\w+", shown)
            said.append(found[0] if found else shown)
    return ", ".join(said)


def install_alone(settings: Settings) -> str:
    """Install each wheel beside numpy alone, without a compiler, and search with it."""
    said = []
    for python in map(Python.found, settings.pythons):
        clean = settings.environment(python)
        run(python.program, "-m", "venv", "--clear", clean.place)
        clean.install("--upgrade", "pip>=25.1")  # which knows groups
        clean.install("--only-binary", ":all:", settings.wheel(python))
        listed = clean.python("-m", "pip", "list", "--format=freeze")
        there = {line.partition("==")[0] for line in listed.splitlines() if "==" in line}
        if there - {"pip", "setuptools"} != {"numpy", "sureshot"}:
            raise FailedStep(f"expected numpy and sureshot, got {sorted(there)}")
        program = (
            "import numpy, sureshot; data = numpy.eye(500, dtype='float32');"
            "assert sureshot.top_k(data, data[7], 1).indices.tolist() == [7]; print(sureshot.__version__)"
        )
        printed = clean.python("-c", program, folder=clean.place).strip()
        if printed != version():
            raise FailedStep(f"expected version {version()}, got {printed}")
        said.append(f"{python.program}: {printed}")
    return ", ".join(said)


def run_tests(settings: Settings) -> str:
    """Run the test suite on each installed wheel, with what the tests need besides."""
    said = []
    for python in map(Python.found, settings.pythons):
        clean = settings.environment(python)
        wheel = f"{settings.wheel(python)}[{EXTRAS}]"
        clean.install(wheel, "--group", f"{ROOT / 'pyproject.toml'}:test")
        checked = clean.python(ROOT / "tools" / "check_wheel.py", "-n", "2", *settings.tests)
        said.append(f"{python.program}: {checked.splitlines()[-1].strip('= ')}")
    return ", ".join(said)


def check_compilers(settings: Settings) -> str:
    """Build with Clang without a warning, with its extensions and in plain C++, as MSVC has to."""
    compiler = shutil.which("clang++")
    if compiler is None:
        raise FailedStep("expected clang++ in the path, got none")
    cmake_folder = run_module("nanobind", "--cmake_dir").strip()
    for plain in ("OFF", "ON"):
        folder = settings.out.parent / f"clang-{plain.lower()}"
        run_module(
            "cmake",
            *("-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release"),
            f"-DCMAKE_CXX_COMPILER={compiler}",
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-Dnanobind_DIR={cmake_folder}",
            f"-DSURESHOT_PLAIN={plain}",
            "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON",
            "-DSKBUILD_PROJECT_NAME=sureshot",
            f"-DSKBUILD_PROJECT_VERSION={version()}",
        )
        run_module("cmake", "--build", folder, "--parallel", "2")
    return run(compiler, "--version").splitlines()[0]


STEPS: dict[str, Callable[[Settings], str]] = {
    "versions": check_versions,
    "tree": check_tree,
    "sdist": build_sdist,
    "wheels": build_wheels,
    "audit": audit,
    "alone": install_alone,
    "tests": run_tests,
    "compilers": check_compilers,
}


def main(arguments: list[str]) -> int:
    """Run the steps one after the other, up to the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument(
        "--python", nargs="+", default=PYTHONS, help="the Pythons to build wheels for"
    )
    parser.add_argument("--tests", nargs="+", default=("--all",), help="all of them by default")
    parser.add_argument("--rehearse", action="store_true", help="not yet the day of the release")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    chosen = parser.parse_args(arguments)
    settings = Settings(
        chosen.out.resolve(), chosen.rehearse, tuple(chosen.python), tuple(chosen.tests)
    )
    for name in chosen.only:
        print(f"{name}: {STEPS[name].__doc__}", flush=True)
        try:
            print(f"    {STEPS[name](settings)}", flush=True)
        except FailedStep as failure:
            print(f"    FAILED. {failure}", file=sys.stderr)
            return 1
    print(BY_HAND)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
