"""The examples in the docstrings of the measurements are what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import measurements

MODULES = [found.name for found in pkgutil.walk_packages(measurements.__path__, "measurements.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
