"""The examples in the docstrings are what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import sureshot

MODULES = [
    found.name
    for found in pkgutil.walk_packages(sureshot.__path__, "sureshot.")
    if not found.name.endswith(("__main__", "_native"))
]


NEED_SKLEARN = ("sureshot.estimators", "sureshot.solvers.estimator")


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    if name.startswith(NEED_SKLEARN):
        pytest.importorskip("sklearn", reason="this module needs the extra [sklearn]")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_public_functions_have_examples() -> None:
    finder = doctest.DocTestFinder()
    for function in (sureshot.top_k, sureshot.best_arms, sureshot.scan):
        assert any(found.examples for found in finder.find(function))
