#!/usr/bin/env -S uv run --script

# /// script
# dependencies = ["nox>=2025.2.9"]
# ///

from __future__ import annotations

import shutil

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "venv"

PROJECT = nox.project.load_toml("pyproject.toml")


def groups(*names: str) -> list[str]:
    return list(nox.project.dependency_groups(PROJECT, *names))


@nox.session
def lint(session: nox.Session) -> None:
    """Run ruff."""
    session.install(*groups("lint"))
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")


@nox.session
def types(session: nox.Session) -> None:
    """Run mypy in strict mode."""
    session.install(*groups("lint", "test"), ".[cli,report,sklearn,solvers]")
    session.run("mypy")


@nox.session(python=["3.11", "3.12", "3.13"])
def tests(session: nox.Session) -> None:
    """Run the test suite."""
    session.install(*groups("test"), ".[cli,report,sklearn,solvers]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session(default=False)
def rivals(session: nox.Session) -> None:
    """Run the tests of the baselines with the libraries that they adapt, so that none is skipped."""
    session.install(*groups("test", "rivals"), ".[baselines]")
    run_all(session, "-n", "2", "tests/baselines")


@nox.session(default=False)
def attribution(session: nox.Session) -> None:
    """Run the tests of attribution with torch and the tools whose stores are read, so that none is skipped."""
    session.install(*groups("test", "attribution"), ".[attribution,cli,report]")
    # bergson asks for both and needs neither for its stores, but cannot be imported beside builds of them that are made
    # for another torch: those of PyPI are for CUDA, and the torch of this machine may be one for processors.
    session.run("python", "-m", "pip", "uninstall", "--yes", "torchvision", "torchaudio")
    tests = [
        "tests/attribution",
        "tests/measurements/test_attribution.py",
        "tests/test_examples.py",
    ]
    run_all(session, "-n", "2", *tests)


@nox.session(default=False)
def umap(session: nox.Session) -> None:
    """Run the tests of the estimators with UMAP, so that none is skipped."""
    session.install(*groups("test", "umap"), ".[sklearn]")
    run_all(session, "-n", "2", "tests/estimators")


@nox.session(default=False)
def plain(session: nox.Session) -> None:
    """Run the tests of the kernels in plain C++, which compilers other than GCC and Clang get."""
    settings = ("cmake.define.SURESHOT_PLAIN=ON", "build-dir=build/plain")
    session.install(*groups("test"), ".", *(f"--config-settings={one}" for one in settings))
    tests = ["at_once", "kernels", "product", "same_bits", "searches", "selection_of_candidates"]
    session.run("pytest", "-n", "2", *(f"tests/test_{name}.py" for name in tests))


@nox.session(default=False)
def evals(session: nox.Session) -> None:
    """Run the tests of evaluations with the tools that they adapt, so that none is skipped."""
    session.install(*groups("wheel", "evals"), ".[cli,report]")
    # inspect_ai leaves streams open, and pytest would count them as errors of the last test.
    run_all(session, "-p", "no:unraisableexception", "tests/evals")


def run_all(session: nox.Session, *words: str) -> None:
    """Run tests for which everything has been installed: one that is skipped fails."""
    session.run("python", "-m", "pytest", "-p", "tests.no_skips", *words, *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site, with warnings as errors, and look at it with a browser."""
    session.install(*groups("site"), ".[docs]")
    folder = ["-d", "build/docs/doctrees", "docs", "build/docs/html"]
    session.run("python", "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", *folder)
    session.run("pytest", "tests/site", *session.posargs, env={"SURESHOT_SITE": "build/docs/html"})


@nox.session(default=False)
def gpu(session: nox.Session) -> None:
    """Run the tests of searches on a CUDA card, then small ones under the checkers of compute-sanitizer.

    That is: the kernels next to the reference, the contract of the sources over arrays of torch, CuPy and JAX, the
    guarantee on hostile rows. Without a card this fails, and does not skip. ``-- -k name`` runs some tests only. Where
    nothing can be installed, ``nox -s gpu --no-venv`` takes sureshot, torch, CuPy, JAX and pytest as they are there.
    """
    if session.venv_backend != "none":
        session.install(*groups("test", "gpu"), ".[cuda]")
    session.run("python", "-c", "import torch; torch.zeros(1, device='cuda')")
    # JAX would take most of the card's memory for itself.
    environment = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    session.run(
        "python", "-m", "pytest", "-n", "4", "tests/cuda", *session.posargs, env=environment
    )
    checker = shutil.which("compute-sanitizer")
    if checker is None:
        session.error("compute-sanitizer is not there: memory and races were not checked")
    tests = [f"tests/cuda/test_device{part}.py" for part in ("", "_whole", "_lists")]
    names = "small_cases or small_products or small_lists"
    small = ["python", "-m", "pytest", "-q", *tests, "-k", names]
    for tool in ("memcheck", "racecheck"):
        # Calls that ask whether something is possible, as torch makes them, are no errors.
        options = [f"--tool={tool}", "--error-exitcode=1", "--report-api-errors=no"]
        session.run(checker, *options, *small, external=True)


@nox.session(default=False)
def sanitize(session: nox.Session) -> None:
    """Run the tests of the native code, built to stop at bad addresses and undefined operations."""
    native = [
        "tests/sources",
        "tests/storage/test_files.py",
        "tests/storage/test_formats.py",
        "tests/storage/test_stacks.py",
        "tests/test_at_once.py",
        "tests/test_batch.py",
        "tests/test_betting.py",
        "tests/test_half_precision.py",
        "tests/test_kernels.py",
        "tests/test_ledger.py",
        "tests/test_multiplication.py",
        "tests/test_order.py",
        "tests/test_policy.py",
        "tests/test_product.py",
        "tests/test_query_sums.py",
        "tests/test_race.py",
        "tests/test_same_bits.py",
        "tests/test_screen.py",
        "tests/test_selection_of_candidates.py",
        "tests/test_shared_rows.py",
        "tests/test_shortlist.py",
        "tests/test_small_arrays.py",
        "tests/test_small_calls.py",
        "tests/test_team.py",
        "tests/test_wrong_guesses.py",
    ]
    run_sanitized(session, "address,undefined", "libasan.so", session.posargs or native)


@nox.session(default=False)
def sanitize_threads(session: nox.Session) -> None:
    """Run the tests of teams, and of what they do, built to stop at data races."""
    teams = [
        "tests/storage/test_files.py",
        "tests/test_at_once.py",
        "tests/test_batch.py",
        "tests/test_interrupt.py",
        "tests/test_kernels.py",
        "tests/test_product.py",
        "tests/test_race.py",
        "tests/test_selection_of_candidates.py",
        "tests/test_shared_rows.py",
        "tests/test_shortlist.py",
        "tests/test_team.py",
    ]
    run_sanitized(session, "thread", "libtsan.so", session.posargs or teams)


def run_sanitized(session: nox.Session, sanitizer: str, library: str, tests: list[str]) -> None:
    """Build the extension with a sanitizer of GCC, whose library that is, and run tests."""
    settings = {
        "cmake.define.SURESHOT_SANITIZE": sanitizer,
        "build-dir": f"build/{session.name}",
    }
    session.install(
        *groups("test"),
        ".[cli,report]",
        *(f"--config-settings={name}={value}" for name, value in settings.items()),
    )
    # Python itself knows nothing of the sanitizer, nor of C++ exceptions: both must be there first.
    preload = [
        str(session.run("g++", f"-print-file-name={name}", external=True, silent=True)).strip()
        for name in (library, "libstdc++.so")
    ]
    environment = {
        "LD_PRELOAD": " ".join(preload),
        "ASAN_OPTIONS": "detect_leaks=0",  # Python keeps memory until the end, which is no leak
        "TSAN_OPTIONS": "halt_on_error=1",  # pytest would keep the report of a test that passes
        "OPENBLAS_NUM_THREADS": "1",  # its threads are built without the sanitizer
        "PYTHONMALLOC": "malloc",  # a pool would hide who owns an address
    }
    # The thread sanitizer does not follow threads that are started after a fork, and a child hangs that was forked while
    # another thread held a lock of the address sanitizer's allocator.
    alone = ["-k", "not fork and not child"]
    session.run("pytest", "-n", "2", "-q", *alone, *tests, env=environment)


@nox.session(default=False)
def review(session: nox.Session) -> None:
    """Compare the repository with the Scientific Python guide."""
    session.install("sp-repo-review[cli]>=2025.1")
    session.run("sp-repo-review", ".", *session.posargs)


if __name__ == "__main__":
    nox.main()
