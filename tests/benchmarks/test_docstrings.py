"""The examples in the docstrings of the benchmarks are what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import benchmarks

MODULES = [found.name for found in pkgutil.iter_modules(benchmarks.__path__, "benchmarks.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
