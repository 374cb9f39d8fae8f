"""The check-list of a release, as a command: ``python tools/release.py``.

It does what one Linux machine can: compares versions, builds the source distribution and from it the wheel, as a user
without our folder would, audits both, and tests the wheel in an environment that has numpy and no compiler. What it cannot
do it lists at the end. ``--rehearse`` skips what is only true on the day of a release; ``--only STEP`` runs some steps.
Needs the group ``release`` (``pip install --group release``), and clang++ for the step ``compilers``.
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
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
LARGEST_WHEEL = 3_000_000  # bytes
FIRST_STABLE_ABI = (3, 12)

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
class Settings:
    """Where things go, and whether this is only a rehearsal."""

    out: Path
    rehearse: bool

    @property
    def sdist(self) -> Path:
        """The source distribution."""
        return only_file(self.out, f"sureshot-{version()}.tar.gz")

    @property
    def wheel(self) -> Path:
        """The wheel for the Python that runs this."""
        return only_file(self.out, f"sureshot-{version()}-*.whl")


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
    run(sys.executable, "-m", "build", "--sdist", "--outdir", settings.out, ".")
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


def build_wheel(settings: Settings) -> str:
    """Build the wheel from the source distribution alone, for the stable ABI from Python 3.12 on."""
    with tempfile.TemporaryDirectory() as folder:
        options = ("--no-deps", "--no-cache-dir", "--wheel-dir", folder)
        run(sys.executable, "-m", "pip", "wheel", *options, settings.sdist)
        built = only_file(Path(folder), "*.whl")
        refuse_wrong_tag(built.name, sys.version_info[:2])
        if sys.platform == "linux":
            run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", settings.out, built)
        else:
            shutil.copy(built, settings.out)
    size = settings.wheel.stat().st_size
    if size > LARGEST_WHEEL:
        raise FailedStep(f"expected at most {LARGEST_WHEEL:,} bytes, got {size:,}")
    return f"{settings.wheel.name}, {size / 1e6:.2f} MB"


def refuse_wrong_tag(name: str, python: tuple[int, int]) -> None:
    """Raise if a wheel is not for all later versions of Python, or for this one before 3.12.

    Examples
    --------
    >>> refuse_wrong_tag("sureshot-0.1.0-cp312-abi3-linux_x86_64.whl", (3, 13))
    >>> refuse_wrong_tag("sureshot-0.1.0-cp311-cp311-linux_x86_64.whl", (3, 11))
    """
    this = f"cp{python[0]}{python[1]}"
    wanted = "cp312-abi3" if python >= FIRST_STABLE_ABI else f"{this}-{this}"
    if f"-{wanted}-" not in name:
        raise FailedStep(f"expected a wheel tagged {wanted}, got {name}")


def audit(settings: Settings) -> str:
    """Check the metadata, and that the library uses the stable ABI and old symbols of the system only."""
    run(sys.executable, "-m", "twine", "check", "--strict", settings.sdist, settings.wheel)
    if "abi3" in settings.wheel.name:
        run(sys.executable, "-m", "abi3audit", "--strict", settings.wheel)
    with zipfile.ZipFile(settings.wheel) as archive:
        names = archive.namelist()
    if outside := [name for name in names if not name.startswith("sureshot")]:
        raise FailedStep(f"the wheel has files of other packages: {outside}")
    if sys.platform != "linux":
        return "twine"
    shown = run(sys.executable, "-m", "auditwheel", "show", settings.wheel)
    found = re.search(r"(many|musl)linux_\d+_\d+_\w+", shown)
    return found[0] if found else shown


def check_clean_environment(settings: Settings) -> str:
    """Install the wheel beside numpy alone, without a compiler, search with it, and run the tests."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "environment"
        venv.create(place, with_pip=True)
        programs = place / ("Scripts" if os.name == "nt" else "bin")
        python = programs / "python"
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("PYTHONPATH", "CC", "CXX")
        }
        environment["PATH"] = str(programs)
        if found := [
            name for name in ("cc", "g++", "clang++", "cmake") if shutil.which(name, path=programs)
        ]:
            raise FailedStep(f"the environment has compilers: {found}")
        command = (python, "-m", "pip", "install", "--only-binary", ":all:")
        run(*command, settings.wheel, environment=environment)
        listed = run(python, "-m", "pip", "list", "--format=freeze", environment=environment)
        there = {line.partition("==")[0] for line in listed.splitlines() if "==" in line}
        if there - {"pip", "setuptools"} != {"numpy", "sureshot"}:
            raise FailedStep(f"expected numpy and sureshot, got {sorted(there)}")
        program = (
            "import numpy, sureshot; data = numpy.eye(500, dtype='float32');"
            "assert sureshot.top_k(data, data[7], 1).indices.tolist() == [7]; print(sureshot.__version__)"
        )
        printed = run(python, "-c", program, folder=place, environment=environment).strip()
        if printed != version():
            raise FailedStep(f"expected version {version()}, got {printed}")
        run(*command, "--group", f"{ROOT / 'pyproject.toml'}:wheel", environment=environment)
        tests = run(python, ROOT / "tools" / "check_wheel.py", "-n", "2", environment=environment)
    return tests.splitlines()[-1]


def check_compilers(settings: Settings) -> str:
    """Build with Clang without a warning, with its extensions and in plain C++, as MSVC has to."""
    compiler = shutil.which("clang++")
    if compiler is None:
        raise FailedStep("expected clang++ in the path, got none")
    cmake_folder = run(sys.executable, "-m", "nanobind", "--cmake_dir").strip()
    for plain in ("OFF", "ON"):
        folder = settings.out.parent / f"clang-{plain.lower()}"
        run(
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
        run("cmake", "--build", folder, "--parallel", "2")
    return run(compiler, "--version").splitlines()[0]


STEPS: dict[str, Callable[[Settings], str]] = {
    "versions": check_versions,
    "tree": check_tree,
    "sdist": build_sdist,
    "wheel": build_wheel,
    "audit": audit,
    "environment": check_clean_environment,
    "compilers": check_compilers,
}


def main(arguments: list[str]) -> int:
    """Run the steps one after the other, up to the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--rehearse", action="store_true", help="not yet the day of the release")
    parser.add_argument("--only", nargs="+", choices=STEPS, default=list(STEPS), metavar="STEP")
    chosen = parser.parse_args(arguments)
    settings = Settings(chosen.out.resolve(), chosen.rehearse)
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
